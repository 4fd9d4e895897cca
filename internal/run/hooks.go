package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// hookInput is what a hook gets on standard input, as JSON.
type hookInput struct {
	Schema        int           `json:"schema"`
	Event         string        `json:"event"`
	RunID         string        `json:"runId"`
	EpicID        string        `json:"epicId"` // the loop's name
	Repo          string        `json:"repo"`
	Agent         string        `json:"agent"`
	Model         string        `json:"model"`
	Status        string        `json:"status"` // in_progress, or how the run ended
	ExitReason    string        `json:"exitReason"`
	ExitCode      int           `json:"exitCode"` // of the session; at the end of the run that of the run
	Iteration     int           `json:"iteration"`
	MaxIterations int           `json:"maxIterations"`
	Feature       string        `json:"feature"`
	Outcome       string        `json:"outcome"` // of the session; "" if the event is not about one that has ended
	Tokens        int64         `json:"tokens"`  // of the whole run
	CostUSD       float64       `json:"costUsd"` // of the whole run
	CostUnknown   int           `json:"costUnknown"`
	Features      decide.Counts `json:"features"`
	Report        string        `json:"report,omitempty"` // of the run; "": none is written, or the run goes on
	Branch        string        `json:"branch,omitempty"` // of OpenPR: the one with the feature's work
	Base          string        `json:"base,omitempty"`   // of OpenPR: the branch that it is for
	PullRequest   string        `json:"pullRequest,omitempty"`
}

// inputOf returns what hooks get. ended is the session that has ended; nil: the event is about none.
func (r *Run) inputOf(s *loop.Step, state decide.State, ended *record.Current) hookInput {
	status, code, _ := state.Status.Outcome()
	if status == "" {
		status = "in_progress"
	}
	t := hookInput{
		Schema: 1, RunID: r.Record.ID, EpicID: plain.Line(r.At.Name, 100), Repo: r.At.Project,
		Agent: r.Record.Options.Agent, Model: r.Record.Options.AgentOptions.Model, Status: status,
		ExitReason: state.ExitReason, ExitCode: code, Iteration: state.Iteration, MaxIterations: s.Decision.Limit,
		Feature: plain.Line(state.Feature, 80), Tokens: r.Record.Spent.Usage.Tokens(),
		CostUSD: r.Record.Spent.CostUSD, CostUnknown: r.Record.Spent.Unknown,
		Features: s.Picture.Snapshot.Counts(state), PullRequest: r.Record.Merges.PR,
	}
	if s.Decision.Verdict == decide.End {
		t.Report = r.reportPath()
	}
	if ended != nil {
		t.Agent = cmp.Or(ended.Agent, t.Agent)
		t.Iteration = ended.Iteration
		t.Feature = plain.Line(ended.Feature, 80)
		t.Model = ended.Model
		t.Outcome, t.ExitCode = ended.Outcome, ended.ExitCode
	}
	return t
}

func (t hookInput) vars() []string {
	return []string{
		"RALPH_AGENT=" + t.Agent, "RALPH_ITERATION=" + strconv.Itoa(t.Iteration),
		"RALPH_MAX_ITERATIONS=" + strconv.Itoa(t.MaxIterations), "RALPH_EXIT_CODE=" + strconv.Itoa(t.ExitCode),
		"RALPH_STATUS=" + t.Status, "RALPH_WORK_DIR=" + t.Repo, loop.RunVar + "=" + t.RunID, "RALPH_MODEL=" + t.Model,
		"RALPH_COST_USD=" + strconv.FormatFloat(t.CostUSD, 'f', 4, 64),
	}
}

// commands returns the commands of an event: those of ralph.json for the events of sessions, since the loop itself runs
// the others, and those of the command line.
func (r *Run) commands(p *loop.Picture, event string) (all []config.Command) {
	own := []string{config.PreIteration, config.PostIteration, config.OpenPR}
	if slices.Contains(own, event) {
		for _, c := range p.Config.Notifiers {
			if c.Event == event {
				all = append(all, c)
			}
		}
	}
	for _, h := range r.Record.Options.Hooks {
		if h.Event == event {
			all = append(all, config.Command{Event: event, Shell: h.Line, Timeout: config.DefaultTimeout})
		}
	}
	return all
}

// runHooksBefore runs the hooks that come before a session. The error says which one does not let the session start.
func (r *Run) runHooksBefore(ctx context.Context, s *loop.Step) error {
	return r.runHooks(ctx, s, config.PreIteration, r.inputOf(s, s.Decision.Next, nil))
}

// hooks runs the hooks of some events. If one fails, people are told, and nothing else changes.
func (r *Run) hooks(s *loop.Step, events []string, what hookInput) {
	for _, event := range events {
		_ = r.runHooks(context.Background(), s, event, what)
	}
}

func (r *Run) runHooks(ctx context.Context, s *loop.Step, event string, what hookInput) (stop error) {
	commands := r.commands(s.Picture, event)
	if len(commands) == 0 {
		return nil
	}
	what.Event = event
	p, done, err := r.look()
	if err != nil {
		return nil // the step that follows says so
	}
	defer done()
	for _, c := range commands {
		if _, err := p.RunHook(ctx, c, what, what.vars()); err != nil {
			r.Screen.Warn(fmt.Sprintf("the %s hook %s failed: %v", event, plain.Line(c.String(), 100), err))
			if c.Stops {
				return fmt.Errorf("the %s hook %s failed", event, plain.Line(c.String(), 100))
			}
		}
	}
	return nil
}

// look reads the loop anew: the step's own picture is closed.
func (r *Run) look() (p *loop.Picture, done func(), err error) {
	l, err := loop.Open(r.Env, r.At)
	if err != nil {
		return nil, nil, err
	}
	p, err = l.Look()
	if err != nil {
		l.Close()
		return nil, nil, err
	}
	return p, l.Close, nil
}
