package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// With Options.InSession a Stop hook drives each session: a session gets the loop's own prompt, so the hook in it works
// the loop. When the hook hands the loop over, or the session was interrupted, a fresh one takes it up. The hook does
// not tell of such endings while a run works on the loop; the run tells of its own end.

// drive starts sessions until the loop is over, or the run is.
func (r *Run) drive(ctx context.Context) (*loop.Step, error) {
	s, err := r.beginDriving(ctx)
	if err != nil {
		return nil, err
	}
	for failed := 0; ; failed++ {
		if err := r.before(ctx, s); err != nil {
			return r.leave(parting{why: err.Error()})
		}
		before := s.Decision.From
		e := r.session(ctx, s)
		c := r.Record.Current
		until, why, class := r.retry(c, e, failed)
		s, err = r.visited(s, class == "")
		if err != nil || !s.Decision.Next.Status.GoesOn() {
			return s, err
		}
		if class == "" {
			failed = -1
		}
		p := r.parts(c, before, s.Decision.From)
		switch {
		case ctx.Err() != nil:
			p = parting{why: "the run was stopped"}
		case class != "" && (until.IsZero() || r.late(s, until)):
			p = parting{reason: class, why: why, until: cmp.Or(until, e.Until)}
		case class != "":
			r.wait(ctx, until, why)
			if ctx.Err() == nil {
				continue
			}
			p = parting{why: "the run was stopped"}
		}
		if p.why != "" {
			return r.leave(p)
		}
	}
}

// beginDriving looks at the loop, and finishes what a run that was killed has left.
func (r *Run) beginDriving(ctx context.Context) (*loop.Step, error) {
	if err := r.revive(ctx); err != nil {
		return nil, err
	}
	s, err := r.lookAt()
	if err != nil {
		return nil, err
	}
	if state := s.Decision.Next; !state.Status.GoesOn() {
		return nil, fmt.Errorf("the loop %s is %s; %s", plain.Line(r.At.Name, 100), state.Status,
			say.Continues(s.Picture, state))
	}
	if err := r.ontoBranch(ctx); err != nil {
		return nil, err
	}
	r.noteFiles(false)
	if c := r.left(); c != nil {
		r.files.Session(&r.Record, c, nil, true)
		r.Record.Current = nil
	}
	r.Record.Status, r.Record.EndedAt = decide.InProgress, time.Time{}
	if err := r.save(); err != nil {
		return nil, err
	}
	r.announce(ctx, s)
	return s, nil
}

// visited looks at the loop after a session, and tells of that.
func (r *Run) visited(before *loop.Step, counts bool) (*loop.Step, error) {
	s, err := r.lookAt()
	if err != nil {
		return nil, err
	}
	r.Record.Iterations += max(0, worked(s.Decision.From)-worked(before.Decision.From))
	c := r.Record.Current
	r.files.Session(&r.Record, c, nil, counts)
	state := s.Decision.Next
	if state.Status.GoesOn() {
		s.Decision.Verdict = decide.Continue
		r.Screen.Counted(s)
		state.Status, state.ExitReason = decide.InProgress, "" // another session follows, if nothing stops the run
	}
	r.hooks(s, []string{config.PostIteration, config.OnIteration}, r.told(s, state, c))
	r.Record.Current = nil
	return s, r.save()
}

// worked returns how many iterations of a loop have been judged.
func worked(s decide.State) int {
	if s.Status == decide.Handover || s.Status.Judges() {
		return s.Iteration
	}
	return max(0, s.Iteration-1)
}

// parting says why a run leaves its loop before that is over.
type parting struct {
	reason string // an exit reason; "": the session has ended
	why    string // in words; "": the run does not leave
	until  time.Time
	raise  string // with decide.Budget: the flag with which the run goes on
}

// parts says why no fresh session begins after one that counts.
func (r *Run) parts(c *record.Current, before, now decide.State) parting {
	if l := r.limit(c, 0); l.reason != "" {
		return parting{reason: decide.Budget, why: l.why(), raise: l.raise}
	}
	if now.Iteration == before.Iteration && now.Passed == before.Passed && now.Status == before.Status {
		return parting{why: "a session ended, and the loop did not move; 'ralph-stop-hook doctor' says whether the " +
			"Stop hook runs"}
	}
	return parting{}
}

// leave ends the loop, and tells of it: the hook did not. The loop belongs to the run then, which can go on.
func (r *Run) leave(why parting) (*loop.Step, error) {
	env := r.Env
	env.Agent = r.Record.Options.Agent
	env.OnComplete = cmp.Or(r.Record.Options.OnComplete, env.OnComplete)
	l, err := loop.Open(env, r.At)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	_, err = l.Change("run", func(p *loop.Picture, next *decide.State) error {
		if !next.Status.GoesOn() {
			return errOver
		}
		status := decide.Interrupted
		if why.reason == decide.Budget {
			status = decide.ReachedLimit
		}
		if next.PastDeadline(p.Snapshot.Limits, why.until) {
			status, why.reason = decide.ReachedLimit, decide.Deadline
		}
		next.Stop(status, cmp.Or(why.reason, decide.SessionEnded), time.Now())
		next.Session, next.LastSession = r.Record.Session(), r.Record.Session()
		next.SessionPID, next.ClientStart = r.Record.PID, r.Record.Start
		next.Needs = plain.Line(why.why, 300)
		next.Raise = why.raise
		next.RetryAt = why.until
		next.OnComplete = env.OnComplete
		return nil
	})
	if err == nil {
		err = l.Tell(context.Background())
	}
	if err != nil && !errors.Is(err, errOver) {
		return nil, err
	}
	s, err := r.lookAt()
	if err == nil {
		s.Decision.Verdict = decide.End
	}
	return s, err
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
	d.Limit = d.Next.Limit(p.Snapshot.Limits)
	if !d.Next.Status.GoesOn() {
		d.Verdict = decide.End
	}
	if d.Next.Status == decide.Handover {
		d.Next.Iteration++ // it is in the next one that the loop goes on
	}
	return &loop.Step{Picture: p, Decision: d}, nil
}
