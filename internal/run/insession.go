package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// With Options.InSession a Stop hook drives each session: a session gets the loop's own prompt, so the hook in it works
// the loop. When the hook hands the loop over, or the session was interrupted, a fresh one takes it up. The hook does
// not tell of such endings while a run works the loop; the run tells of its own end.

// drive starts sessions until the loop is over, or the run is.
func (r *Run) drive(ctx context.Context) (*loop.Step, error) {
	s, err := r.lookAt()
	if err != nil {
		return nil, err
	}
	if state := s.Decision.Next; !state.Status.GoesOn() {
		return nil, fmt.Errorf("the loop %s is %s; '%s' continues it", plain.Line(r.At.Name, 100), state.Status,
			r.Env.Call("resume", r.At.Name))
	}
	r.Record.Current = nil
	r.Screen.Begin(r.Record)
	for failed := 0; ; {
		before := s.Decision.Next
		e := r.session(ctx, s)
		until, why, class := r.retry(e, failed)
		r.folder.iteration(&r.Record, r.Record.Current, nil, class == "")
		r.Record.Current = nil
		if s, err = r.lookAt(); err != nil {
			return nil, err
		}
		now := s.Decision.Next
		r.Record.Iterations += max(0, now.Iteration-before.Iteration)
		switch {
		case !now.Status.GoesOn():
			return s, nil
		case ctx.Err() != nil:
			return r.leave("the run was stopped", e.Until)
		case class == "":
			failed = 0
			why = r.spent(before, now)
		case !until.IsZero():
			failed++
			r.wait(ctx, until, why)
			why = ""
		}
		if why != "" {
			return r.leave(why, e.Until)
		}
	}
}

// spent says why no fresh session begins after one that counts, "" if one does.
func (r *Run) spent(before, now decide.State) string {
	if ev := r.stopEvent(); ev.Spent != "" && ev.Spent != decide.MaxIterations {
		return ev.Bill
	}
	if most := r.Record.Options.MaxIterations; most > 0 && r.Record.Iterations >= most {
		return "this run has used up its " + plain.Count(most, "iteration")
	}
	if now.Iteration == before.Iteration && now.Passed == before.Passed && now.Status == before.Status {
		return "a session ended, and the loop did not move; 'ralph-stop-hook doctor' says whether the Stop hook runs"
	}
	return ""
}

// leave ends the loop INTERRUPTED, and tells of it: the hook did not.
func (r *Run) leave(why string, until time.Time) (*loop.Step, error) {
	env := r.Env
	env.Agent, env.OnComplete = r.Record.Options.Agent, r.Record.Options.OnComplete
	l, err := loop.Open(env, r.At)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	_, err = l.Change("run", func(_ *loop.Picture, next *decide.State) error {
		if !next.Status.GoesOn() {
			return errOver
		}
		next.Status, next.ExitReason, next.EndedAt = decide.Interrupted, decide.SessionEnded, time.Now()
		next.Needs, next.RetryAt = plain.Line(why, 300), until
		next.Endings++
		next.OnComplete = env.OnComplete
		return nil
	})
	if err == nil {
		err = l.Tell(context.Background())
	}
	if err != nil && !errors.Is(err, errOver) {
		return nil, err
	}
	return r.lookAt()
}

var errOver = errors.New("the loop is over")

// lookAt reads the loop, as a step that decides nothing.
func (r *Run) lookAt() (*loop.Step, error) {
	p, done, err := r.look()
	if err != nil {
		return nil, err
	}
	defer done()
	d := decide.Decision{Next: p.Snapshot.Record(), From: p.Snapshot.State}
	d.Next.Loop, d.Next.Name = r.At.Dir, r.At.Name
	if d.Limit = d.Next.Limit(p.Snapshot.Limits); !d.Next.Status.GoesOn() {
		d.Verdict = decide.End
	}
	return &loop.Step{Picture: p, Decision: d}, nil
}
