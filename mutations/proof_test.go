package mutations

var proof = []row{
	// In the project.
	{
		"**COMPLETE is earned**: every trusted feature is claimed",
		hook("hook-complete"),
		"internal/decide/stop.go",
		"	st.open = st.List.Passed() < len(st.List.Items) ||",
		"	st.open = st.List.Passed() < len(st.List.Items)-1 ||",
	},
	{
		"its checks have passed on the files as they are",
		unit("decide", "^TestEvaluate$"),
		"internal/decide/stop.go",
		`st.Recheck == RecheckStale && (r.Tree == "" || r.Tree != st.Contents)`,
		`st.Recheck == RecheckStale && r.Tree == ""`,
	},
	{
		"those of the end passed at that stop",
		hook("check-complete"),
		"internal/decide/stop.go",
		"runs = append(st.due(st.evidence, WhenClaim, st.stale), st.due(st.evidence, WhenEnd, notNow)...)",
		"runs = st.due(st.evidence, WhenClaim, st.stale)",
	},
	{
		"(without a list: all checks passed",
		hook("no-list"),
		"internal/decide/stop.go",
		"	whole := !st.open ||",
		"	whole := !st.open && !st.NoList ||",
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
		"with the programs and scripts that they name",
		hook("trust-files"),
		"internal/loop/env.go",
		`proc.Outside(p.Config.SearchPath, p.Loop.project())
	return kept`,
		`proc.Outside(p.Loop.Env.Get("PATH"), p.Loop.project())
	return kept`,
	},
	{
		"the variables of `trust`",
		hook("trust-env"),
		"internal/loop/env.go",
		"	return kept.Same(p.Loop.Env.Vars, named)",
		`	_, dropped = kept.Same(p.Loop.Env.Vars, named)
	return p.Loop.Env.Vars, dropped`,
	},
	{
		"a PATH without folders of the project",
		hook("repo-git-path"),
		"internal/proc/outside.go",
		"		if !filepath.IsAbs(folder) || err == nil && filepath.IsLocal(rel) {",
		"		if !filepath.IsAbs(folder) && err == nil && filepath.IsLocal(rel) {",
	},
	{
		"a feature that an agent drops, rewords or weakens stays as you trusted it",
		hook("list-contract"),
		"internal/loop/read.go",
		"	return decide.List{List: contract.TakeFlags(list.List), Missing: list.Missing}",
		"	return decide.List{List: list.TakeFlags(contract), Missing: list.Missing}",
	},
	{
		"you are notified of `pause`, `cancel`",
		hook("agent-hidden"),
		"internal/decide/state.go",
		"	return notify || s.ExitReason == ByAgent || s.ExitReason == ByHeader",
		"	return notify || s.ExitReason == ByHeader",
	},
	{
		"a changed header or loop folder",
		hook("hook-header"),
		"internal/decide/state.go",
		"	return notify || s.ExitReason == ByAgent || s.ExitReason == ByHeader",
		"	return notify || s.ExitReason == ByAgent",
	},
	{
		"**Limits hold.**",
		hook("limit-ceiling"),
		"internal/decide/limits.go",
		"	return least(limit, l.CeilingIterations)",
		"	return limit",
	},
	{
		"All processes that a check started end with it",
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

	// The files that are locked.
	{
		"If one has changed at a stop, no check runs",
		hook("trust-files"),
		"internal/loop/step.go",
		"			s.found.Changed = there.Changed()",
		"			_ = there",
	},
	{
		"the agent is asked once to put it back; else the loop ends BLOCKED",
		hook("trust-files"),
		"internal/decide/stop.go",
		"	if st.next.Warned {",
		"	if false {",
	},
	{
		"conftest.py beside and above locked tests",
		unit("locked", "^TestFind$"),
		"internal/locked/locked.go",
		"			f.lock(path.Join(dir, config.Conftest))",
		"			_ = path.Join(dir, config.Conftest)",
	},
	{
		"(others may be added, but none that runs by itself)",
		unit("locked", "^TestChanged$"),
		"internal/locked/sum.go",
		"		if beside || slices.Contains(installs, name) {",
		"		if beside && slices.Contains(installs, name) {",
	},
	{
		"What of this is missing at `trust` must not appear.",
		unit("locked", "^TestAttacks$"),
		"internal/locked/locked.go",
		`	if loopdir.Absent(err) {
		err = nil
	}
	f.fail(key, err)
	if err == nil {
		f.Sums[key] = sum`,
		`	if loopdir.Absent(err) {
		return
	}
	f.fail(key, err)
	if err == nil {
		f.Sums[key] = sum`,
	},
	{
		"`\"protect\": [\"**/*_test.go\"]` locks each match, and a link's target.",
		hook("trust-files"),
		"internal/locked/protect.go",
		`		f.Sums[key] = sum
	}
	return nil
}

// linkMark`,
		`		_ = f.Sums[key]
	}
	return nil
}

// linkMark`,
	},
	{
		"`\"protect_new\": true` forbids new matches.",
		hook("protect"),
		"internal/loop/locked.go",
		"	return append(changed, locked.Added(p.treeToProve(), p.Config.Config, p.Config.Files)...)",
		"	return changed",
	},
	{
		"A change seen during a check, or in a run with lanes, ends the loop BLOCKED.",
		hook("check-touched"),
		"internal/loop/step.go",
		"		s.found.Tampered = r.touched",
		`		s.found.Tampered = ""`,
	},
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
		"One that was deleted or cancelled is open.",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"	i.Passes = entry.Passes && !entry.dropped",
		`	i.Passes = i.Passes && entry.ID == "" || entry.Passes && !entry.dropped`,
	},
	{
		"One that was added is worked on after the others, stands in for none",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"	i.Priority = math.Inf(1)",
		"	i.Priority = math.Inf(-1)",
	},
	{
		"found by its wording, its title, or its place between its neighbours",
		unit("features", "^TestContract$"),
		"internal/features/contract.go",
		"	m.matchNeighbours()",
		"	_ = file",
	},
	{
		"Notes, counters, states of steps and the order in the file are free.",
		unit("features", "^TestBookkeeping$"),
		"internal/features/contract.go",
		"	case !slices.Equal(was, now):",
		"	case i.Identity() != entry.Identity():",
	},
	{
		"A tracker's list is read in the same way.",
		hook("source"),
		"internal/loop/read.go",
		"	if p.Config.ListSHA256 == \"\" ||",
		"	if p.Config.ListSHA256 == \"\" || p.Config.Source.Given() ||",
	},

	{
		"| `make` | GNUmakefile, makefile, Makefile |",
		unit("locked", "^TestFind$"),
		"internal/config/builds.go",
		`Files: []string{"GNUmakefile", "makefile", "Makefile"}`,
		`Files: []string{"Makefile"}`,
	},
	{
		"| `cargo` | .cargo/config, .cargo/config.toml, rust-toolchain, rust-toolchain.toml |",
		unit("locked", "^TestFind$"),
		"internal/config/builds.go",
		`".cargo/config.toml", ".cargo/config", `,
		`".cargo/config.toml", `,
	},
	{
		"what .mvn configures; the wrapper's files",
		unit("locked", "^TestFind$"),
		"internal/config/builds.go",
		`".mvn/jvm.config", `,
		``,
	},
	{
		"| `rake` | Rakefile, rakefile (also with .rb), a new rakelib |",
		unit("locked", "^TestFind$"),
		"internal/config/builds.go",
		`"rakefile.rb", "rakelib"`,
		`"rakefile.rb"`,
	},
	{
		"go.work; the justfile; the Taskfile, also with .dist; tox.ini, tox.toml; .rspec",
		unit("locked", "^TestFind$"),
		"internal/config/builds.go",
		`"tox.ini", "tox.toml"`,
		`"tox.ini"`,
	},

	// In the room.
	{
		"of later changes only those that `\"work\"` allows (by default all) and `\"protect\"` does not forbid",
		hook("room-build-files"),
		"internal/loop/room.go",
		"		case c.Protects(name) && (!e.Added() || c.ProtectNew):",
		"		case c.Protects(name) && c.ProtectNew:",
	},
	{
		"the list as it is; ralph.json as trusted",
		hook("room-beside"),
		"internal/loop/room.go",
		"		files[name] = []byte(p.Config.Text)",
		"		files[name], _ = p.Loop.Store.Config()",
	},
	{
		"counts only if `\"work\"` spells its name",
		hook("room-build-files"),
		"internal/loop/room.go",
		"		case len(c.Work) > 0 && !c.Spells(name):",
		"		case len(c.Work) > 1000 && !c.Spells(name):",
	},
	{
		"a new one only if it spells the whole path",
		test{"./cmd/ralph-stop-hook", "^TestRoomAttacks$/^go.mod_of_a_folder_that_hides_the_tests$"},
		"internal/loop/room.go",
		"		case e.Added() && !c.SpellsAll(name):",
		"		case e.Added() && !c.Spells(name):",
	},
	{
		"The project's git configuration, hooks, filters, attributes and index have no say",
		unit("room", "^TestProjectsGitHasNoSay$"),
		"internal/room/room.go",
		`const attributes = "* -text -eol -crlf -filter -ident -working-tree-encoding\n"`,
		`const attributes = ""`,
	},
	{
		"no link leads out",
		unit("room", "^TestLinks$"),
		"internal/room/prove.go",
		`			if at == "." || within(lent, at) {`,
		`			if at == "" || within(lent, at) {`,
	},
	{
		"A check has not passed if, while it ran, a file changed that is not the agent's work, or a folder",
		hook("room-within"),
		"internal/loop/room.go",
		`	if changed == "" {
		return nil
	}
	changed = plain`,
		`	if changed == "" || len(files) > 0 {
		return nil
	}
	changed = plain`,
	},
	{
		"What a check leaves is gone before the next one",
		hook("room-left"),
		"internal/room/fill.go",
		"		return !within(made, name) && (build || path.Base(name) == attributesFile)",
		"		return !within(made, name) && !build && path.Base(name) == attributesFile",
	},
	{
		"Changes that do not count end nothing: prompts, `status` and `room` list them.",
		hook("room"),
		"internal/room/prove.go",
		"	p.proof.Left = append(p.proof.Left, left...)",
		"	p.proof.Left = append(p.proof.Left, left[:0]...)",
	},
	{
		"only requirements may change, and those that were there at `trust` only in version",
		unit("locked", "^TestOnlyNeeds$"),
		"internal/locked/manifest.go",
		"		isNew := len(words) > 1 && !strings.ContainsAny(words[1], \"\\\"`\\\\\") && " +
			"!strings.Contains(trusted, words[1])",
		"		isNew := len(words) > 1",
	},
	{
		"Files have the times that they had at `trust`, and the agent's files are newer",
		unit("room", "^TestTimes$"),
		"internal/room/fill.go",
		"		at, right := times[name], info.ModTime().Equal(times[name])",
		"		at, right := times[name], true",
	},
	{
		"a link counts only if it leads to a file of the agent's, or if `\"work\"` spells it out",
		test{"./cmd/ralph-stop-hook", "^TestRoomAttacks$/^link_to_what_is_made_of_it$"},
		"internal/room/prove.go",
		"		e.Stray = !files[e.to]",
		"		e.Stray = files[e.Path]",
	},
	{
		"A new file with the name of a makefile's target does not count",
		test{"./cmd/ralph-stop-hook", "^TestRoomAttacks$/^file_in_the_place_of_a_target$"},
		"internal/loop/room.go",
		"		case locked.IsTarget(c.Targets, name):",
		"		case locked.IsTarget(nil, name):",
	},
}
