package mutations

var security = []row{
	{
		"The hook runs a command only if a person trusted its exact text, on this machine, for this folder.",
		hook("repo-notify-ignored"),
		"internal/loop/checks.go",
		`	case c.Untrusted:
		return nil, errNotRun(noTrust + r.Loop.Call("trust"))
	case ctx.Err() != nil:`,
		"	case ctx.Err() != nil:",
	},
	{
		"No text from the project becomes part of a command line.",
		unit("config", "^TestCheckID$"),
		"internal/config/source.go",
		`!first && strings.ContainsRune("._:-/", r)`,
		`strings.ContainsRune("._:-/ ;$()", r)`,
	},
	{
		"In the list, it changes only claims that a check disproves.",
		unit("features", "^TestReopenQuirks$"),
		"internal/features/write.go",
		"	return edited.Bytes()",
		"	return bytes.TrimSpace(edited.Bytes())",
	},
	{
		"In hook mode it exits with 0",
		hook("hook-bad-input"),
		"cmd/ralph-stop-hook/hook.go",
		`		h.print(client.Answer{Message: say.Trouble(err)})
		return 0`,
		`		h.print(client.Answer{Message: say.Trouble(err)})
		return 1`,
	},
	{
		"prints nothing or one JSON object",
		hook("stdout-clean"),
		"internal/proc/proc.go",
		"cmd.Stdout, cmd.Stderr = kept, kept",
		"cmd.Stdout, cmd.Stderr = os.Stdout, kept",
	},
	{
		"A bug ends the loop.",
		hook("panic-exit"),
		"cmd/ralph-stop-hook/hook.go",
		`h.print(client.Answer{Message: say.Trouble(fmt.Errorf("internal error: %v", p))})`,
		`h.print(client.Answer{Prompt: "go on"})`,
	},
	{
		"Every loop has a limit; if `init` or `trust` set it, no file in the project can raise it.",
		hook("state-tamper"),
		"internal/decide/decide.go",
		" && asked < d.Next.Limit(s.Limits) {\n		d.Next.MaxIterations = asked",
		" {\n		d.Next.MaxIterations = asked",
	},
	{
		"Logs and notices do not contain conversations, prompts or the environment",
		hook("log-rotate"),
		"internal/loop/commit.go",
		"l.Store.Log(line, iterationOf(s.ev, d))",
		"l.Store.Log(line+s.ev.Message, iterationOf(s.ev, d))",
	},
	{
		"is limited in length, and contains no terminal escapes, invisible or bidirectional characters.",
		unit("plain", "^TestLine$"),
		"internal/plain/plain.go",
		"unicode.Is(unicode.Co, r), invisible(r):",
		"unicode.Is(unicode.Co, r):",
	},
	{
		"only agents it starts are `claude`, and programs that you, your configuration or a trusted `ralph.json` name.",
		runner("agents-trusted"),
		"internal/roster/roster.go",
		`		if err := a.checkTrust(c); err != nil {
			return agent.Row{}, err
		}
`,
		"",
	},
	{
		"It also writes to `.agent-state`, which git ignores",
		runner("commit"),
		"internal/record/files.go",
		`f.Text(".gitignore", "*\n")`,
		`f.Text(".gitignore", "\n")`,
	},
	{
		"An agent's output is limited, cleaned, and never run. It can only stop the loop or make a claim.",
		runner("hostile-words"),
		"internal/plain/plain.go",
		"		return strings.Map(safe, s)",
		"		return s",
	},

	// The threats to the hook.
	{
		"Links that lead out of the loop's folder, state folder or project | refuses them",
		hook("symlink-out"),
		"internal/loopdir/file.go",
		`	data, _, err := readInfo(root, name, limit)
	return data, err
`,
		`	if root == nil {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(filepath.Join(root.Name(), name))
`,
	},
	{
		"Links within a folder | refuses them, except `current`",
		hook("symlink-in"),
		"internal/loopdir/file.go",
		`	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {`,
		`	info, err := root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {`,
	},
	{
		"Pipes or devices in place of files | reads without waiting, up to a limit",
		hook("fifo-state"),
		"internal/loopdir/file.go",
		`	f, info, err := openFile(root, name, os.O_RDONLY)
`,
		`	f, info, err := openFile(root, name, os.O_RDONLY)
	if errors.Is(err, ErrNotRegular) {
` +
			`		err = fs.ErrNotExist
	}
`,
	},
	{
		"Hard links in place of records or logs | refuses them",
		hook("hardlink-state"),
		"internal/loopdir/os_unix.go",
		"if !oneName(info) || owner(info) != uint32(os.Geteuid()) {",
		"if owner(info) != uint32(os.Geteuid()) {",
	},
	{
		"Files that change between check and use | takes a lock and reads them again",
		unit("loopdir", "^TestReopen$"),
		"internal/loopdir/file.go",
		"	if err := rename(root, name, data, perm, confirm); err != nil {",
		"	if err := rename(root, name, data, perm, nil); err != nil {",
	},
	{
		"Paths that lead elsewhere: `list`, `current`, ids | refuses them",
		hook("loopdir-traversal"),
		"internal/loopdir/find.go",
		`	case name == "" || name == "." || name == "..":`,
		`	case name == "":`,
	},
	{
		"A loop folder that belongs to another user, or is writable by everybody | refuses it (unless " +
			"that user owns the whole project)",
		hook("owner-mode"),
		"internal/loopdir/os_unix.go",
		"	if info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {",
		"	if info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky != 0 {",
	},
	{
		"A record's folder, or one above it, that is writable by everybody | does not trust it, prints the fix, runs",
		hook("record-open"),
		"internal/loopdir/loop.go",
		"	for _, above := range []string{RecordsFolder(stateDir), SessionsFolder(stateDir), stateDir} {",
		"	for _, above := range []string{} {",
	},
	{
		"State and logs that others can read | uses mode 0600 whatever the umask",
		hook("mode-0666"),
		"internal/loopdir/record.go",
		`	delete(s.cache, name)
	return replace(s.state, name, data, 0o600, true, nil)`,
		`	delete(s.cache, name)
	return replace(s.state, name, data, 0o644, true, nil)`,
	},
	{
		"A repository's own `ralph.json`, trust, or commands | does not run them until a person runs `trust` here",
		hook("repo-notify-ignored"),
		"internal/config/trust.go",
		`	in.Notifiers = nil
`,
		"",
	},
	{
		"A planted repository whose configuration names programs | makes git ignore that configuration",
		hook("repo-git-config"),
		"internal/proc/git.go",
		`"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "core.sshCommand=false",
		"-c", "protocol.allow=never", "-c", "safe.bareRepository=explicit",`,
		`"git",`,
	},
	{
		"Shell injection through names, ids, messages or paths | passes them as JSON; commands get only plain ids",
		hook("notify-argv"),
		"internal/loop/trust.go",
		"if err := config.CheckID(item.ID); err != nil && check.IsFor(item.ID) {",
		"if err := config.CheckID(item.ID); err != nil && !check.IsFor(item.ID) {",
	},
	{
		"Secrets in the environment | gives notifiers a short list of variables, and checks the environment from `trust`",
		hook("notify-env"),
		"internal/loop/env.go",
		"return !slices.Contains(p.Config.Env, name) && p.Loop.Env.IsSecret != nil && p.Loop.Env.IsSecret(name)",
		"return false",
	},
	{
		"A notifier that hangs, floods or becomes a daemon | answers first; kills its process group at the timeout",
		hook("notify-hang"),
		"internal/proc/proc_unix.go",
		"return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)",
		"return syscall.Kill(cmd.Process.Pid, syscall.SIGKILL)",
	},
	{
		"Terminal escapes, invisible or bidirectional characters | cleans all untrusted text",
		hook("status-escapes"),
		"internal/plain/plain.go",
		"		case r == utf8.RuneError, unicode.IsControl(r), ",
		"		case r == utf8.RuneError, ",
	},
	{
		"Instructions in features or output of checks | limits their length, and fences them as data",
		hook("reason-injection"),
		"internal/say/prompt.go",
		"tail := strings.ReplaceAll(f.Tail, \"```\", \"` ` `\")",
		"tail := f.Tail",
	},
	{
		"Ambiguous JSON | refuses duplicate keys and ids; edits by position",
		hook("dup-keys"),
		"internal/features/parse.go",
		"	if f.marks[m] {",
		"	if f.marks[m] && m == noMark {",
	},
	{
		"Deep nesting, huge files | limits bytes, depth, items and ids",
		hook("deep-json"),
		"internal/features/features.go",
		"	maxItems = 250_000",
		"	maxItems = 250_000_000",
	},
	{
		"An endless loop | limits every loop",
		unit("decide", "^TestProperties$"),
		"internal/decide/stop.go",
		"	over := st.next.Iteration >= st.d.Limit",
		"	over := st.next.Iteration > st.d.Limit",
	},
	{
		"Planted, edited or hidden files that make a check pass | runs checks in a [clean copy](docs/assurance/PROOF.md)",
		hook("copy-attacks"),
		"internal/loop/copy.go",
		`			case len(c.Work) > 0 && (strings.HasPrefix(name, "../") || !c.IsWork(name)):
				return proof.IsNotWork
`,
		"",
	},
	{
		"A git folder that leads elsewhere, or a link in it | does not commit or create lanes",
		runner("commit-refused"),
		"internal/worktree/repo.go",
		"d.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0:",
		"d.Type()&fs.ModeIrregular != 0:",
	},
	{
		"Files planted before a person adds a check | bases its suggestions on the trusted files",
		hook("check-added"),
		"internal/newloop/config.go",
		"m.suggestFor(cmp.Or(m.trustedFiles, m.top()), ",
		"m.suggestFor(m.top(), ",
	},
	{
		"A check's script that a session may have written | keeps it out of the contract until `trust`",
		hook("check-script"),
		"internal/newloop/add.go",
		"isThere && p.IsUntouched(context.Background(), scripts):",
		"isThere:",
	},
	{
		"The agent's code in a check, outside its sandbox | restores the record; `\"confine\"` limits writes",
		hook("confine"),
		"internal/loop/checks.go",
		"	if r.Config.Confine {",
		`	if r.Config.Confine && r.touched != "" {`,
	},
	{
		"Edits to the loop's files to get more iterations | keeps the record outside the project",
		hook("state-tamper"),
		"internal/loopdir/loop.go",
		"	return filepath.Join(RecordsFolder(l.stateDir), l.key)",
		`	return filepath.Join(l.Dir, ".state")`,
	},
	{
		"An agent that runs commands reserved for people | refuses them",
		hook("agent-other-session"),
		"cmd/ralph-stop-hook/use.go",
		"		case session != own, owner.PID > 0",
		"		case owner.PID > 0",
	},
	{
		"An agent that gives a loop away with `use --session` | binds only the caller's session, if `CLAUDE_PID` is set",
		hook("use-caller"),
		"cmd/ralph-stop-hook/use.go",
		`			session, who = decide.ClientSession(owner.PID), "this session"`,
		`			who = "this session"`,
	},
	{
		"A loop in a clone, archive or dependency | [waits for a person]",
		hook("begin-by-person"),
		"internal/loop/find.go",
		"	return l.tracked()",
		`	return ""`,
	},
	{
		"Another user's link, folder or `current` above the project | ignores loops there",
		hook("links-foreign"),
		"internal/loopdir/find.go",
		"return err == nil && foreign(info, w.project())",
		"return err == nil && info == nil",
	},
	{
		"A link or `.git` file that leads to another loop | refuses it, unless the main tree names the worktree",
		hook("links-elsewhere"),
		"internal/loopdir/repo.go",
		`	if err != nil || !SameFile(filepath.FromSlash(back), filepath.Join(dir, ".git")) {`,
		"	if err != nil {",
	},
	{
		"Exit status 2 from a bug, signal, typo or Go variable | exits with 0; only the plugin's hook unsets Go's variables",
		hook("panic-exit"),
		"cmd/ralph-stop-hook/hook.go",
		"		if p := recover(); p != nil {",
		"		if p := any(nil); p != nil {",
	},
	{
		"Other text on standard output | prints only one object",
		hook("stdout-clean"),
		"cmd/ralph-stop-hook/hook.go",
		"		_, _ = os.Stdout.Write(text)",
		`		_, _ = os.Stdout.WriteString("ralph: " + string(text))`,
	},
	{
		"Logs that grow, or contain secrets | keeps 1 MB and one rotated file; logs ids and reasons",
		hook("log-rotate"),
		"internal/loopdir/log.go",
		"info.Size()+int64(len(line)) > maxLog {",
		"info.Size()+int64(len(line)) > 100*maxLog {",
	},
	{
		"Settings that `init` cannot read | refuses them; otherwise keeps every other byte",
		hook("init-garbage"),
		"internal/client/settings.go",
		"	if _, err := jsontext.Check(text); err != nil {",
		"	if _, err := jsontext.Check(text); err != nil && len(text) == 0 {",
	},
	{
		"A project's entry that silences the plugin's, or `disableAllHooks` | cannot prevent it; the loop makes no progress",
		hook("entry-planted"),
		"cmd/ralph-stop-hook/hook.go",
		"	case h.env.Get(client.PluginRoot) != \"\" && h.install().InSettings(h.event.Name):",
		"	case h.env.Get(client.PluginRoot) == \"\" && h.install().InSettings(h.event.Name):",
	},

	// The threats to the runner.
	{
		"Endless output, or 100 MB in one line | reads up to a limit",
		runner("hostile-output"),
		"internal/agent/agent.go",
		"const MaxLine = 8 << 20",
		"const MaxLine = 8 << 30",
	},
	{
		"Output that moves the terminal, quotes signals, or lies | cleans it; accepts only unquoted lines of the final",
		runner("hostile-words"),
		"internal/decide/promise.go",
		"	if inFenceOrQuote(before) || ",
		"	if inFenceOrQuote(nil) || ",
	},
	{
		"A limit, error or cost that the agent's commands print | believes it only if the client then exits that way",
		runner("results"),
		"internal/agent/session.go",
		"		e.Usage.TokensKnown, e.Usage.CostKnown = false, false",
		"		e.Usage.TokensKnown = false",
	},
	{
		"Processes left behind, also by a killed run | kills them",
		runner("hostile-processes"),
		"internal/proc/proc_linux.go",
		"unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)",
		"unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)",
	},
	{
		"Links, pipes or folders in place of a run's files; a deleted loop | does not write to them; continues, or ends",
		runner("hostile-files"),
		"internal/record/files.go",
		`	if f.Trouble == nil {
		f.root, f.Trouble = loopdir.OpenFolder(top, Folder)
	}
`,
		`	f.root, f.Trouble = os.OpenRoot(filepath.Join(project, Folder))
	if f.Trouble != nil {
		f.root, f.Trouble = loopdir.OpenFolder(top, Folder)
	}
`,
	},
	{
		"An agent that stops or continues loops, trusts, or starts runs | notifies you, and exits with 3",
		runner("agent-stops"),
		"internal/decide/state.go",
		"return notify || s.ExitReason == ByAgent || s.ExitReason == ByHeader",
		"return notify || s.ExitReason == ByHeader",
	},
	{
		"Forged events of the run | ignores them",
		runner("event-forged"),
		"cmd/ralph-stop-hook/hook.go",
		"	if decide.IsRun(ev.Session) {",
		`	if decide.IsRun("") {`,
	},
	{
		"Text that one agent of a chain hands to the next | cleans it, and marks it as written by an agent",
		runner("handoff"),
		"internal/run/chain.go",
		"strings.TrimSpace(plain.End(message, maxHandoff))",
		"strings.TrimSpace(message[max(0, len(message)-maxHandoff):])",
	},
	{
		"Programs in a project's `ralph.json` as agents | starts only what a person trusted",
		runner("agents-trusted"),
		"internal/config/trust.go",
		"		in.Agents[i].Untrusted = true",
		"		in.Agents[i].Untrusted = false",
	},
	{
		"Agents, prices or limits in a project's files | reads them only from your own folder",
		runner("own-config"),
		"internal/roster/roster.go",
		"loopdir.UserFile(env.ConfigDir, loopdir.UserConfigFile, config.MaxBytes)",
		`loopdir.UserFile(filepath.Join(project, ".config"), loopdir.UserConfigFile, config.MaxBytes)`,
	},
	{
		"Prices that would defeat a budget | refuses them",
		runner("prices"),
		"cmd/ralph-runner/prepare.go",
		`	case !known:
`,
		`	case !known && model == "":
`,
	},
	{
		"A file for `--resume` written by an agent | reads only its id",
		runner("resume-file"),
		"internal/loopdir/record.go",
		"return s.private(runFile, maxRun) }",
		`
	all, _ := filepath.Glob(filepath.Join(s.Loop.Project, RunFolder, "run-*.json"))
	if len(all) > 0 {
		return os.ReadFile(all[0])
	}
	return s.private(runFile, maxRun)
}`,
	},
	{
		"Other web pages, ports or users that call `serve` | requires its token and origin",
		runner("serve-refused"),
		"internal/page/guard.go",
		"		case !s.isOrigin(r):",
		`		case r.Host == "":`,
	},
	{
		"An agent that calls `serve --control` | prints the token only in the terminal",
		runner("serve-control"),
		"cmd/ralph-runner/serve.go",
		"	if s.control {\n		return rand.Text(), nil",
		"	if s.control && s.newToken {\n		return rand.Text(), nil",
	},
	{
		"An agent that asks the MCP server for too much | does not run commands or raise limits",
		runner("mcp-refused"),
		"internal/mcp/server.go",
		"	if err := schema.Validate(value); err != nil {",
		"	if err := schema.Validate(value); err != nil && value == nil {",
	},
	{
		"A worker that lies | runs the checks itself; rejects invalid answers",
		unit("fleet", "^TestLies$"),
		"internal/fleet/order.go",
		`	case min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0,
`,
		`	case
`,
	},
	{
		"A worker without results | makes it wait, longer each time",
		unit("jobs", "^TestRests$"),
		"internal/jobs/hub.go",
		"if a.worker.rests() || h",
		"if h",
	},
	{
		"A run that writes into git's folder on a worker | refuses such paths",
		unit("fleet", "^TestReadOrder$"),
		"internal/fleet/order.go",
		" && !worktree.InGit(path)",
		" && (true || worktree.InGit(path))",
	},
	{
		"A worker that floods the run | queues little, ignores it for a while, and answers others",
		unit("jobs", "^TestFlood$"),
		"internal/jobs/answer.go",
		"	if w.open >= maxOpen {",
		"	if w.open < 0 {",
	},
	{
		"A worker that floods the run | queues little, ignores it for a while, and answers others",
		unit("jobs", "^TestFlood$"),
		"internal/jobs/rest.go",
		"		if w.sub != sub || sub == nil {",
		"		if sub != nil {",
	},
	{
		"A run that names a program of the worker's machine | runs only built-in agents, and the worker's own",
		runner("workers-refused"),
		"cmd/ralph-runner/worker.go",
		`			if k.agent == "" && !slices.Contains(agents.Names(), name) {`,
		`			if name == "" && !slices.Contains(agents.Names(), name) {`,
	},
	{
		"A worker that impersonates another or the run | limits each key to its own requests",
		unit("jobs", "^TestRights$"),
		"internal/jobs/keys.go",
		`w.Key, subject(a.Name, w.Name, "*"), inbox`,
		`w.Key, subject(a.Name, "*", "*"), inbox`,
	},
	{
		"A worker that reports on another's claim | accepts reports only from the worker that has it",
		unit("jobs", "^TestForeign$"),
		"internal/jobs/answer.go",
		"		if err != nil || name != w.Name || !validName(own) {",
		"		if err != nil || name == \"\" || !validName(own) {",
	},
	{
		"A worker that redirects answers to others | answers each worker only in its own inbox",
		unit("jobs", "^TestMisdirected$"),
		"internal/jobs/answer.go",
		`		if !strings.HasPrefix(m.Reply, inbox(h.opts.Loop, w.Name)+".") {`,
		`		if !strings.HasPrefix(m.Reply, inbox(h.opts.Loop, "")) {`,
	},
	{
		"Unknown callers, leaked keys | requires a key, and pinned TLS beyond this machine; revokes keys at once",
		unit("jobs", "^TestCredentials$"),
		"internal/jobs/pin.go",
		"if len(s.PeerCertificates) == 0 || pinOf(s.PeerCertificates[0].Raw) != want {",
		"if len(s.PeerCertificates) == 0 {",
	},
	{
		"Bundles with hooks, links that lead out, or a decompression bomb | checks everything before it accepts anything",
		unit("worktree", "^TestHostileBundles$"),
		"internal/worktree/bundle.go",
		"		if !leadsInside(links[i].name, target) {",
		`		if !leadsInside(links[i].name, "a") {`,
	},
	{
		"Planted hooks, filters, drivers or configuration of git, in the project or a lane | ignores them",
		unit("worktree", "^TestHostileRepository$"),
		"internal/worktree/git.go",
		`"-c", "core.hooksPath=" + os.DevNull, `,
		"",
	},
	{
		"A full disk on the run's machine | hands out only features that it has saved",
		unit("jobs", "^TestNotSaved$"),
		"internal/jobs/hub.go",
		"	err := save(&is)",
		"	err := save(&is)\n	err = nil",
	},
}
