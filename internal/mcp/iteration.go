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
	OfIteration
	AgentContext json.RawMessage `json:"agentContext,omitempty"`
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
	message string // what the agent wrote
	claim   decide.Claim
	claims  []decide.Claim // all that the message makes
}

// judge decides as a stop would if the agent had written the message, and commits the decision if commits says so.
// The draft is what the agent also shows its evaluators.
func (k *desk) judge(ctx context.Context, name, message string, draft agenthook.Draft,
	commits func(decide.Decision) bool) (judged, error) {
	p, err := k.Look()
	if err != nil {
		return judged{}, err
	}
	j := judged{message: message}
	j.claim, j.claims = decide.Claims(message, p.Agent.Promises)
	ev := k.event(name, message)
	if j.claim.Status != "" {
		ev.Claim = &j.claim
	}
	ev.Draft = draft
	j.Step, err = k.Judge(ctx, ev, commits)
	if err != nil {
		return j, err
	}
	k.Store.Log(fmt.Sprintf("%s %s iteration %d %s", ev.At.UTC().Format("2006-01-02T15:04:05Z"), name,
		j.Decision.From.Iteration, strings.TrimSpace(j.Decision.Word()+" "+j.Decision.Next.ExitReason)), nil)
	return j, nil
}

func never(decide.Decision) bool { return false }

// next answers iteration_next.
func (k *desk) next(ctx context.Context, in Next) (NextPrompt, error) {
	stops, err := k.handOut()
	if err != nil {
		return NextPrompt{}, err
	}
	var j judged
	if stops {
		j.Step, err = k.step(ctx, decide.EventStop, k.event("iteration_next", ""))
	} else {
		j, err = k.judge(ctx, "iteration_next", "", agenthook.Draft{}, never)
		j.Decision.Next.Iteration = j.Decision.From.Iteration // nothing has ended it
	}
	if err != nil {
		return NextPrompt{}, err
	}
	if d := j.Decision; stops && d.Verdict == decide.End {
		return NextPrompt{}, fmt.Errorf("%s: %s (%s); end your turn", endedText, d.Next.Status, d.Next.ExitReason)
	}
	p := j.Picture
	state := p.Snapshot.Record()
	if stops {
		state = j.Decision.Next
	}
	limit := state.Limit(p.Snapshot.Limits)
	over := !stops && state.Iteration >= limit // a stop has looked at the limit
	if d := j.Decision; over && !(d.Verdict == decide.End && d.Next.Status == decide.Complete) {
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

// handOut notes that a feature is handed out. It reports whether that ends an iteration, and so is a stop: where this
// server counts, each one but the first does.
func (k *desk) handOut() (stops bool, err error) {
	if !k.counts() {
		return false, nil
	}
	err = k.edit(func(_ *loop.Picture, r *agenthook.Record) error {
		stops = r.HandedOut
		r.HandedOut = true
		return nil
	})
	return stops, err
}

// prompt returns what the agent would be told.
func (j judged) prompt() string {
	if j.Decision.Verdict == decide.Continue {
		if j.Picture.Snapshot.State.Run() != "" { // its session has not got RALPH_PROMPT.md
			j.Picture.Snapshot.FreshSession = true
		}
		return say.Prompt(j.Picture, j.Decision, "")
	}
	if d := j.Decision; d.Verdict == decide.End && d.Next.Status == decide.Complete {
		return j.settled() + " Call iteration_complete with COMPLETE, then end your turn."
	}
	return strings.TrimSpace(j.summary() + " End your turn.")
}

// settled says what makes the loop complete: proof, or the agent's word alone.
func (j judged) settled() string {
	if len(j.Picture.Snapshot.Checks) == 0 {
		return "Every feature is claimed, and this loop has no check that could prove one."
	}
	return "Every check holds."
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
	c := j.Picture.Snapshot.Counts(d.Next)
	return fmt.Sprintf("%d of %d features pass, %d proven.", c.Passed, c.Total, c.Proven)
}

// missing says what keeps the loop from being complete, each thing once. room is that for the output of checks, in
// bytes; 0 if the answer has it elsewhere.
func (j judged) missing(room int) (lines []string) {
	s, d := &j.Picture.Snapshot, j.Decision
	add := func(format string, args ...any) {
		line := plain.Text(fmt.Sprintf(format, args...), 4000)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if d.Verdict == decide.End {
		if d.Next.Status != decide.Complete {
			add("%s", strings.TrimSpace(j.summary()))
		}
		return lines
	}
	if problem := unread(j.Picture); problem != "" {
		add("%s", problem)
		return lines
	}
	if open := s.List.Open(); len(open) > 0 {
		add("features are open: %s", plain.Line(strings.Join(open[:min(len(open), 20)], ", "), 500))
	}
	for _, r := range s.Results {
		name := plain.Line(r.Name+" "+r.Feature, 160)
		switch {
		case r.Passed:
		case room == 0:
			add("the check %s does not hold", name)
		default:
			add("the check %s does not hold: %s", name, output(r, &room))
		}
	}
	hooks := j.Picture.AskHooks(d, j.message, true)
	for _, a := range hooks {
		if a.Action != decide.AnswerComplete {
			add("your hooks: %s", strings.TrimSpace(a.Reason+" "+a.Prompt))
		}
	}
	byHook := func(a decide.Answer) bool { return a.By == d.Answer.By }
	if d.Answer != nil && !slices.ContainsFunc(hooks, byHook) {
		add("the evaluator %s: %s", plain.Line(d.Answer.By, 80), strings.TrimSpace(d.Answer.Reason+" "+d.Answer.Prompt))
	}
	if len(lines) == 0 {
		add("%s", j.summary())
	}
	return lines
}
