package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/fleet"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// The times that hold if nobody says others.
const (
	usualTimeout = time.Hour
	usualWait    = 6 * time.Hour
	leastLease   = 2 * time.Second
	leastIdle    = 15 * time.Minute // one tool of Claude Code may be silent for 10 minutes
)

// usualBranch stands for the branch of --branch without a name.
const usualBranch = "ralph/LOOP"

// runner is what the command line of a run says.
type runner struct {
	verbs
	cmd     *cobra.Command
	options record.Options
	task    verb.Task
	checks  []string
	chain   string
	branch  string // with --branch: its name; "": the usual one
	base    string // since when a review looks; "": it is none

	more                    verb.More // what a person gives a run that goes on
	cwd                     string
	resume, dryRun, verbose bool
	hasChecks               bool     // the loop was made now, with the checks
	checked                 []string // the commands of the loop's checks
	out                     io.Writer
}

func (v verbs) run() *cobra.Command {
	k := &runner{verbs: v}
	k.cmd = &cobra.Command{
		Use: "run [NAME|LIST]", Short: "Run a loop; the word run is optional", Long: runHelp,
		RunE: cli.Run(k.run),
	}
	k.flags()
	k.cmd.Flags().BoolVar(&k.resume, "resume", false, "the same as 'ralph-runner resume'")
	return k.cmd
}

// resume goes on with a run. It takes the flags of a run, and those that are given replace those that the run had.
func (v verbs) resume() *cobra.Command {
	k := &runner{verbs: v, resume: true}
	k.cmd = &cobra.Command{
		Use: "resume [NAME] [+N]...", Short: "Continue a run; +N gives it N more iterations",
		Long: resumeHelp, RunE: cli.Run(k.run),
	}
	k.flags()
	likeRun(k.cmd)
	return k.cmd
}

const resumeHelp = `Continue the run NAME, or the last one. NAME is a loop, a run's id, or a file run-ID.json.
The run keeps its flags, except those you pass again.
+N gives the loop N more iterations, and raises a limit of the run that would end it earlier.
A time such as +2h moves the loop's deadline. The flags of 'ralph-runner run' work, too.`

// likeRun leaves the flags that a command has so far, which are those of a run, out of its help.
func likeRun(cmd *cobra.Command) {
	var all []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, f) })
	cmd.SetHelpFunc(func(c *cobra.Command, words []string) {
		for _, f := range all {
			f.Hidden = true
		}
		c.Parent().HelpFunc()(c, words)
	})
}

// flags adds the flags of a run.
func (k *runner) flags() {
	o, f := &k.options, k.cmd.Flags()
	f.StringVar(&o.Agent, "agent", "claude", "run the agent `NAME`; 'ralph-runner agents' lists them")
	f.StringArrayVar(&o.Fallback, "fallback", nil, "use the agent `NAME` during a rate limit; repeatable")
	f.StringVar(&k.chain, "chain", "", "run the agents of `CHAIN`: NAME:LIMIT -> NAME:LIMIT, or a name "+
		"from \"chains\" in ralph.json")
	f.IntVar(&o.MaxIterations, "max-iterations", 0, "end this run after `N` iterations")
	k.task.Flags(f)
	f.StringArrayVar(&k.checks, "check", nil, "in a new loop, check with the shell command `CMD`; repeatable")
	f.Func("hook", "run a command at an event: `EVENT:CMD`; repeatable", func(text string) error {
		hook, err := record.ParseHook(text)
		if err != nil {
			return cli.Usagef("%w", err)
		}
		o.Hooks = append(o.Hooks, hook)
		return nil
	})
	f.StringVar(&o.OnComplete, "on-complete", "", "run the shell command `CMD` when the loop ends")
	f.StringVar(&k.cwd, "cwd", "", "work in the folder `DIR`")
	f.BoolVarP(&k.verbose, "verbose", "v", false, "show everything that the agent does")
	f.StringVar(&o.AgentOptions.Model, "model", "", "use the model `M`")
	f.StringVar(&o.AgentOptions.Effort, "effort", "", "set the reasoning effort `E`, as the agent names it")
	permissionFlags(f, &o.AgentOptions)
	f.Float64Var(&o.MaxCostUSD, "max-cost", 0, "end this run at `USD` dollars")
	f.Int64Var(&o.MaxTokens, "max-tokens", 0, "end this run at `N` tokens")
	f.DurationVar(&o.SessionTimeout, "session-timeout", usualTimeout, "end a session after `D`")
	f.DurationVar(&o.IdleTimeout, "idle-timeout", 0,
		"end a session that is silent for `D` while no tool runs; at least 15m")
	f.DurationVar(&o.Wait, "wait", usualWait, "wait at most `D` for a rate limit to reset; 0s: do not wait")
	f.Func("complete-on",
		"accept `SIGNALS` as a claim that everything is done: marker,exit_code,file:PATH",
		func(text string) error { o.CompleteOn = append(o.CompleteOn, strings.Split(text, ",")...); return nil })
	f.StringVar(&o.Pattern, "pattern", "",
		"accept a line that matches `RE` as a claim that everything is done")
	f.StringVar(&k.branch, "branch", "", "check out the branch `NAME`; create it if missing")
	f.Lookup("branch").NoOptDefVal = usualBranch
	f.IntVar(&o.Workers, "workers", 0, "work on `N` features at a time, each in its own folder")
	f.BoolVar(&o.NoMerge, "no-merge", false, "with --workers: do not merge into your branch")
	f.StringVar(&o.Engine, "engine", "", "use workers on other machines: embedded, or the `URL` of NATS")
	f.StringVar(&o.Listen, "listen", "", "make the embedded engine listen on `HOST:PORT`")
	f.DurationVar(&o.Lease, "lease", jobs.UsualLease,
		"give a silent worker's feature to another after `D`")
	f.BoolFunc("mcp", "give each session the loop's tools as its only MCP server", func(string) error {
		command, err := json.Marshal(k.Env.Self)
		o.AgentOptions.MCP = fmt.Sprintf(`{"mcpServers": {"ralph": {"command": %s, "args": ["mcp"]}}}`, command)
		return err
	})
	f.BoolVar(&k.dryRun, "dry-run", false, "only show what would start")
}

// permissionFlags adds the flags of what an agent may do.
func permissionFlags(f *pflag.FlagSet, a *agent.Options) {
	f.StringVar(&a.Permission, "permission-mode", "", "use permission mode `MODE`, such as acceptEdits")
	f.Func("allowed-tools", "allow `RULE`, such as 'Bash(npm test:*)'; repeatable",
		func(rule string) error {
			a.Allowed = strings.TrimPrefix(a.Allowed+","+rule, ",")
			return nil
		})
	f.BoolVar(&a.SkipPermissions, "dangerously-skip-permissions", false, "allow everything; use a sandbox")
}

const runHelp = `Run the loop NAME, or the current one. LIST is a file with features, or its folder: if no
loop works on it, the run creates one.

In a chain, the agent after <-> reviews and sends work back; --check AGENT:CMD applies to
that agent only.

Ctrl-C ends the session and the run; a second Ctrl-C kills them.`

func (k *runner) run(w io.Writer, words []string) error {
	k.out = w
	if err := k.PersonOnly(); err != nil {
		return err
	}
	if err := k.settle(); err != nil {
		return err
	}
	if k.base != "" {
		list, err := k.findings()
		if err != nil {
			return err
		}
		words = []string{list}
	}
	if k.resume {
		var err error
		k.more, words, err = verb.TakeMore(words)
		if err != nil {
			return err
		}
	}
	r, err := k.prepare(words)
	if k.base != "" && (err != nil || k.dryRun) {
		_ = os.Remove(words[0]) // nothing works on it
	}
	if err != nil {
		return err
	}
	if err := k.nameBranch(r); err != nil {
		return err
	}
	if k.more != (verb.More{}) {
		r.More = k.more.Give
	}
	if k.dryRun {
		text, err := r.Preview()
		fmt.Fprint(w, text)
		return err
	}
	k.warn(r)
	return k.work(w, r)
}

// settle completes and checks what the command line says.
func (k *runner) settle() error {
	o := &k.options
	if k.cmd.Flags().Changed("max-cost") {
		if err := checkCost(o.MaxCostUSD); err != nil {
			return err
		}
	}
	switch {
	case k.cmd.Flags().Changed("max-iterations") && (o.MaxIterations < 1 || o.MaxIterations > decide.MaxCount):
		return verb.RefuseIterations()
	case k.cmd.Flags().Changed("max-tokens") && o.MaxTokens < 1:
		return cli.Usagef("--max-tokens must be above 0")
	case o.SessionTimeout <= 0:
		return cli.Usagef("--session-timeout must be above 0: a session without a limit may hang for ever")
	case o.IdleTimeout != 0 && o.IdleTimeout < leastIdle:
		return cli.Usagef("--idle-timeout must be at least %s: a tool is silent until it ends", plain.Duration(leastIdle))
	case o.Wait < 0:
		return cli.Usagef("--wait cannot be below 0")
	}
	if err := k.settleWorkers(); err != nil {
		return err
	}
	if err := k.settleChain(); err != nil {
		return err
	}
	if k.chain == "" {
		if err := record.CheckSignals(o.CompleteOn); err != nil {
			return cli.Usagef("%w", err)
		}
	}
	if err := run.CheckPattern(o.Pattern); err != nil {
		return cli.Usagef("%w", err)
	}
	if err := k.task.Read(k.cmd.Flags().Changed); err != nil {
		return err
	}
	if err := k.enter(); err != nil {
		return err
	}
	for i, check := range k.checks {
		if k.chain != "" {
			break // some may be of one step alone
		}
		k.checks[i] = strings.TrimPrefix(strings.TrimPrefix(check, o.Agent+":"), "command:")
		if err := k.lookUp(k.checks[i]); err != nil {
			return err
		}
	}
	return nil
}

var errBranch = cli.Usagef("--branch and --workers do not go together: lanes have a branch of their own")

// nameBranch gives a run the branch that the command line asks for.
func (k *runner) nameBranch(r *run.Run) error {
	if !k.cmd.Flags().Changed("branch") {
		return nil
	}
	if r.Record.Options.Workers > 0 {
		return errBranch
	}
	r.Switch = true
	r.Record.Options.Branch = k.branch
	if k.branch == "" || k.branch == usualBranch {
		r.Record.Options.Branch = "ralph/" + r.At.Name
	}
	return nil
}

// settleWorkers refuses what does not go with several lanes.
func (k *runner) settleWorkers() error {
	o := &k.options
	_, _, noAddress := jobs.HostPort(o.Listen)
	switch {
	case o.Engine != "" && !k.cmd.Flags().Changed("workers"):
		return cli.Usagef("--engine needs --workers: how many features are worked at a time")
	case o.Engine != "" && o.Engine != jobs.Embedded && jobs.CheckURL(o.Engine) != nil:
		return cli.Usagef("--engine is embedded, or an address of NATS: %v", jobs.CheckURL(o.Engine))
	case checkPermissions(o) != nil:
		return checkPermissions(o)
	case o.Listen != "" && o.Engine != jobs.Embedded:
		return cli.Usagef("--listen goes with --engine embedded")
	case noAddress != nil:
		return cli.Usagef("%w", noAddress)
	case o.Lease < leastLease:
		return cli.Usagef("--lease must be at least %s", plain.Duration(leastLease))
	case !k.cmd.Flags().Changed("workers"):
		return nil
	case o.Workers < 1 || o.Workers > decide.MaxLanes:
		return cli.Usagef("--workers must be at least 1, and at most %d", decide.MaxLanes)
	case k.cmd.Flags().Changed("branch"):
		return errBranch
	case k.base != "":
		return cli.Usagef("a review takes no --workers: builder and reviewer work one after the other")
	case k.chain != "":
		return cli.Usagef("--chain and --workers do not go together: the steps of a chain work one after the other")
	}
	return nil
}

// checkPermissions refuses permissions for agents that other machines start.
func checkPermissions(o *record.Options) error {
	if o.Engine == "" || o.AgentOptions.Permission+o.AgentOptions.Allowed == "" && !o.AgentOptions.SkipPermissions {
		return nil
	}
	return cli.Usagef("a worker's agent has the permissions of its own machine: say --permission-mode or "+
		"--dangerously-skip-permissions where '%s worker' starts", program)
}

// enter makes --cwd the working folder.
func (k *runner) enter() error {
	if k.cwd == "" {
		return nil
	}
	dir, err := folder(k.cwd)
	if err == nil {
		err = os.Chdir(dir)
	}
	k.Env.Cwd = dir
	return err
}

// folder returns the absolute path of the folder that --cwd names.
func folder(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return "", cli.Usagef("--cwd: %w", err)
	case !info.IsDir():
		return "", cli.Usagef("--cwd: %s is not a folder", path)
	}
	return path, nil
}

// checkCost refuses a --max-cost that is no bound.
func checkCost(usd float64) error {
	const most = 1_000_000
	if usd > 0 && usd <= most { // NaN is not
		return nil
	}
	return cli.Usagef("--max-cost must be above 0, and at most %d", most)
}

// work works the run, and ends with its exit status.
func (k *runner) work(w io.Writer, r *run.Run) error {
	ctx, kill := catch()
	r.Kill, r.Report, r.Resume = kill, k.writeReport, k.resume
	view := newView(k, w)
	r.Screen = view
	if r.Record.Options.Engine != "" {
		r.Engine = func(ctx context.Context) (run.Dispatcher, error) { return k.dispatcher(ctx, r, view) }
	}
	state, err := r.Work(ctx)
	view.close()
	other := run.BusyError("")
	if errors.As(err, &other) && r.More != nil {
		return k.giveLoop(w, r.At)
	}
	if r.Revived && errors.As(err, &other) { // it was paused, and had not ended
		fmt.Fprintf(w, "%s goes on; %s\n", plain.Line(r.At.Name, 100), other)
		return nil
	}
	if errors.Is(err, run.ErrNotifiersRetried) {
		fmt.Fprintln(w, err)
		return nil
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil && (state.Status.GoesOn() || len(r.Record.ToMerge()) > 0) {
		return &cli.Exit{Code: interrupted}
	}
	code := state.ExitCode()
	if left := r.Record.Merges.Failed; left != "" {
		again := fmt.Errorf("%s; to run it again: %s resume %s", plain.Line(left, 1000), program, plain.Arg(r.At.Name))
		return &cli.Exit{Code: cmp.Or(code, failed), Err: again}
	}
	if code != 0 {
		return &cli.Exit{Code: code}
	}
	return nil
}

// giveLoop gives the loop more while another process works it.
func (k *runner) giveLoop(w io.Writer, at *loopdir.Loop) error {
	l, err := loop.Open(k.Env, at)
	if err != nil {
		return err
	}
	defer l.Close()
	return k.Continue(w, l, k.more)
}

// dispatcher starts the engine of a run.
func (k *runner) dispatcher(ctx context.Context, r *run.Run, view *view) (run.Dispatcher, error) {
	o := r.Record.Options
	h, err := fleet.Open(ctx, jobs.Options{
		URL: o.Engine, Listen: o.Listen, Lease: o.Lease, Loop: r.At.Name,
		Dir: filepath.Join(r.At.StatePath(), jobs.Folder),
	}, r.Record.Lanes, cli.VersionText(version), o.Wait,
		func(text string) { view.printf("engine: %s", plain.Line(text, 300)) })
	if err != nil {
		return nil, err
	}
	view.printf("the engine is at %s; to let a worker in: %s engine token NAME %s", plain.Line(h.Address(), 200), program,
		plain.Arg(r.At.Name))
	return h, nil
}
