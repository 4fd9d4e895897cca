package loop

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
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
	Cut      bool // this process was told to end while commands ran, so nothing is committed
}

// Step answers an event: it decides and commits. It looks up what takes time without the lock.
// Then it reads the loop again, because the loop may have changed. It commits nothing if ctx ends.
//
// After an error the caller calls GiveUp; after an answer was printed, Notify.
func (l *Loop) Step(ctx context.Context, ev Event) (*Step, error) {
	s := &stepper{loop: l, ev: ev, begun: time.Now()}
	defer s.close()
	for again := false; ; again = true {
		err := s.decide(ctx)
		if err == nil && s.decision.Commits() {
			err = s.commit()
		}
		// The last look: a person's cancel may have come meanwhile.
		asked := err == nil && s.decision.Verdict == decide.Continue && l.Store.CancelAsked()
		if again || !asked {
			return &Step{s.picture, s.decision, s.cut}, err
		}
	}
}

// BeginStop notes that this process answers a stop, until Store.EndStop. One that is killed before leaves the note, and
// whoever looks next says so.
func (l *Loop) BeginStop(at time.Time) {
	pid := os.Getpid()
	l.Store.BeginStop(decide.Running{PID: pid, Start: proc.Start(pid), Since: at.UTC(), Killed: l.seen.Killed})
}

type stepper struct {
	loop     *Loop
	ev       Event
	begun    time.Time // shortly after the event
	picture  *Picture
	decision decide.Decision
	found    decide.Found // what was needed so far
	listed   *decide.List // by the tracker, in this round
	asked    string       // digest of the list that evaluators were asked about
	index    []byte       // of the work tree, to be kept; nil: it was not looked at, or says what it said
	unlock   func()       // nil while the lock is not held
	checks   func()       // frees the lock for running checks; nil while it is not held
	judges   bool         // an agent asks what a stop would decide; see Judge
	compared bool         // found.Changed is known, and no command ran since
	marked   bool         // the record says that this process runs something; see markRunning
	cut      bool         // see Step.Cut
}

// close takes the mark of markRunning out of the record and frees the locks. A process that leaves its mark was killed;
// one that was told to end leaves it too, because its stop has no answer.
func (s *stepper) close() {
	if s.marked && !s.cut && s.lock() == nil {
		state, err := s.loop.Store.State()
		if err == nil && state.Running != nil && state.Running.PID == os.Getpid() {
			state.Running = nil
			_ = s.loop.Store.SaveState(state) // if that fails, too much is said
		}
	}
	s.release()
	if s.checks != nil {
		s.checks()
	}
}

func (s *stepper) lock() (err error) {
	if s.unlock != nil {
		return nil
	}
	s.unlock, err = s.loop.Store.LockForStop(s.lockWait())
	return err
}

// maxLockWait is the longest wait for the lock. An event of a run has a whole day.
const maxLockWait = 5 * time.Minute

// lockWait returns how long the event can wait for the lock. Two thirds are for checks and notifiers; but nobody
// waits for the answer of the last event, and no later one could do its work.
func (s *stepper) lockWait() time.Duration {
	until := s.ev.At.Add(min(s.ev.Timeout/3, maxLockWait))
	if s.ev.Dying {
		until = s.ev.Deadline()
	}
	return time.Until(until)
}

func (s *stepper) release() {
	if s.unlock != nil {
		s.unlock()
		s.unlock = nil
	}
}

// decide takes the lock, reads and decides until no more is needed. It returns with the lock held,
// unless the decision is Pass because ctx ended.
func (s *stepper) decide(ctx context.Context) error {
	s.found = decide.Found{Results: s.ev.Results, Contents: s.ev.Contents}
	s.listed = nil
	s.asked = ""
	s.index = nil
	s.compared = false
	s.loop.files = nil
	for range maxRounds {
		if err := s.read(); err != nil {
			return err
		}
		r := s.picture.Snapshot.State.Running
		rival := s.ev.Event == decide.EventStop && r != nil && r.PID != os.Getpid() && s.checks == nil
		if rival && !decide.Bystander(&s.picture.Snapshot) { // it runs checks for this stop, or was killed in them
			if waited, err := s.alone(); err != nil {
				return err
			} else if waited {
				continue
			}
		}
		rules := decide.Decide
		if s.ev.Decide != nil {
			rules = s.ev.Decide
		}
		d, need := rules(s.picture.Snapshot)
		if s.picture.Snapshot.State.StartedAt.IsZero() {
			d.Next.UntrustedCheck = s.picture.untrusted
		}
		s.decision = d
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
	stops := s.ev.Event == decide.EventStop && !decide.Bystander(&s.picture.Snapshot)
	begins := s.ev.Event == decide.EventPrompt && s.picture.Snapshot.Marked
	if stops || begins {
		if held, err := s.picture.holdFirst(); err != nil {
			return err
		} else if held {
			return s.read()
		}
	}
	if stops || begins && s.picture.Snapshot.State.StartedAt.IsZero() {
		c := &s.picture.Config
		if !s.compared && (len(c.Files) > 0 || c.ProtectNew) && !s.ev.OthersWork {
			there, err := s.there()
			if err != nil {
				return err
			}
			s.found.Changed = there.Changed()
			s.compared = true
		}
		s.picture.Snapshot.Changed = s.found.Changed
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

// there returns the loop over the work tree that the event is about.
func (s *stepper) there() (*Picture, error) {
	if s.ev.WorkTree == "" {
		return s.picture, nil
	}
	return s.picture.Beside(s.ev.WorkTree)
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
	s.loop.Store.Log(reopenLine(s.ev.At, ids, err), nil)
	s.found.ListNotWritten = err != nil
}

// lookUp answers a need without the lock. If the process is told to end in here, it commits
// nothing: nobody waits for an answer any more.
func (s *stepper) lookUp(ctx context.Context, need decide.Need) (interrupted bool, err error) {
	var kept *loopdir.Kept
	commands := s.picture.runsCommands(need)
	if commands || need.Kind == decide.NeedCommit {
		if waited, err := s.alone(); waited || err != nil {
			return false, err
		}
		s.compared = s.compared && !commands
	}
	state, err := s.markRunning(need)
	if err == nil && commands {
		kept, err = s.loop.Store.Keep(state, s.ev.Session)
	}
	if err != nil {
		return false, err
	}
	s.release()
	ctx, stop := s.loop.Env.Catch(ctx)
	defer stop()
	p, err := s.there()
	if err != nil {
		return false, err
	}
	deadline := s.ev.At.Add(p.CheckTime(s.ev.Timeout))
	r := checker{Picture: p, message: s.ev.Message, status: s.ev.ExitCode, deadline: deadline, yields: s.judges}
	known := s.found.Contents != "" && s.found.Contents != noContents
	if known && p.HasRoom() {
		r.contents = s.found.Contents // one stop proves one tree, in however many rounds
	}
	switch need.Kind {
	case decide.NeedList:
		list := r.askTracker(ctx)
		if errors.Is(list.Err, errCut) { // what it said last may hold, as with a check that was cut
			cut := decide.Receipt{Name: plain.Line(p.ListName(), 100), NotRun: true, Cut: true}
			s.found.Results = append(s.found.Results, cut)
			list = s.loop.Store.SourceList(p.Snapshot.Now)
		}
		s.listed = &list
	case decide.NeedReopen:
		err := r.reopenItems(ctx, need.Reopen)
		s.listed = nil
		s.loop.Store.Log(reopenLine(s.ev.At, need.Reopen, err), nil)
		s.found.ListNotWritten = true // once is enough: the list shows the result
	case decide.NeedTree:
		s.found.Tree, s.found.Changes, s.index = p.changes(ctx)
	case decide.NeedTrees:
		s.found.Trees = p.otherTrees(ctx)
	case decide.NeedChecks:
		if len(need.Runs) > 0 {
			s.listed = nil // the tracker may print something else by then
		}
		if r.contents == "" {
			r.contents = p.Contents(ctx)
			s.found.Contents = cmp.Or(r.contents, noContents)
		}
		s.found.Results = append(s.found.Results, r.run(ctx, need.Runs)...)
	case decide.NeedCommit:
		s.found.Committed = p.commitWork(ctx, need.Proven, deadline)
	case decide.NeedAnswer:
		s.asked = p.Snapshot.List.Digest()
		by := p.Config.Active()[need.Evaluator]
		answer, err := r.ask(ctx, by, newQuestion(ctx, p, s.decision, s.ev))
		if errors.Is(err, errCut) {
			s.found.Results = append(s.found.Results, decide.Receipt{Name: by.Name, NotRun: true, Cut: true})
			break
		}
		missing := need.Evaluator - len(s.found.Answers) + 1
		s.found.Answers = append(s.found.Answers, make([]decide.Answer, missing)...)
		s.found.Answers[need.Evaluator] = answer
	}
	if r.touched != "" { // and perhaps put back
		s.found.Tampered = r.touched
	}
	if kept != nil {
		s.found.Foreign, s.unlock, err = s.loop.Store.Mend(kept, s.lockWait())
		if err != nil {
			s.unlock = nil
			return false, err
		}
	}
	if r.yielded {
		return false, errYielded
	}
	if s.found.Tampered+s.found.Foreign != "" {
		s.found.Results = nil // nobody knows which files the checks used
	}
	if s.found.Foreign != "" {
		return false, nil // also if what ran ended this process
	}
	if s.listed != nil {
		r.keepSource(s.listed)
	}
	if ctx.Err() != nil {
		s.cut = true
		s.decision = decide.Decision{Verdict: decide.Pass, Next: s.decision.From, From: s.decision.From}
		return true, nil
	}
	return false, nil
}

// noContents stands for contents that cannot be read.
const noContents = "unknown"

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
	s.marked = true
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
