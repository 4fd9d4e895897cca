package mutations

var reliability = []row{
	// The hook.
	{
		"The hook never continues a loop by mistake.",
		hook("hook-state-folder"),
		"cmd/ralph-stop-hook/hook.go",
		`	h.print(client.Answer{Message: say.Trouble(err)})
	if notify != nil {`,
		`	h.print(client.Answer{Prompt: say.Trouble(err)})
	if notify != nil {`,
	},
	{
		"It exits with 0 unless it is killed",
		hook("hook-bad-input"),
		"internal/client/call.go",
		`	f := flag.NewFlagSet("hook", flag.ContinueOnError)`,
		`	f := flag.NewFlagSet("hook", flag.ExitOnError)`,
	},
	{
		"records a block before it prints it",
		hook("hook-kill"),
		"internal/loop/step.go",
		"	if err == nil && s.decision.Commits() {",
		"	if err == nil && s.decision.Commits() && s.decision.Verdict != decide.Continue {",
	},
	{
		"No iteration counts twice or exceeds the limit, however many hooks run at once.",
		hook("hook-storm"),
		"internal/loopdir/lock_linux.go",
		`errors.Is(err, unix.EACCES):
			return false, nil`,
		`errors.Is(err, unix.EACCES):
			return true, nil`,
	},
	{
		"Every printed ending is recorded",
		hook("hook-limit"),
		"internal/loop/step.go",
		"	if err == nil && s.decision.Commits() {",
		"	if err == nil && s.decision.Commits() && s.decision.Verdict != decide.End {",
	},
	{
		"notifiers get it once",
		hook("hook-limit"),
		"internal/loop/send.go",
		"		state.Notices[i].SentAt = time.Now().UTC().Truncate(time.Second)\n",
		"",
	},
	{
		"They get it again, with the same `deliveryId`, only if the hook was killed while notifying them",
		hook("notify-killed"),
		"internal/loop/send.go",
		"	if slices.ContainsFunc(l.seen.State.Notices, Unsent) && l.Untold() > 0 {",
		"	if slices.ContainsFunc(l.seen.State.Notices, Unsent) && l.Untold() < 0 {",
	},
	{
		"The record, the list, the settings and `current` are old or new, never broken.",
		hook("hardlink-state"),
		"internal/loopdir/file.go",
		"	if err := rename(root, name, data, perm, confirm); err != nil {",
		"	if err := root.WriteFile(name, data, perm); err != nil {",
	},
	{
		"Notes in `progress.txt` are kept.",
		hook("hook-complete"),
		"internal/loopdir/record.go",
		"	edited := progress.Edit(text, next.Header)",
		"	edited := progress.Edit(nil, next.Header)",
	},
	{
		"The next event, or `resume`, continues the loop.",
		hook("hook-kill"),
		"internal/decide/stop.go",
		"const maxKilled = 3",
		"const maxKilled = 1",
	},
	{
		"Checks do not leave processes behind",
		unit("proc", "^TestGuard$"),
		"internal/proc/guard.go",
		"		over.Store(true)\n		killAdopted()",
		"		over.Store(true)",
	},
	{
		"Logs and memory stay within limits.",
		unit("loopdir", "^TestLogs$"),
		"internal/loopdir/log.go",
		`		if err := root.Rename(name, name+".1"); err != nil {`,
		"		if err := root.Rename(name, name); err != nil {",
	},

	// A run.
	{
		"Each session appears once in `iterations.jsonl`",
		test{"./cmd/ralph-runner", "^TestUnsaved$"},
		"internal/record/files.go",
		"	if f.root == nil || c == nil || !c.HasEnded() || c.Number <= f.EarlierSessions && f.has(r.ID, c.Number) {",
		"	if f.root == nil || c == nil || !c.HasEnded() {",
	},
	{
		"each iteration counts once",
		runner("resume-over"),
		"internal/run/run.go",
		`		} else if err := r.countSession(c, nil, state); err != nil {
			return nil, err
		}`,
		`		} else if err := r.countSession(c, nil, state); err != nil {
			return nil, err
		} else {
` +
			`			r.Record.Iterations++
		}`,
	},
	{
		"Only one run works on a loop at a time",
		runner("owned"),
		"internal/loopdir/record.go",
		"	return s.lock(runLock, wait, false)",
		"	return func() {}, nil",
	},
	{
		"Claude Code sessions do not take the loop from it.",
		runner("owned"),
		"internal/decide/events.go",
		"	return s.OwnerAlive && (s.OwnerKnown || s.Now.Sub(s.State.Seen).Abs() < unseen)",
		"	return s.OwnerAlive && !s.OwnerKnown && s.Now.Sub(s.State.Seen).Abs() < unseen",
	},
	{
		"[Event commands](../runner.md#event-commands) run at most once per iteration.",
		runner("hooks"),
		"internal/run/session.go",
		"		r.hooks(s, countedEvents, told)\n",
		`		r.hooks(s, countedEvents, told)
		r.hooks(s, countedEvents, told)
`,
	},
	{
		"If a file for people is incomplete, the run has reported it.",
		runner("hostile-files"),
		"internal/run/run.go",
		"	if err := r.files.Trouble; err != nil {",
		"	if err := r.files.Trouble; err != nil && r.resumes {",
	},
	{
		"No process survives the run, not even a daemon.",
		runner("signals"),
		"internal/proc/proc_linux.go",
		"				_ = syscall.Kill(pid, syscall.SIGKILL)",
		"				_ = syscall.Kill(pid, 0)",
	},

	// Lanes and workers.
	{
		"The run ends COMPLETE by itself, or after `--resume` if it was killed.",
		runner("workers"),
		"internal/fleet/dispatcher.go",
		"		if idle > s.wait {",
		"		if idle >= 0 {",
	},
	{
		"Features are never lost, or merged twice, too early, or with a failing check.",
		runner("lanes-checks"),
		"internal/run/merger.go",
		"	failed := slices.IndexFunc(all, refuses)",
		`	failed := slices.IndexFunc(all, func(r decide.Receipt) bool { return r.Tree == "none" && refuses(r) })`,
	},
	{
		"The run accepts each feature's work only once.",
		unit("jobs", "^TestSilent$"),
		"internal/jobs/hub.go",
		"	delete(h.claims, c.ID)",
		"	delete(h.acceptedIDs, c.ID)",
	},
	{
		"The list, receipts, record and `iterations.jsonl` agree with the branch.",
		runner("lanes"),
		"internal/run/merger.go",
		"	return lp.SetClaims(ctx, ids, true, results)",
		"	return nil",
	},
	{
		"Lane folders, lane branches and git locks are not left behind.",
		runner("lanes"),
		"internal/run/lane.go",
		`	l.stays(l.merger.Dir(), l.merger.Remove(ctx, ""))
`,
		"",
	},
	{
		"This does not end the run, and your work is not touched.",
		unit("worktree", "^TestForwardRefuses$"),
		"internal/worktree/forward.go",
		`		_, err = here.git(ctx, "read-tree", "-m", "-u", "--dry-run", old, new)`,
		"		err = nil",
	},

	// What bad input gets.
	{
		"a tracker's list that fails, hangs, or is not a list | FAILED `unusable`",
		hook("source"),
		"internal/decide/stop.go",
		"err == nil || !st.List.Missing && errors.As(err, new(*jsontext.Error)):",
		"err == nil || !st.List.Missing || errors.As(err, new(*jsontext.Error)):",
	},
	{
		"a list that does not parse, or exceeds 64 MB, 250,000 items or 200 levels; an id over 500 bytes | the " +
			"next prompt asks for a repair, or FAILED",
		hook("hook-list-broken"),
		"internal/say/prompt.go",
		`	if w.d.Problem != nil {
`,
		`	if w.d.Problem != nil && w.reviews {
`,
	},
	{
		"a list that is missing, empty or unreadable | FAILED",
		hook("hook-list-missing"),
		"internal/loopdir/list.go",
		"		return decide.List{Missing: true, Err: missing}",
		`		_ = missing
		return decide.List{}`,
	},
	{
		"nothing or garbage on standard input; a mistyped settings entry | a message to you; no file changes",
		hook("hook-bad-input"),
		"internal/client/event.go",
		`		return Event{}, errors.New("nothing on standard input; the host sends one JSON object")`,
		"		return Event{}, nil",
	},
	{
		"an event on a pipe that stays open; half an event | the answer at once; after 30 s a message to you",
		hook("stdin-open"),
		"internal/client/event.go",
		"	for !end.Found(data) {",
		"	for !end.Found(nil) {",
	},
	{
		"another session, a subagent, plan mode, no session id | nothing printed or written",
		hook("hook-bystander"),
		"internal/client/event.go",
		`	return e.Name == Stop && (e.AgentID != "" || e.PermissionMode == planMode)`,
		`	return e.Name == Stop && e.AgentID != ""`,
	},
	{
		"a link, pipe or hard link; a folder that everybody can write to | a message to you; the hook does not use it",
		hook("owner-mode"),
		"internal/loopdir/loop.go",
		"	return checkOwner(info, path, stateDir)",
		`	_ = info
	return nil`,
	},
	{
		"a record that is truncated, empty or invalid | a message to you, and one notice; the record stays as it is",
		hook("record-half"),
		"internal/loopdir/record.go",
		"	case err == nil && string(told) == id:\n",
		"	case err == nil && id == \"\":\n",
	},
	{
		"a settings file that Claude Code ignores; `.claude` deleted | a message to you, and one notice",
		hook("settings-typo"),
		"internal/loop/send.go",
		"goesOn && !l.At.FirstTime(id)",
		"goesOn && l.At == nil",
	},
	{
		"a loop or state folder that cannot be created or written, a full disk | the turn may end; a message says why",
		hook("hook-state-folder"),
		"internal/loopdir/loop.go",
		`	if l.stateErr != nil {
		return nil, l.stateErr
	}
	s := &Store{Loop: l}
`,
		`	s := &Store{Loop: l}
`,
	},
	{
		"no clean copy for the checks, for example on a full disk | the next prompt says why; a run ends, and " +
			"`--resume` checks the work",
		runner("copy-fails"),
		"internal/loop/step.go",
		"r.noCopy != nil && s.ev.FreshSession",
		"r.noCopy != nil && !s.ev.FreshSession",
	},
}
