package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// delegation is one session of an agent for one task, without a loop.
type delegation struct {
	verbs
	cmd              *cobra.Command
	agent, task, cwd string
	onComplete       string
	agentOptions     agent.Options
	timeout          time.Duration
}

func (v verbs) delegate() *cobra.Command {
	d := &delegation{verbs: v}
	d.cmd = &cobra.Command{
		Use: "delegate", Short: "Run one session of an agent for one task, without a loop",
		Long: `Run one session of an agent, print its final answer, and exit with its status. The
work is not checked.`,
		Example: `  ralph-runner delegate --task "Update the changelog" --on-complete ./notify.sh`,
		RunE:    cli.Run(d.run),
	}
	f := d.cmd.Flags()
	f.StringVar(&d.agent, "agent", "claude", "run the agent `NAME`")
	f.StringVar(&d.task, "task", "", "give the agent the prompt `TEXT`")
	f.StringVar(&d.cwd, "cwd", "", "work in the folder `DIR`")
	f.StringVar(&d.onComplete, "on-complete", "", "at the end, pipe JSON to the shell command `CMD`")
	f.StringVar(&d.agentOptions.Model, "model", "", "use the model `M`")
	f.StringVar(&d.agentOptions.Effort, "effort", "", "set the reasoning effort `E`, as the agent names it")
	permissionFlags(f, &d.agentOptions)
	f.Float64Var(&d.agentOptions.BudgetUSD, "max-cost", 0, "limit the cost to `USD` dollars, if the agent supports it")
	f.DurationVar(&d.timeout, "session-timeout", usualTimeout, "end the session after `D`")
	return d.cmd
}

func (d *delegation) run(w io.Writer, _ []string) error {
	if err := d.PersonOnly(); err != nil {
		return err
	}
	if strings.TrimSpace(d.task) == "" || !utf8.ValidString(d.task) {
		return cli.Usagef("delegate what? say --task 'TEXT'")
	}
	if d.timeout <= 0 {
		return cli.Usagef("--session-timeout must be above 0: a session without a limit may hang for ever")
	}
	if d.cmd.Flags().Changed("max-cost") {
		if err := checkCost(d.agentOptions.BudgetUSD); err != nil {
			return err
		}
	}
	dir, err := folder(cmp.Or(d.cwd, d.Env.Cwd))
	if err != nil {
		return err
	}
	agents, err := roster.New(d.Env, dir, nil)
	if err != nil {
		return err
	}
	row, err := agents.Find(d.agent)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	if lacks := row.Lacks(d.agentOptions); len(lacks) > 0 {
		return cli.Usagef("the agent %s takes no %s", row.Name, lacks[0])
	}
	e, stopped := d.work(row, dir)
	if e.Message != "" {
		fmt.Fprintln(w, plain.Text(e.Message, len(e.Message)))
	}
	if e.Problem != "" {
		fmt.Fprintf(os.Stderr, "%s: %s: %s: %s\n", program, row.Name, e.Class, e.Problem)
	}
	d.tell(row, dir, e)
	switch {
	case stopped:
		return &cli.Exit{Code: interrupted}
	case e.Class == agent.NotStarted:
		return &cli.Exit{Code: 127}
	case e.ExitCode > 0:
		return &cli.Exit{Code: e.ExitCode}
	case e.Class != agent.Done:
		return &cli.Exit{Code: failed}
	}
	return nil
}

// work runs the session.
func (d *delegation) work(row agent.Row, dir string) (e agent.Result, stopped bool) {
	ctx, kill := catch()
	e = agent.Session{
		Row: row, Options: d.agentOptions, Prompt: d.task, Dir: dir, Env: agent.Environ(d.Env.Vars), Guard: d.Env.Self,
		Limit: d.timeout, Kill: kill,
	}.Run(ctx)
	return e, ctx.Err() != nil
}

// payload is what --on-complete gets.
type payload struct {
	Task        string   `json:"task"`
	Repo        string   `json:"repo"`
	Status      string   `json:"status"` // completed or failed
	ExitCode    int      `json:"exitCode"`
	DurationSec int64    `json:"durationSec"`
	Agent       string   `json:"agent"`
	Branch      string   `json:"branch,omitempty"`
	Tokens      int64    `json:"tokens,omitempty"`
	CostUSD     *float64 `json:"costUsd,omitempty"`
}

// tell runs the command of --on-complete.
func (d *delegation) tell(row agent.Row, dir string, e agent.Result) {
	if d.onComplete == "" {
		return
	}
	what := payload{
		Task: plain.Line(d.task, 500), Repo: dir, Status: "completed", ExitCode: e.ExitCode,
		DurationSec: int64(e.Took.Seconds()), Agent: row.Name,
	}
	if loopdir.RepoRoot(dir) != "" {
		what.Branch = tree.Branch(d.Env.Vars, dir)
	}
	if e.Class != agent.Done || e.ExitCode != 0 {
		what.Status = "failed"
	}
	if e.Usage.TokensKnown {
		what.Tokens = e.Usage.Tokens()
	}
	if e.Usage.CostKnown {
		what.CostUSD = &e.Usage.CostUSD
	}
	stdin, err := json.Marshal(what)
	if err == nil {
		err = proc.Run(context.Background(), proc.Cmd{
			Shell: d.onComplete, Dir: dir, Env: agent.Environ(d.Env.Vars), Stdin: append(stdin, '\n'),
			Timeout: notifyTimeout, Stdout: os.Stderr, Stderr: os.Stderr, Guard: d.Env.Self,
		}).Err
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: warning: the command of --on-complete failed: %s\n", program,
			plain.Line(err.Error(), 300))
	}
}

// notifyTimeout is how long the command of --on-complete may run.
const notifyTimeout = 30 * time.Second
