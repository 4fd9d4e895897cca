package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Next asks for the next prompt.
type Next struct {
	IterationID      string          `json:"iterationId,omitempty"`
	ValidationResult json.RawMessage `json:"validationResult,omitempty"` // no evidence, so nobody reads it
	AgentContext     json.RawMessage `json:"agentContext,omitempty"`
}

// NextPrompt is the next prompt.
type NextPrompt struct {
	IterationID         string `json:"iterationId"`
	IterationNumber     int    `json:"iterationNumber"`
	RemainingIterations int    `json:"remainingIterations"`
	Config              Config `json:"config"`
	NextPrompt          string `json:"nextPrompt"`
}

// judged is what a stop would decide.
type judged struct {
	*loop.Step
	said    agenthook.Said
	message string // as the decision read it
}

// judge decides as a stop would if the agent had written the message, and commits the decision if commits says so.
func (k *desk) judge(ctx context.Context, name, message string, commits func(decide.Decision) bool) (judged, error) {
	p, err := k.Look()
	if err != nil {
		return judged{}, err
	}
	j := judged{said: p.Agent.Read(message)}
	if j.message = message; j.said.Status != "" { // a promise counts wherever it is: it is only a claim
		word := map[decide.Status]string{
			decide.Complete: decide.Promised, decide.Blocked: "<promise>BLOCKED: %s</promise>",
			decide.Escalated: "<promise>ESCALATE: %s</promise>",
		}[j.said.Status]
		if j.said.Stops() {
			word = fmt.Sprintf(word, strings.ReplaceAll(j.said.Why, "</promise>", ""))
		}
		j.message = strings.ReplaceAll(message, "```", "'''") + "\n\n" + word
	}
	ev := k.event(name, j.message)
	j.Step, err = k.Judge(ctx, ev, commits)
	if err != nil {
		return j, err
	}
	k.Store.Log(fmt.Sprintf("%s %s iteration %d %s", ev.At.UTC().Format("2006-01-02T15:04:05Z"), name,
		j.Decision.From.Iteration, strings.TrimSpace(j.Decision.Word()+" "+j.Decision.Next.ExitReason)), nil)
	return j, nil
}

func never(decide.Decision) bool { return false }

// Next answers iteration_next.
func (d *Desk) Next(ctx context.Context, call Call, in Next) (NextPrompt, error) {
	k, err := d.iteration(call, in.IterationID)
	if err != nil {
		return NextPrompt{}, err
	}
	defer k.Close()
	for _, refuse := range []func() error{k.moves, k.over} {
		if err := refuse(); err != nil {
			return NextPrompt{}, err
		}
	}
	j, err := k.judge(ctx, "iteration_next", "", never)
	if err != nil {
		return NextPrompt{}, err
	}
	p := j.Picture
	state := p.Snapshot.Record()
	limit := state.Limit(p.Snapshot.Limits)
	if d := j.Decision; state.Iteration >= limit && !(d.Verdict == decide.End && d.Next.Status == decide.Complete) {
		//lint:ignore ST1005 callers know these words
		return NextPrompt{}, fmt.Errorf("Maximum iterations (%d) reached; end your turn", limit)
	}
	if len(in.AgentContext) > 0 {
		if _, err := k.keep(p, agenthook.Checkpoint{Trigger: agenthook.Auto, Context: in.AgentContext}, nil); err != nil {
			return NextPrompt{}, err
		}
	}
	return NextPrompt{
		IterationID: k.ID(), IterationNumber: state.Iteration, RemainingIterations: max(0, limit-state.Iteration),
		Config: config(p), NextPrompt: j.prompt(),
	}, nil
}

// prompt returns what the agent would be told.
func (j judged) prompt() string {
	if j.Decision.Verdict == decide.Continue {
		d := j.Decision
		d.Next.Loop, d.Next.Name = j.Picture.Loop.At.Dir, j.Picture.Loop.At.Name
		return say.Prompt(j.Picture, d)
	}
	if d := j.Decision; d.Verdict == decide.End && d.Next.Status == decide.Complete {
		return "Everything is proven. Call iteration_complete with COMPLETE, then end your turn."
	}
	return strings.TrimSpace(j.summary() + " End your turn.")
}

// summary says in one line what a stop would decide.
func (j judged) summary() string {
	d := j.Decision
	switch {
	case d.Verdict == decide.End:
		return fmt.Sprintf("A stop now would end the loop: %s (%s). %s", d.Next.Status, d.Next.ExitReason,
			plain.Line(d.Next.Needs, 500))
	case d.Verdict == decide.Wait:
		return "A stop now would wait for what runs in the background."
	}
	list := j.Picture.Snapshot.List
	return fmt.Sprintf("%d of %d features pass, %d proven.", list.Passed(), len(list.Items), d.Next.Proven)
}

// missing says what keeps the loop from being complete.
func (j judged) missing() (lines []string) {
	s, d := &j.Picture.Snapshot, j.Decision
	add := func(format string, args ...any) {
		lines = append(lines, plain.Text(fmt.Sprintf(format, args...), 4000))
	}
	if d.Verdict == decide.End {
		if d.Next.Status != decide.Complete {
			add("%s", strings.TrimSpace(j.summary()))
		}
		return lines
	}
	if open := s.List.Open(); len(open) > 0 {
		add("features are open: %s", plain.Line(strings.Join(open[:min(len(open), 20)], ", "), 500))
	}
	for _, r := range s.Results {
		if !r.Passed {
			add("the check %s does not hold: %s", plain.Line(r.Name+" "+r.Feature, 160), r.Tail)
		}
	}
	for _, a := range s.AgentHooks {
		if a.Action != decide.AnswerComplete {
			add("your hook %s: %s", a.Hook, strings.TrimSpace(a.Reason+" "+a.Prompt))
		}
	}
	isAgents := func(a decide.HookAnswer) bool { return a.Hook == d.AnsweredBy }
	if d.Answer != nil && !slices.ContainsFunc(s.AgentHooks, isAgents) {
		add("the evaluator %s: %s", plain.Line(d.AnsweredBy, 80), strings.TrimSpace(d.Answer.Reason+" "+d.Answer.Prompt))
	}
	if len(lines) == 0 {
		add("%s", j.summary())
	}
	return lines
}
