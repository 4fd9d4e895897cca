package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/newloop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// prepare finds the loop and the agent, or the run that goes on.
func (k *runner) prepare(words []string) (*run.Run, error) {
	if k.resume {
		r, err := k.resumable(words)
		if !errors.Is(err, run.ErrNoRun) {
			return r, err
		}
	} // else the loop has its first run
	if len(words) == 0 && k.task.Text != "" {
		return k.taskRun()
	}
	at, err := k.find(words)
	if err != nil {
		return nil, err
	}
	stopped, err := k.stoppedChain(at)
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		fmt.Fprintf(k.out, "the chain %s is not over, so it continues%s; to work with one agent instead: "+
			"%s %s --agent NAME\n", plain.Line(stopped.Chain.Definition, 300), permissions(stopped.Options.AgentOptions),
			program, plain.Arg(at.Name))
		return k.continueRun(at)
	}
	k.options.Prompt = k.task.Text
	var steps *record.Chain
	rows, err := k.team(at, func(agents *roster.Agents, p *loop.Picture) (rows run.Rows, err error) {
		if err := k.fromConfig(p); err != nil {
			return nil, err
		}
		hasList := p.Config.List != config.ListNone
		steps, rows, err = k.chainOf(agents, p, hasList)
		if err == nil && !hasList {
			err = needsList(steps)
		}
		if err == nil && k.base != "" {
			err = k.beginReview(steps)
		}
		if err == nil {
			err = k.addChecks(p) // that belong to no step
		}
		if steps != nil {
			all := steps.Limits()
			k.warnOfLimit(p, all, "the steps may have "+plain.Count(all, "iteration")+" together")
			warnOfFixes(steps, len(p.Snapshot.List.Items)-p.Snapshot.List.Passed())
		}
		return rows, err
	})
	if err != nil {
		return nil, err
	}
	return run.New(k.Env, at, rows, k.options, steps), nil
}

// permissions says what a person allowed the agents of a run, in words for a line that goes on.
func permissions(o agent.Options) string {
	var words []string
	if o.Permission != "" {
		words = append(words, "--permission-mode", plain.Arg(o.Permission))
	}
	if o.Allowed != "" {
		words = append(words, "--allowed-tools", plain.Arg(o.Allowed))
	}
	if o.SkipPermissions {
		words = append(words, "--dangerously-skip-permissions")
	}
	if len(words) == 0 {
		return ""
	}
	return " with " + plain.Line(strings.Join(words, " "), 500)
}

// stoppedChain returns the loop's last run, if that has a chain and was stopped before its last step was over: whoever
// types the loop's name again, or none, means all of its agents. It returns nil if the person asks for something else.
func (k *runner) stoppedChain(at *loopdir.Loop) (*record.Run, error) {
	if k.base != "" || slices.ContainsFunc([]string{"agent", "chain", "workers"}, k.cmd.Flags().Changed) {
		return nil, nil
	}
	store, err := at.Open()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	last, err := record.Load(store)
	if err != nil || last == nil || last.Step() == nil {
		return nil, err
	}
	state, err := store.State()
	if err != nil || !state.Status.GoesOn() {
		return nil, err
	}
	return last, nil
}

// addChecks gives a loop the checks that it does not have. A dry run gives it none.
func (k *runner) addChecks(p *loop.Picture) error {
	if k.dryRun || k.hasChecks {
		return nil
	}
	m := newloop.New(k.Verbs, program, k.out)
	m.Checks = k.checks
	return m.AddChecks(p.Loop)
}

// find finds the loop, or makes one for a list. A run that goes on makes none.
func (k *runner) find(words []string) (*loopdir.Loop, error) {
	m := newloop.New(k.Verbs, program, k.out)
	at, err := m.FindOrMake(words, func() error {
		if k.resume {
			return verb.ErrNoLoop
		}
		first := *k // the same once more when the loop is there
		var steps *record.Chain
		agents, err := roster.New(k.Env, k.Env.Cwd, nil)
		if err == nil {
			steps, _, err = first.chainOf(agents, nil, true)
		}
		if err == nil {
			err = first.fromConfig(&loop.Picture{})
		}
		if err == nil && k.base != "" {
			err = first.beginReview(steps)
			m.Name, m.Claimed = loopOf(words[0]), true
		}
		if err != nil { // what is refused makes no loop
			return err
		}
		if k.dryRun {
			fmt.Fprint(k.out, steps.Text())
		}
		if steps != nil {
			m.Limits.MaxIterations = max(m.Limits.MaxIterations, steps.Limits())
		}
		m.Fits = func() error { return first.repoFits(m) }
		m.Checks = first.checks // without those of one step alone
		return k.makeLoop(m)
	})
	switch {
	case err == nil && at == nil:
		k.hasChecks = len(m.Typed) == 0
		return k.Find([]string{m.Name})
	case err == nil, errors.As(err, new(*cli.Exit)):
		return at, err
	case len(words) > 0 && k.nearVerb(words[0]) != "":
		return nil, cli.Usagef("%w; did you mean the command %s?", err, k.nearVerb(words[0]))
	case len(words) > 0:
		return nil, cli.Usagef("%w%s", err, cli.FlagValueHint(k.cmd, words[0]))
	}
	return nil, cli.Usagef("%w", err)
}

// taskRun makes a loop without a list.
func (k *runner) taskRun() (*run.Run, error) {
	if k.options.Workers > 0 {
		return nil, cli.Usagef("--workers needs a feature list, and --prompt alone makes a loop without one; "+
			"name the loop with the list: %s NAME --workers %d --prompt TEXT", program, k.options.Workers)
	}
	if k.options.MaxIterations == 0 && k.chain == "" {
		return nil, cli.Usagef("a run must have a limit; add --max-iterations 10")
	}
	if err := k.unheard(len(k.checks)); err != nil {
		return nil, err
	}
	agents, err := roster.New(k.Env, k.Env.Cwd, nil)
	if err != nil {
		return nil, err
	}
	steps, rows, err := k.chainOf(agents, nil, false)
	if err == nil {
		err = needsList(steps)
	}
	if err != nil {
		return nil, err
	}
	if steps != nil {
		k.options.MaxIterations = steps.Limits()
	}
	if k.dryRun {
		return nil, k.showTask(rows[k.options.Agent], steps)
	}
	at, err := k.makeTask()
	if err != nil {
		return nil, err
	}
	k.options.MaxIterations = 0 // it is the loop's own limit now
	k.options.Prompt = k.task.Text
	return run.New(k.Env, at, rows, k.options, steps), nil
}

// showTask says what would be started, and makes nothing. It ends the call.
func (k *runner) showTask(row agent.Row, steps *record.Chain) error {
	fmt.Print(steps.Text())
	fmt.Printf("agent    %s\nfolder   %s\nlimit    %s\n\n%s\n",
		plain.Line(plain.CommandLine(row.Line(k.options.AgentOptions)), 500), k.Env.Cwd,
		plain.Count(k.options.MaxIterations, "iteration"), plain.Text(k.task.Text, len(k.task.Text)))
	return &cli.Exit{}
}

// team finds the agents for a loop. find gets all agents that there are.
func (k *runner) team(at *loopdir.Loop, find func(*roster.Agents, *loop.Picture) (run.Rows, error)) (run.Rows, error) {
	l, err := loop.Open(k.Env, at)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if !k.dryRun {
		err = k.OfferTrust(k.out, l)
	}
	if err != nil {
		return nil, err
	}
	p, err := l.Look()
	if err != nil {
		return nil, err
	}
	k.checked = append(k.checked, p.Config.ChecksToTry()...)
	agents, err := roster.New(k.Env, at.Project, p)
	if err != nil {
		return nil, err
	}
	if err := p.Snapshot.ConfigErr; err != nil { // the loop would fail after a session that is paid for
		return nil, cli.Usagef("%w", err)
	}
	for _, warning := range say.Warnings(p) {
		fmt.Fprintf(os.Stderr, "%s: warning: %s\n", program, warning)
	}
	return find(agents, p)
}

// fromConfig takes from ralph.json what the command line does not say.
func (k *runner) fromConfig(p *loop.Picture) error {
	if len(k.options.Fallback) == 0 {
		k.options.Fallback = p.Config.Fallback
	}
	for _, model := range p.Config.Escalate {
		if !agent.IsModel(model) {
			return cli.Usagef(`ralph.json: "escalate": %q is no name of a model`, plain.Line(model, 80))
		}
	}
	k.options.Escalate = p.Config.Escalate
	if len(k.options.CompleteOn) > 0 && k.chain == "" && !p.Snapshot.NoList {
		return cli.Usagef("with a list, the list and the checks say when all is done; --complete-on is for a loop " +
			"without one, and for an agent of a chain: --complete-on AGENT:file:PATH")
	}
	if p.Snapshot.NoList {
		if err := k.unheard(len(p.Config.Checks)); err != nil {
			return err
		}
	}
	opensPR := func(c config.Command) bool { return c.Event == config.OpenPR }
	k.options.NoMerge = k.options.NoMerge || slices.ContainsFunc(p.Config.Notifiers, opensPR)
	if k.options.NoMerge && k.options.Workers == 0 {
		return cli.Usagef(`--no-merge and "pr" need --workers: without lanes the agent works on your own branch`)
	}
	return nil
}

// unheard refuses a signal that would never count: without a check only words claim that all is done.
func (k *runner) unheard(checks int) error {
	i := slices.IndexFunc(k.options.CompleteOn, func(name string) bool { return name != record.Marker })
	if i < 0 || checks > 0 || k.chain != "" {
		return nil
	}
	return cli.Usagef("--complete-on %s counts only beside a check, and the loop has none; add --check, such as "+
		"--check 'test -e FILE', or leave it out: then a <promise>COMPLETE</promise> counts",
		plain.Line(k.options.CompleteOn[i], 200))
}

// fits refuses an agent that is not installed, what it cannot do, and limits that could never bind.
func (k *runner) fits(row agent.Row, asked agent.Options) error {
	switch o := k.options; {
	case len(row.Lacks(asked)) > 0:
		return cli.Usagef("the agent %s takes no %s", row.Name, strings.Join(row.Lacks(asked), ", "))
	case o.MaxCostUSD > 0 && priceProblem(row, asked.Model) != "":
		return cli.Usagef("%s", priceProblem(row, asked.Model))
	case o.MaxTokens > 0 && !row.TellsTokens:
		return cli.Usagef("the agent %s does not tell its tokens, so --max-tokens would never end the run; "+
			"use --max-iterations", row.Name)
	}
	if _, err := row.CustomPrompt(); err != nil {
		return cli.Usagef("%w", err)
	}
	if err := record.CheckSignals(row.CompleteOn); err != nil {
		return cli.Usagef(`the agent %s: "complete_on": %w`, row.Name, err)
	}
	if k.dryRun || k.options.Engine != "" { // then it is installed where the workers are
		return nil
	}
	if _, err := row.Find(k.Env.Get("PATH")); err != nil {
		return cli.Usagef("the agent %s cannot start: %w", row.Name, err)
	}
	return nil
}

// priceProblem says why the cost of an agent's sessions cannot be known, or "".
func priceProblem(row agent.Row, model string) string {
	model = cmp.Or(model, row.Model)
	if row.TellsCost {
		return ""
	}
	switch _, known := row.PriceOf(model); {
	case !row.TellsTokens:
		return fmt.Sprintf("the agent %s does not tell what it costs, so --max-cost would never end the run; "+
			"use --max-iterations", row.Name)
	case model == "":
		return fmt.Sprintf("the agent %s tells its tokens and no cost; name a model whose price is known with --model, "+
			"or use --max-tokens", row.Name)
	case !known:
		return fmt.Sprintf("no price of the model %s is known, so --max-cost would never end the run; add it to "+
			`"prices" of your configuration, or use --max-tokens`, plain.Line(model, 80))
	}
	return ""
}

// resumable finds the run that goes on.
func (k *runner) resumable(words []string) (*run.Run, error) {
	at, err := k.findRun(words)
	if err != nil {
		return nil, err
	}
	return k.continueRun(at)
}

// continueRun returns the last run of a loop, which goes on.
func (k *runner) continueRun(at *loopdir.Loop) (*run.Run, error) {
	return run.Resume(k.Env, at, func(r *record.Run) (run.Rows, error) {
		k.giveRun(r)
		if last := r.LastStep(); r.Step() == nil && last != nil { // it may go on with one agent
			r.Options.Agent = cmp.Or(last.Runs, last.Agent)
		}
		if k.override(&r.Options); checkPermissions(&r.Options) != nil {
			return nil, checkPermissions(&r.Options)
		}
		names, runs := []string{r.Options.Agent}, map[string]string{}
		if err := k.checkChain(at, r); err != nil {
			return nil, err
		}
		if step := r.Step(); step != nil {
			k.overrideStep(r, step)
			names, runs = r.Chain.Agents()
			for _, name := range names {
				ofStep := func(check string) bool { return strings.HasPrefix(check, name+":") }
				if slices.ContainsFunc(k.checks, ofStep) {
					return nil, cli.Usagef("--check %s:CMD is for a step of a new chain; leave it out, or begin again with --chain",
						plain.Line(name, 80))
				}
			}
		}
		k.options = r.Options
		return k.team(at, func(agents *roster.Agents, p *loop.Picture) (run.Rows, error) {
			if k.cmd.Flags().Changed("max-iterations") {
				k.warnOfLess(p, r)
			}
			if err := k.addChecks(p); err != nil {
				return nil, err
			}
			return k.rows(agents, names, runs)
		})
	})
}

// checkChain refuses to go on with a chain that has no step left. A loop that is complete says so itself.
func (k *runner) checkChain(at *loopdir.Loop, r *record.Run) error {
	if r.Chain == nil || r.Step() != nil {
		return nil
	}
	l, err := loop.Open(k.Env, at)
	if err != nil {
		return err
	}
	defer l.Close()
	p, err := l.Look()
	if err != nil || p.Snapshot.State.Status == decide.Complete {
		return err
	}
	call := program + " " + plain.Arg(at.Name)
	return fmt.Errorf("all %d steps of the chain are over; to work on with one agent: %s --agent %s; to begin the chain "+
		"again: %s --chain %s", len(r.Chain.Steps), call, plain.Arg(r.Options.Agent), call, plain.Arg(r.Chain.Definition))
}

// override changes what the run was asked for by what the command line says now.
func (k *runner) override(o *record.Options) {
	now := k.options
	for name, change := range map[string]func(){
		"agent":           func() { o.Agent = now.Agent },
		"fallback":        func() { o.Fallback = now.Fallback },
		"max-iterations":  func() { o.MaxIterations = now.MaxIterations },
		"max-cost":        func() { o.MaxCostUSD = now.MaxCostUSD },
		"max-tokens":      func() { o.MaxTokens = now.MaxTokens },
		"model":           func() { o.AgentOptions.Model = now.AgentOptions.Model },
		"effort":          func() { o.AgentOptions.Effort = now.AgentOptions.Effort },
		"permission-mode": func() { o.AgentOptions.Permission = now.AgentOptions.Permission },
		"allowed-tools":   func() { o.AgentOptions.Allowed = now.AgentOptions.Allowed },
		"session-timeout": func() { o.SessionTimeout = now.SessionTimeout },
		"idle-timeout":    func() { o.IdleTimeout = now.IdleTimeout },
		"wait":            func() { o.Wait = now.Wait },
		"hook":            func() { o.Hooks = now.Hooks },
		"on-complete":     func() { o.OnComplete = now.OnComplete },
		"complete-on":     func() { o.CompleteOn = now.CompleteOn },
		"pattern":         func() { o.Pattern = now.Pattern },
		"workers":         func() { o.Workers = now.Workers },
		"no-merge":        func() { o.NoMerge = now.NoMerge },
		"engine":          func() { o.Engine = now.Engine },
		"listen":          func() { o.Listen = now.Listen },
		"lease":           func() { o.Lease = now.Lease },
		"mcp":             func() { o.AgentOptions.MCP = now.AgentOptions.MCP },

		"dangerously-skip-permissions": func() { o.AgentOptions.SkipPermissions = now.AgentOptions.SkipPermissions },
	} {
		if k.cmd.Flags().Changed(name) {
			change()
		}
	}
	if k.task.Text != "" {
		o.Prompt = k.task.Text
	}
}

// giveRun raises the limits of a run that goes on that would end it before it has had the iterations which a person
// gives the loop: its own, or in a chain those of the step and of its reviewer.
func (k *runner) giveRun(r *record.Run) {
	if k.more.Iterations == 0 {
		return
	}
	if o := &r.Options; o.MaxIterations > 0 {
		o.MaxIterations = max(o.MaxIterations, r.Iterations+k.more.Iterations)
	}
	for _, step := range []*record.Step{r.Step(), r.Reviewer()} {
		if step != nil {
			step.Limit = max(step.Limit, step.Iterations+k.more.Iterations)
		}
	}
}

// overrideStep is override for the step of a chain that goes on: it may have another agent, and more iterations. If its
// reviewer has none left, that one gets them.
func (k *runner) overrideStep(r *record.Run, step *record.Step) {
	if k.cmd.Flags().Changed("agent") {
		step.Agent, step.Runs = r.Options.Agent, ""
	}
	if k.cmd.Flags().Changed("max-iterations") {
		more, reviewer := r.Options.MaxIterations, r.Reviewer()
		r.Options.MaxIterations = 0
		short := reviewer != nil && reviewer.Iterations >= reviewer.Limit
		if short {
			reviewer.Limit = more
		}
		if !short || step.Iterations >= step.Limit {
			step.Limit = more
		}
	}
}

// findRun finds the loop of a run: by the loop's name, by the run's id, or by the name of its file.
func (k *runner) findRun(words []string) (*loopdir.Loop, error) {
	if len(words) == 0 {
		return record.LastLoop(k.Env)
	}
	id := words[0]
	if file := fileOfRun.FindStringSubmatch(filepath.Base(id)); file != nil {
		id = file[1]
	} else if at, err := k.Find(words); err == nil {
		return at, nil
	}
	return record.LoopOf(k.Env, id)
}

// fileOfRun matches the names of the files of a run that have its id.
var fileOfRun = regexp.MustCompile(`^(?:run|chain)-(.+)\.json$`)

// nearVerb returns the command that a word is most like, "" for none.
func (k *runner) nearVerb(word string) string { return cli.Near(k.cmd.Root(), word) }
