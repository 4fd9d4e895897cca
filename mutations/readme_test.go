package mutations

var readme = []row{
	{
		"keeps Claude Code working through a feature list",
		hook("hook-complete"),
		"internal/say/answer.go",
		"return Answer{Prompt: Prompt(p, d, false), Message: progress(p, d, at) + notes(p, d)}",
		"return Answer{Message: progress(p, d, at) + notes(p, d)}",
	},
	{
		"until every feature is *proven* by your checks",
		hook("check-complete"),
		"internal/decide/evaluate.go",
		`		if !open && d.Failure == nil {
			d.complete(s, AllFeaturesPass)`,
		`		if !open {
			d.complete(s, AllFeaturesPass)`,
	},
	{
		"then notifies you",
		hook("hook-complete"),
		"internal/loop/send.go",
		"	_ = l.tell(ctx, ev.Deadline(), false) // a later event tries again",
		"",
	},
	{
		"starts a fresh session for each feature",
		runner("run"),
		"internal/run/session.go",
		`	item = s.Decision.Feature
`,
		`	item = s.Picture.Snapshot.List.Items[0]
`,
	},
	{
		"Every loop has a limit",
		hook("hook-limit"),
		"internal/decide/limits.go",
		"over := d.Next.Iteration >= d.Limit && !begun",
		"over := d.Next.Iteration >= 2*d.Limit && !begun",
	},
	{
		"ends with a reason",
		hook("hook-limit"),
		"internal/decide/decide.go",
		`	d.Next.ExitReason = reason
`,
		"",
	},
	{
		"leaves your other sessions alone",
		hook("hook-bystander"),
		"internal/decide/owner.go",
		`owner := s.State.Session != "" && (s.State.Session == s.Session || s.adopts())`,
		`owner := s.State.Session != "" && (s.State.Session != "" || s.adopts())`,
	},
	{
		"it stays where it is and is never reformatted",
		hook("check-feature"),
		"internal/features/write.go",
		"		edited.Write(data[from:at])",
		"		edited.Write(bytes.TrimSpace(data[from:at]))",
	},
	{
		"`start` passes these two flags on to Claude Code",
		hook("start"),
		"cmd/ralph-stop-hook/start.go",
		`argv = append(argv, "--permission-mode", s.mode)`,
		`argv = append(argv, "--permission-mode", "default")`,
	},
	{
		"With a check, a claim counts only if the check passes",
		hook("check-feature"),
		"internal/decide/check.go",
		"func failed(r Receipt) bool { return !r.Passed }",
		"func failed(r Receipt) bool { return false }",
	},
	{
		"If it fails, Claude gets the end of its output and continues.",
		hook("check-flood"),
		"internal/loop/checks.go",
		"	return string(text[max(0, len(text)-checkTail):])",
		"	return string(text[:min(len(text), checkTail)])",
	},
	{
		"the hook reopens a feature that was claimed too early",
		hook("check-feature"),
		"internal/decide/evaluate.go",
		"	if len(reopen) > 0 && !s.ListNotWritten {",
		"	if len(reopen) > 0 && s.ListNotWritten {",
	},
	{
		"Claude cannot pass by editing them",
		hook("trust-files"),
		"internal/locked/protect.go",
		"	return !Same(key, was, Sum(project, key))",
		"	return !Same(was, was)",
	},
	{
		"It waits out rate limits",
		unit("run", "^TestRetry$"),
		"internal/run/session.go",
		`until, why = r.waited.wait(c.Lane, until, r.Record.Options.Wait, e.Problem)
		return until, why, decide.RateLimit`,
		"return time.Time{}, e.Problem, decide.RateLimit",
	},
	{
		"stays within your limit in dollars",
		runner("prices"),
		"internal/run/session.go",
		"(spent.CostUSD+spent.Presumed >= o.MaxCostUSD || ",
		"(",
	},
	{
		"the checks run outside of the project, and of Claude's changes only those that match `--work` count",
		hook("room"),
		"internal/loop/beside.go",
		"	l.work = folder\n",
		"",
	},
	{
		"`ralph-stop-hook status` says why, and its line `next step` says what to type.",
		hook("doomed"),
		"internal/verb/status.go",
		"[]string{plain.Line(v.Then, 500)})",
		`[]string{plain.Line("", 500)})`,
	},
	{
		"if Claude calls `resume`, `extend` or `trust`, they refuse.",
		hook("state-tamper"),
		"internal/verb/verb.go",
		"	if !v.Env.ByAgent {",
		`	if !v.Env.ByAgent || v.Env.Program != "" {`,
	},
	{
		"`uninstall` takes the hook out again, and leaves your settings as they were.",
		hook("uninstall-exact"),
		"internal/client/edit.go",
		"			if lead, is := strings.CutSuffix(lead, jsontext.WasEmpty); is {",
		"			if lead, is := strings.CutSuffix(lead, jsontext.WasEmpty); is && before > 0 {",
	},
}
