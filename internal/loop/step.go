package loop

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/logline"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// LockWait is how long to wait for a lock. A process holds it for milliseconds.
const LockWait = 2 * time.Second

// maxRounds bounds how often a decision is made again. Each round answers one need. A list that
// changes all the time could need more for ever.
const maxRounds = 30

// Step is the result of an event.
type Step struct {
	Picture  *Picture // the loop as it was when the decision was made
	Decision decide.Decision
}

// Step answers an event: it decides and commits. It looks up what takes time without the lock.
// Then it reads the loop again, because the loop may have changed. It commits nothing if ctx ends.
//
// After an error the caller calls GiveUp; after an answer was printed, Notify.
func (l *Loop) Step(ctx context.Context, ev Event) (*Step, error) {
	s := &stepper{loop: l, ev: ev}
	defer s.close()
	err := s.decideAndCommit(ctx)
	// The last look: a person's cancel may have come meanwhile.
	if err == nil && s.decision.Verdict == decide.Continue && l.Store.CancelAsked() {
		err = s.decideAndCommit(ctx)
	}
	return &Step{s.picture, s.decision}, err
}

type stepper struct {
	loop     *Loop
	ev       Event
	picture  *Picture
	decision decide.Decision
	found    decide.Found // what was needed so far
	listed   *decide.List // by the tracker, in this round
	asked    string       // digest of the list that evaluators were asked about
	unlock   func()       // nil while the lock is not held
	checks   func()       // frees the lock for running checks; nil while it is not held
	judges   bool         // an agent asks what a stop would decide; see Judge
}

// close frees the locks.
func (s *stepper) close() {
	s.release()
	if s.checks != nil {
		s.checks()
	}
}

func (s *stepper) lock() (err error) {
	if s.unlock != nil {
		return nil
	}
	wait := LockWait
	if s.ev.Dying {
		wait = time.Until(s.ev.Deadline()) // no later event could do this
	}
	s.unlock, err = s.loop.Store.Lock(wait)
	return err
}

func (s *stepper) release() {
	if s.unlock != nil {
		s.unlock()
		s.unlock = nil
	}
}

func (s *stepper) decideAndCommit(ctx context.Context) error {
	if err := s.decide(ctx); err != nil || !s.decision.Commits() {
		return err
	}
	return s.commit()
}

// decide takes the lock, reads and decides until no more is needed. It returns with the lock held,
// unless the decision is Pass because ctx ended.
func (s *stepper) decide(ctx context.Context) error {
	s.found = decide.Found{}
	s.listed = nil
	s.asked = ""
	for range maxRounds {
		if err := s.read(); err != nil {
			return err
		}
		if s.rival() {
			if waited, err := s.alone(); err != nil {
				return err
			} else if waited {
				continue
			}
		}
		d, need := decide.Decide(s.picture.Snapshot)
		s.decision = d
		if s.held(need) {
			continue
		}
		switch {
		case need.Kind == decide.NeedNothing:
			return nil
		case need.Kind == decide.NeedTail:
			s.found.Tail = s.tail()
		case need.Kind == decide.NeedReopen && s.judges:
			s.found.ListNotWritten = true // the next stop reopens them
		case need.Kind == decide.NeedReopen && !s.picture.Config.Source.Given():
			s.reopen(need.Reopen)
		default:
			if interrupted, err := s.lookUp(ctx, need); err != nil || interrupted {
				return err
			}
		}
	}
	return errors.New("the list or ralph.json changed again and again while checks ran")
}

// read reads the loop under the lock.
func (s *stepper) read() (err error) {
	if err := s.lock(); err != nil {
		return err
	}
	s.picture, err = s.loop.read(s.ev, s.found, s.listed)
	if err != nil {
		return err
	}
	if s.judges {
		s.picture.Snapshot.AsOwner()
	}
	if s.ev.Kind == decide.EventStop && !decide.Bystander(&s.picture.Snapshot) {
		if held, err := s.picture.holdFirst(); err != nil {
			return err
		} else if held {
			return s.read()
		}
	}
	snap := &s.picture.Snapshot
	if r := snap.State.Running; r != nil && r.PID != os.Getpid() {
		s.loop.Store.SweepList(s.picture.ListPath()) // that process may have been killed at its edit
	}
	if len(s.found.Answers) > 0 && snap.List.Digest() != s.asked {
		s.found.Answers, snap.Answers = nil, nil // they are about another list
	}
	return nil
}

// held looks at the held files before a check runs, and again before its result counts. It reports
// whether one has changed; then the decision is made anew.
func (s *stepper) held(need decide.Need) bool {
	complete := s.decision.Verdict == decide.End && s.decision.Next.Status == decide.Complete
	switch need.Kind {
	case decide.NeedList, decide.NeedChecks, decide.NeedAnswer:
	default:
		if !complete {
			return false
		}
	}
	s.found.Tampered = s.picture.Changed()
	return s.found.Tampered != ""
}

func (s *stepper) tail() *decide.Tail {
	if s.ev.Tail == nil {
		return &decide.Tail{Context: -1}
	}
	tail := s.ev.Tail(s.picture.Snapshot.Now)
	return &tail
}

// reopen takes claims back in the list's file.
func (s *stepper) reopen(ids []string) {
	err := s.loop.Store.Mark(s.picture.ListPath(), s.picture.Snapshot.List.List, ids, false)
	s.loop.Store.Log(logline.Reopen(s.ev.At, ids, err), nil)
	s.found.ListNotWritten = err != nil
}

// lookUp answers a need without the lock. If the process is told to end in here, it commits
// nothing: nobody waits for an answer any more.
func (s *stepper) lookUp(ctx context.Context, need decide.Need) (interrupted bool, err error) {
	var kept *loopdir.Kept
	commands := s.picture.runsCommands(need)
	if commands {
		if waited, err := s.alone(); waited || err != nil {
			return false, err
		}
	}
	state, err := s.markRunning(need)
	if err == nil && commands {
		kept, err = s.loop.Store.Keep(state, s.ev.Session)
	}
	if err != nil {
		return false, err
	}
	s.release()
	ctx, stop := s.loop.Env.catch(ctx)
	defer stop()
	p := s.picture
	r := checker{Picture: p, message: s.ev.Message, deadline: s.ev.At.Add(p.CheckTime(s.ev.Timeout))}
	switch need.Kind {
	case decide.NeedList:
		list := r.askTracker(ctx)
		s.listed = &list
	case decide.NeedReopen:
		err := r.reopenItems(ctx, need.Reopen)
		s.listed = nil
		s.loop.Store.Log(logline.Reopen(s.ev.At, need.Reopen, err), nil)
		s.found.ListNotWritten = true // once is enough: the list shows the result
	case decide.NeedTree:
		s.found.Tree, s.found.Changes = p.changes(ctx)
	case decide.NeedChecks:
		if len(need.Runs) > 0 {
			s.listed = nil // the tracker may print something else by then
		}
		r.contents = p.Contents(ctx)
		s.found.Contents = cmp.Or(r.contents, "unknown")
		s.found.Results = append(s.found.Results, r.run(ctx, need.Runs)...)
	case decide.NeedAnswer:
		s.asked = p.Snapshot.List.Digest()
		missing := need.Evaluator - len(s.found.Answers) + 1
		s.found.Answers = append(s.found.Answers, make([]decide.Answer, missing)...)
		question := newQuestion(ctx, p, s.decision, s.ev.Message)
		s.found.Answers[need.Evaluator] = r.ask(ctx, p.Config.Active()[need.Evaluator], question)
	}
	if r.touched != "" { // and perhaps put back
		s.found.Tampered = r.touched + ", touched while a check ran,"
	}
	if kept != nil {
		s.found.Foreign, s.unlock, err = s.loop.Store.Mend(kept, LockWait)
		if err != nil {
			s.unlock = nil
			return false, err
		}
	}
	if s.found.Foreign != "" {
		return false, nil // also if what ran ended this process
	}
	if s.listed != nil {
		r.keepSource(s.listed)
	}
	if ctx.Err() != nil {
		s.decision = decide.Decision{Verdict: decide.Pass, Next: s.decision.From, From: s.decision.From}
		return true, nil
	}
	return false, nil
}

// markRunning lets status say what runs, and since when. It returns the record as it is then. If
// there is none yet, it returns the one that would be begun.
func (s *stepper) markRunning(need decide.Need) (decide.State, error) {
	what, state := s.picture.Snapshot.InWords(need), s.picture.recorded()
	if what == "" || s.picture.Snapshot.State.Schema == 0 || s.judges { // to a stop meanwhile, this is no rival
		return state, nil
	}
	pid := os.Getpid()
	state.Running = &decide.Running{PID: pid, Start: proc.Start(pid), Since: time.Now().UTC(), What: what}
	state.Withheld = s.picture.Withheld()
	return state, s.loop.Store.SaveState(state)
}

// checksSlack is how much of an event's time is left beside checks and notifiers.
const checksSlack = 10 * time.Second

// CheckTime returns how much of an event's time all its checks together may take. The notifiers
// run after them.
func (p *Picture) CheckTime(timeout time.Duration) time.Duration {
	left := timeout - total(p.notifiers(0)) - checksSlack
	return max(left, timeout/2)
}
