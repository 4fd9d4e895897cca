package loop

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// An agent may register hooks and rules of its own. They come after the loop's evaluators, and only hold the loop back.

// readAgent reads what the agent asks of the loop, and asks its hooks as for a loop that is settled otherwise.
func (p *Picture) readAgent(message string) error {
	data, err := p.Loop.Store.Agent(loopdir.AgentFile)
	if data == nil && err == nil {
		return nil
	}
	if err == nil {
		p.Agent, err = agenthook.Parse(data)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be used: %w; move it away", filepath.Join(p.Loop.At.StatePath(), loopdir.AgentFile), err)
	}
	s := &p.Snapshot
	p.Agent.Lower(&s.Limits)
	s.AgentHooks = p.Agent.Ask(agenthook.Facts{Message: message, Settled: true, Results: p.AgentRules(message)})
	return nil
}

// AgentRules returns what the agent's own rules say of the work tree and of what it wrote last.
func (p *Picture) AgentRules(message string) []agenthook.Result {
	checks := slices.Concat(p.Snapshot.Results, p.Snapshot.Receipts)
	return p.Agent.Evaluate(agenthook.Sources{Message: message, Project: p.Loop.At.Project, Checks: checks})
}

// Judge decides as the next stop of the loop's owner would, for an agent that asks. It runs the checks that are due and
// stores their receipts. Only if commits accepts the decision, it becomes the record; then the caller calls Notify.
func (l *Loop) Judge(ctx context.Context, ev Event, commits func(decide.Decision) bool) (*Step, error) {
	ev.Kind = decide.EventStop
	s := &stepper{loop: l, ev: ev, judges: true}
	defer s.close()
	if err := s.decide(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s.decision.Verdict == decide.End && commits(s.decision) {
		return &Step{s.picture, s.decision}, s.commit()
	}
	return &Step{s.picture, s.decision}, s.keepReceipts()
}
