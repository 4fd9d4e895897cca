package mutations

var proof = []row{
	{
		"**COMPLETE is earned**: every trusted feature is claimed",
		hook("hook-complete"),
		"internal/decide/stop.go",
		"	st.open = st.List.Passed() < len(st.List.Items) ||",
		"	st.open = st.List.Passed() < len(st.List.Items)-1 ||",
	},
	{
		"its checks have passed on the current files",
		unit("decide", "^TestEvaluate$"),
		"internal/decide/stop.go",
		`isOld := r.Tree == "" || r.Tree != st.Contents`,
		`isOld := r.Tree == ""`,
	},
	{
		"the final checks passed at that stop",
		hook("check-complete"),
		"internal/decide/stop.go",
		"runs = append(st.due(st.evidence, WhenClaim, st.stale), st.due(st.evidence, WhenEnd, notNow)...)",
		"runs = st.due(st.evidence, WhenClaim, st.stale)",
	},
	{
		"if a change did not count, the checks have also passed once in the project itself",
		hook("final-run"),
		"internal/decide/stop.go",
		"	case len(st.NotCounted) == 0:",
		"	case true:",
	},
	{
		"If they fail there twice, the loop ends BLOCKED and names the changes.",
		hook("final-run"),
		"internal/decide/stop.go",
		"return s.ProjectFailures > 1",
		"return s.ProjectFailures > 9",
	},
	{
		"**Only trusted commands run**",
		hook("repo-notify-ignored"),
		"internal/config/trust.go",
		`		in.distrust(&in.Checks[i].Command)
`,
		`		_ = i
`,
	},
	{
		"with the environment from `trust`",
		hook("trust-env"),
		"internal/loop/env.go",
		"	env, dropped = kept.Same(p.Loop.Env.Vars, named)",
		`	_, dropped = kept.Same(p.Loop.Env.Vars, named)
	env = p.Loop.Env.Vars`,
	},
	{
		"a PATH without folders of the project",
		hook("repo-git-path"),
		"internal/proc/outside.go",
		"		if !filepath.IsAbs(folder) || err == nil && filepath.IsLocal(rel) {",
		"		if !filepath.IsAbs(folder) && err == nil && filepath.IsLocal(rel) {",
	},
	{
		"the version that you trusted runs",
		hook("notify-trusted"),
		"internal/loop/notice.go",
		"		runs, note, err = p.trustedProgram(ctx, c)",
		`		runs, note, err = c, "", nil`,
	},
	{
		"a feature that an agent drops, rewords or weakens stays as you trusted it",
		hook("list-contract"),
		"internal/loop/read.go",
		"	return decide.List{List: contract.TakeFlags(list.List), Missing: list.Missing}",
		"	return decide.List{List: list.TakeFlags(contract), Missing: list.Missing}",
	},
	{
		"**No loop stops silently**",
		hook("agent-hidden"),
		"internal/decide/state.go",
		"	return notify || s.ExitReason == ByAgent || s.ExitReason == ByHeader",
		"	return notify || s.ExitReason == ByHeader",
	},
	{
		"**No loop stops silently**",
		hook("hook-header"),
		"internal/decide/state.go",
		"	return notify || s.ExitReason == ByAgent || s.ExitReason == ByHeader",
		"	return notify || s.ExitReason == ByAgent",
	},
	{
		"and limits hold",
		hook("limit-ceiling"),
		"internal/decide/limits.go",
		"	return least(limit, l.CeilingIterations)",
		"	return limit",
	},
	{
		"All processes that a check starts end with it",
		unit("proc", "^TestGuard$"),
		"internal/proc/guard.go",
		`	err = cmd.Run()
	if over.Load() {
		killAdopted()
	}
`,
		`	err = cmd.Run()
`,
	},

	// The copy.
	{
		"except to files that `\"protect\"` names",
		hook("protect"),
		"internal/loop/copy.go",
		"			case c.Protects(name, added):",
		"			case c.Protects(name, added) && added:",
	},
	{
		"If you set `\"work\"`, only changes to files that it names count.",
		hook("copy"),
		"internal/loop/copy.go",
		"			case len(c.Work) > 0 && (",
		"			case len(c.Work) > 1000 && (",
	},
	{
		"Files that git ignores are links to your project",
		unit("proof", "^TestIgnored$"),
		"internal/proof/fill.go",
		"	links := f.links()",
		"	links := f.links()[:0]",
	},
	{
		"A change that does not count does not stop the loop: the next prompt and `status` name it.",
		hook("copy"),
		"internal/say/copy.go",
		"	names := FilesNotCounted(p)",
		"	names := FilesNotCounted(p)[:0]",
	},
	{
		"`init` writes its suggestions for `\"protect\"`",
		hook("final-run"),
		"internal/newloop/config.go",
		"slices.Concat(s.Tests, s.Protect), s.Outputs,",
		"s.Tests, s.Outputs,",
	},
	{
		"with a leading `+`, it also keeps new files out",
		hook("protect"),
		"internal/config/protect.go",
		"(p.KeepsOut || !added)",
		"!added",
	},
	{
		"`package.json#scripts` protects only that key",
		unit("proof", "^TestKeys$"),
		"internal/proof/look.go",
		"sameJSON(is.Raw, before.Raw)",
		"sameJSON(is.Raw, is.Raw)",
	},
	{
		"or belong to the copy (caches, `\"outputs\"`)",
		hook("copy-lacks"),
		"internal/config/copy.go",
		"	return takes(c.Outputs, name) || c.OnlyPrepared(name)",
		"	return c.OnlyPrepared(name)",
	},
	{
		"changed files over 256 MB",
		hook("copy-not-there"),
		"internal/proof/look.go",
		"	case e.Mode.IsRegular() && e.Size > maxFile:",
		"	case e.Mode.IsRegular() && e.Size > 2*maxFile:",
	},
	{
		"and the loop's own files except the list and ralph.json",
		hook("copy-beside"),
		"internal/loop/copy.go",
		"		files[name] = []byte(p.Config.Text)",
		"		files[name], _ = p.Loop.Store.Config()",
	},
	{
		"new names that a shell could misread",
		unit("proof", "^TestMisread$"),
		"internal/proof/look.go",
		`	if why == "" && isMisread(name) {`,
		`	if why != "" && isMisread(name) {`,
	},
	{
		"new links that lead out of the project",
		unit("proof", "^TestLinks$"),
		"internal/proof/look.go",
		"	case !inside:",
		"	case !inside && hidden[end]:",
	},
	{
		"If a file that only you may change changes while a check runs, the check does not pass.",
		hook("copy-times"),
		"internal/loop/copy.go",
		`	if changed == "" {
		return nil
	}
	changed = plain`,
		`	if changed == "" || r != nil {
		return nil
	}
	changed = plain`,
	},
	{
		"the check and all checks that ran with it fail.",
		hook("record-undone"),
		"internal/loop/backup.go",
		"		r.Passed = false\n",
		"		r.Passed = !r.NotRun\n",
	},
	{
		"If it writes into the indexes of the copy, the hook reads all files again",
		unit("proof", "^TestWatch$"),
		"internal/proof/watch.go",
		"	stamp := tree.StampOf(info)\n",
		"	stamp := tree.StampOf(info)[:0]\n",
	},
	{
		"Files that a check leaves in the copy are removed before the next one",
		unit("proof", "^TestRepairs$"),
		"internal/proof/fill.go",
		"	files, there, err := tree.Sweep(ctx, f.Copy, keep, stays)",
		"	files, there, err := tree.Sweep(ctx, f.Copy, keep, func(string) bool { return true })",
	},
	{
		"Files keep their times from `trust`, and the agent's files are newer",
		unit("proof", "^TestTimes$"),
		"internal/proof/fill.go",
		"	if err == nil && !want.Agents {",
		"	if err == nil && want.Agents {",
	},

	// The list.
	{
		"ids, wording, order, dependencies and checks of the features come from the list as you trusted",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"		item, entry := l.all[n], &Item{}",
		"		item, entry := l.all[len(l.all)-1-n], &Item{}",
	},
	{
		"the file still says whether it is done",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"	i.Passes = entry.Passes && !entry.dropped",
		"	i.Passes = entry.Passes && !entry.dropped && i.raw == entry.raw",
	},
	{
		"A deleted or cancelled feature is open.",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"	i.Passes = entry.Passes && !entry.dropped",
		`	i.Passes = i.Passes && entry.ID == "" || entry.Passes && !entry.dropped`,
	},
	{
		"An added feature comes after the others, does not replace any of them",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"	i.Priority = math.Inf(1)",
		"	i.Priority = math.Inf(-1)",
	},
	{
		"or else by its wording, its title, or its place between its neighbours",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"	m.matchNeighbours()",
		"	_ = file",
	},
	{
		"The agent may change notes, counters, states of steps and the order in the file.",
		unit("features", "^TestBookkeeping$"),
		"internal/features/contract.go",
		"	case !slices.Equal(was, now):",
		"	case i.raw != entry.raw:",
	},
	{
		"The hook treats a tracker's list in the same way.",
		hook("source"),
		"internal/loop/read.go",
		"	if p.Config.ListSHA256 == \"\" ||",
		"	if p.Config.ListSHA256 == \"\" || p.Config.Source.IsSet() ||",
	},
}
