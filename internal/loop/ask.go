package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxReason bounds what is shown of a command that failed, in characters.
const maxReason = 500

// newQuestion returns what a decision knows so far.
func newQuestion(ctx context.Context, p *Picture, d decide.Decision, ev Event) agenthook.Question {
	modified := p.tree().Modified(ctx, p.Snapshot.State.Seen)
	for _, name := range ev.Draft.Files {
		if !slices.Contains(modified, name) {
			modified = append(modified, name)
		}
	}
	q := agenthook.NewQuestion(p.Loop.At.Name, &p.Snapshot, &d, ev.Message, modified)
	q.DraftContent = ev.Draft.Content
	q.DraftType = ev.Draft.Type
	return q
}

// ask asks an evaluator. If it fails, hangs or makes no sense, a person must look at it. The error is errCut, or
// nothing that the answer does not say.
func (r *checker) ask(ctx context.Context, e config.Evaluator, q agenthook.Question) (got decide.Answer, err error) {
	ctx, cancel := r.watched(ctx)
	defer cancel()
	begin := time.Now()
	err = r.enter(ctx)
	if err == nil {
		var text []byte
		in, _ := json.Marshal(q) // cannot fail: texts and numbers only
		text, err = r.output(ctx, e.Command, in, agenthook.MaxAnswer)
		if err == nil {
			got, err = agenthook.ReadAnswer(e.Name, text)
		}
	}
	ran := Ran{Check: "evaluator " + e.Name, Outcome: strings.TrimSpace(got.Action + " " + got.Reason)}
	if err != nil {
		ran.Outcome = "the evaluator " + e.Name + ": " + err.Error()
		ran.ExitStatus = -1
		got = decide.Answer{Action: decide.AnswerEscalate, Reason: plain.Line(ran.Outcome, maxReason)}
	}
	r.Loop.logRan(begin, ran, nil)
	return got, err
}

// An agent may register hooks and rules of its own. They come after the loop's evaluators, and only hold the loop back.

// readAgent reads what the agent asks of the loop, and asks its hooks as for a loop that is settled otherwise.
func (p *Picture) readAgent(message string) error {
	data, err := p.Loop.Store.Agent(agenthook.File)
	if data == nil && err == nil {
		return nil
	}
	if err == nil {
		p.Agent, err = agenthook.Parse(data)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be used: %w; move it away", filepath.Join(p.Loop.At.StatePath(), agenthook.File), err)
	}
	s := &p.Snapshot
	p.Agent.Lower(&s.Limits, s.State)
	s.AgentHooks = p.Agent.Ask(agenthook.Facts{Message: message, Settled: true, Results: p.AgentRules(message)})
	return nil
}

// AgentRules returns what the agent's own rules say of the work tree and of what it wrote last.
func (p *Picture) AgentRules(message string) []agenthook.Result {
	checks := slices.Concat(p.Snapshot.Results, p.Snapshot.Receipts)
	return p.Agent.Evaluate(agenthook.Sources{Message: message, Project: p.Loop.project(), Checks: checks})
}

// Judge decides as the next stop of the loop's owner would, for an agent that asks. It runs the checks that are due,
// and stores their receipts. Only if commits accepts the decision, it becomes the record; then the caller calls Notify.
func (l *Loop) Judge(ctx context.Context, ev Event, commits func(decide.Decision) bool) (*Step, error) {
	ev.Event = decide.EventStop
	unlock, err := l.Store.Lock(lockWait(ev))
	if err != nil {
		return nil, err
	}
	defer unlock()
	s := &stepper{loop: l, ev: ev, started: time.Now(), judges: true}
	if err := s.decide(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.decision.Verdict == decide.End && commits(s.decision) {
		return &Step{s.picture, s.decision, false}, s.commit()
	}
	return &Step{s.picture, s.decision, false}, s.keepReceipts()
}
