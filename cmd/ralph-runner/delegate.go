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

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// delegation is one session of an agent for one task, without a loop.
type delegation struct {
	verbs
	cmd              *cli.Command
	agent, task, cwd string
	onComplete       string
	asked            agent.Asked
	timeout          time.Duration
}

func (v verbs) delegate() *cli.Command {
	d := &delegation{verbs: v}
	d.cmd = &cli.Command{
		Name: "delegate", Short: "Run one session of an agent for one task, without a loop",
		Long: `Runs one session of an agent, prints its final answer, and exits with the agent's own
exit status. No check proves anything here. The command of --on-complete gets one JSON
object on standard input: task, repo, status, exitCode, durationSec and agent; branch,
tokens and costUsd where they are known. If it is missing or fails, that is only said.`,
		Example: `  ralph-runner delegate --agent claude --task "Update the changelog" --on-complete ./notify.sh`,
		Run:     d.run,
	}
	f := &d.cmd.Flags
	f.StringVar(&d.agent, "agent", "claude", "the agent, by its `NAME`")
	f.StringVar(&d.task, "task", "", "what is to be done, `TEXT`; the prompt")
	f.StringVar(&d.cwd, "cwd", "", "the folder to work in, `DIR`")
	f.StringVar(&d.onComplete, "on-complete", "", "run a shell command at the end, `CMD`")
	f.StringVar(&d.asked.Model, "model", "", "the model that the agent is asked for, `M`")
	f.StringVar(&d.asked.Effort, "effort", "", "how much the model thinks, in the agent's words, `E`")
	f.StringVar(&d.asked.Permission, "permission-mode", "", "the mode of the agent's permissions, `MODE`, passed on")
	f.BoolVar(&d.asked.SkipPermissions, "dangerously-skip-permissions", false, "passed on to the agent")
	f.Float64Var(&d.asked.BudgetUSD, "max-cost", 0, "what it may cost, in `USD`, where the agent can bound that itself")
	f.DurationVar(&d.timeout, "session-timeout", usualTimeout, "how long it may take, `D`")
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
	if d.cmd.Given("max-cost") {
		if err := checkCost(d.asked.BudgetUSD); err != nil {
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
	if lacks := row.Lacks(d.asked); len(lacks) > 0 {
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
		return exit{code: interrupted}
	case e.Class == agent.NotStarted:
		return exit{code: 127}
	case e.ExitCode > 0:
		return exit{code: e.ExitCode}
	case e.Class != agent.Done:
		return exit{code: failed}
	}
	return nil
}

// work runs the session.
func (d *delegation) work(row agent.Row, dir string) (e agent.Ended, stopped bool) {
	ctx, kill, by := catch(context.Background())
	e = agent.Session{
		Row: row, Asked: d.asked, Prompt: d.task, Dir: dir, Env: agent.Environ(d.Env.Vars), Guard: d.Env.Self,
		Limit: d.timeout, Kill: kill,
	}.Run(ctx)
	return e, by() != nil
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
func (d *delegation) tell(row agent.Row, dir string, e agent.Ended) {
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
		what.Tokens = record.AllTokens(e.Usage)
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
