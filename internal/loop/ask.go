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

// ask asks an evaluator that is a command about a decision. If it fails, hangs or makes no sense, a person must look at
// it. The error is errCut, or nothing that the answer does not say.
func (r *checker) ask(ctx context.Context, e config.Evaluator, d decide.Decision, ev Event) (
	got decide.Answer, err error) {
	q := agenthook.NewQuestion(r.Loop.At.Name, &r.Snapshot, &d, ev.Message)
	q.FilesModified = r.tree().Modified(ctx, r.Snapshot.State.Seen)
	for _, name := range ev.Draft.Files {
		if !slices.Contains(q.FilesModified, name) {
			q.FilesModified = append(q.FilesModified, name)
		}
	}
	q.DraftContent, q.DraftType = ev.Draft.Content, ev.Draft.Type
	ctx, cancel := r.withDeadline(ctx)
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
		got = decide.Answer{By: e.Name, Action: decide.AnswerEscalate, Reason: plain.Line(ran.Outcome, maxReason)}
	}
	r.Loop.logRan(begin, ran, nil)
	return got, err
}

// AskHooks asks the hooks that the agent registered about a decision. settled is whether the loop's own evaluators
// would complete it: then its checks hold.
func (p *Picture) AskHooks(d decide.Decision, message string, settled bool) []decide.Answer {
	q := agenthook.NewQuestion(p.Loop.At.Name, &p.Snapshot, &d, message)
	q.Rules, q.Settled = p.AgentRules(message), settled
	if settled {
		q.ValidationResults = nil
	}
	return p.Agent.Ask(q)
}

// readAgent reads what the agent asks of the loop.
func (p *Picture) readAgent() error {
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
	s.AgentHooks = len(p.Agent.Hooks) > 0
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
