package run

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// revives reports whether the run puts its loop back to work, which is paused or has ended: a person resumes it. A run
// that was killed after its loop had judged the last session first finishes what it could not, unless the loop ended
// because of a limit that is raised now, or because features waited for a person.
func (r *Run) revives(state decide.State) bool {
	if r.More != nil && state.Status != decide.Complete {
		return true
	}
	features := state.ExitReason == decide.AllBlocked && len(r.Record.WaitingBranches()) > 0
	if state.Session == r.Record.Session() && (state.ExitReason == decide.Budget || features) {
		return true
	}
	over := !r.resumes || !r.Record.EndedAt.IsZero()
	// Without a record, the loop's header may say that it has ended.
	return r.Resume && (state.Status == "" || !state.Status.GoesOn() && (over || !state.Status.Judges()))
}

// revive puts the loop back to work if revives says so.
func (r *Run) revive(ctx context.Context) error {
	s, err := r.lookAt()
	if err != nil || !r.revives(s.Decision.From) {
		return err
	}
	l, err := loop.Open(r.Env, r.At)
	if err != nil {
		return err
	}
	defer l.Close()
	_, _ = l.RetryNotifiers(ctx) // what cannot be told now stays in the record
	_, err = l.Revive(ctx, r.giveMore)
	r.Revived = err == nil
	if r.Revived {
		r.More = nil
	}
	switch state := s.Decision.From; {
	case err == nil, r.opensPRAgain(state):
		return nil
	default:
		return r.notRevived(state, err)
	}
}

// giveMore raises the loop's limits as a person has asked.
func (r *Run) giveMore(p *loop.Picture, next *decide.State) error {
	if r.More == nil {
		return nil
	}
	_, err := r.More(p, next)
	return err
}

// opensPRAgain reports whether a complete loop lacks nothing but the pull request, whose command failed.
func (r *Run) opensPRAgain(state decide.State) bool {
	return state.Status == decide.Complete && r.Record.Merges.Failed != ""
}

func (r *Run) notRevived(state decide.State, err error) error {
	return fmt.Errorf("the loop %s is %s; %w", plain.Line(r.At.Name, 100), cmp.Or(state.Status, decide.InProgress), err)
}
