package loop

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// LockWait is how long to wait for a lock. A process holds it for milliseconds, or while checks run.
const LockWait = 2 * time.Second

// requestWait is how long an event or a person waits for the loop's lock before they leave a request.
const requestWait = 500 * time.Millisecond

// maxRounds bounds how often a decision is made again. Each round answers one need. A list that
// changes all the time could need more for ever.
const maxRounds = 30

// Step is the result of an event.
type Step struct {
	Picture  *Picture // the loop as it was when the decision was made
	Decision decide.Decision
	Cut      bool // this process was told to end during a look-up, so nothing is committed
}

// Step answers an event: it takes the loop's lock, reads the loop, decides, looks up what the decision needs, commits,
// and frees the lock. It commits nothing if ctx ends during a look-up.
//
// After an error the caller calls GiveUp; after an answer was printed, Notify.
func (l *Loop) Step(ctx context.Context, ev Event) (*Step, error) {
	started := time.Now()
	ev.Marked = l.marked
	if ev.Event != decide.EventStop {
		step, err := l.glance(ev)
		if step != nil || err != nil {
			return step, err
		}
	}
	unlock, err := l.Store.LockForStop(lockWait(ev))
	if errors.Is(err, loopdir.ErrLocked) && !waitsForAnswer(ev) {
		return l.queueEvent(ev)
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	l.answered = l.answeredMeanwhile(ev)
	if l.answerQueue(ctx) != nil {
		_, _ = l.sendApart() // without it, the next event tells the notifiers
	}
	step, err := l.answer(ctx, ev, started)
	if err != nil || step.Cut {
		return step, err
	}
	end := l.answerQueue(ctx)
	if end != nil {
		return end, nil
	}
	return step, nil
}

// answer answers one event under the lock. started is when this process started to answer.
func (l *Loop) answer(ctx context.Context, ev Event, started time.Time) (*Step, error) {
	s := &stepper{loop: l, ev: ev, started: started}
	err := s.decide(ctx)
	if err == nil && s.decision.Commits() {
		err = s.commit()
	}
	return &Step{s.picture, s.decision, s.cut}, err
}

// answeredMeanwhile reports whether another hook has answered this very stop since this one looked for its loop. A
// client whose process is known has one stop of a session at a time, so it has called two hooks for it.
func (l *Loop) answeredMeanwhile(ev Event) bool {
	state, err := l.Store.State()
	n := len(state.Blocks)
	if err != nil || n == 0 || l.seen.Event != decide.EventStop {
		return false
	}
	known := ev.Client > 0 && ev.Client == state.SessionPID && ev.Session == state.Session
	return known && !slices.Contains(l.seen.State.Blocks, state.Blocks[n-1])
}

// glance decides without the lock, and returns nil if that is to be committed. A prompt that changes nothing must not
// wait until checks are done.
func (l *Loop) glance(ev Event) (*Step, error) {
	p, err := l.Read(ev)
	if err != nil {
		return nil, err
	}
	d, need := decide.Decide(p.Snapshot)
	switch {
	case need.Kind != decide.NeedNothing || d.Commits():
		return nil, nil
	case l.eventsQueued() && ev.Event == decide.EventPrompt: // it may take the loop up again that has ended by then
		return l.queueEvent(ev)
	}
	return &Step{Picture: p, Decision: d}, nil
}

// BeginStop notes that this process answers a stop, until Store.EndStop. One that is killed before leaves the note, and
// whoever looks next says so.
func (l *Loop) BeginStop(at time.Time) {
	l.stopping = true
	l.note("", at)
}

// note writes the note of BeginStop. what says what runs, in words.
func (l *Loop) note(what string, since time.Time) {
	pid := os.Getpid()
	l.Store.BeginStop(decide.Running{
		PID: pid, Start: proc.Start(pid), Since: since.UTC(), What: what, Killed: l.seen.Killed,
	})
}

type stepper struct {
	loop     *Loop
	ev       Event
	started  time.Time // when this process started to answer
	picture  *Picture
	decision decide.Decision
	found    decide.Found // what was needed so far
	listed   *decide.List // by the tracker, in this round
	list     string       // digest of the list that evaluators were asked about
	index    []byte       // of the work tree, to be kept; nil: it was not looked at, or says what it said
	judges   bool         // an agent asks what a stop would decide; see Judge
	ran      bool         // a command ran
	cut      bool         // see Step.Cut
}

// waitsForAnswer reports whether the event is a client's stop, or one of a run: only a run knows what it says.
func waitsForAnswer(ev Event) bool { return ev.Event == decide.EventStop || decide.IsRun(ev.Session) }

// maxLockWait is the longest wait for the lock. An event of a run has a whole day.
const maxLockWait = 5 * time.Minute

// lockWait returns how long the event waits for the lock. Two thirds of its time are for checks and notifiers.
func lockWait(ev Event) time.Duration {
	wait := time.Until(ev.At.Add(min(ev.Timeout/3, maxLockWait)))
	if ev.Event == decide.EventPrompt || waitsForAnswer(ev) {
		return wait
	}
	return min(wait, requestWait)
}

// decide decides until no more is needed.
func (s *stepper) decide(ctx context.Context) error {
	s.found = decide.Found{Results: s.ev.Results, Contents: s.ev.Contents}
	s.loop.look = nil
	if err := s.read(); err != nil {
		return err
	}
	for range maxRounds { // each decides from the record before, so nothing is counted twice
		s.picture.Snapshot.Found = s.found
		rules := decide.Decide
		if s.ev.Decide != nil {
			rules = s.ev.Decide
		}
		d, need := rules(s.picture.Snapshot)
		if s.picture.Snapshot.State.StartedAt.IsZero() {
			d.Next.UntrustedCheck = s.picture.untrusted
		}
		s.decision = d
		var err error
		switch {
		case d.Verdict == decide.Continue && s.picture.Snapshot.Requested == "" && s.loop.Store.HasStopRequest():
			err = s.read() // a person has typed that meanwhile
		case need.Kind == decide.NeedNothing:
			return nil
		case need.Kind == decide.NeedTail:
			s.found.Tail = s.tail()
		case need.Kind == decide.NeedHooks:
			s.found.HookAnswers = s.picture.AskHooks(d, s.ev.Message, true)
		case need.Kind == decide.NeedReopen && s.judges:
			s.found.ListNotWritten = true // the next stop reopens them
		case need.Kind == decide.NeedReopen && !s.picture.Config.Source.IsSet():
			s.reopen(need.Reopen)
			err = s.read()
		default:
			err = s.lookUp(ctx, need)
		}
		if err != nil || s.cut {
			return err
		}
	}
	return errors.New("the list or ralph.json changed again and again while checks ran")
}

// read reads the loop.
func (s *stepper) read() (err error) {
	s.found.HookAnswers = nil // the agent may have changed its hooks
	s.picture, err = s.loop.read(s.ev, s.found, s.listed)
	if err != nil {
		return err
	}
	snap := &s.picture.Snapshot
	if s.judges {
		snap.AsOwner()
	}
	stops := s.ev.Event == decide.EventStop && !decide.Bystander(snap)
	begins := s.ev.Event == decide.EventPrompt && snap.Marked
	if stops || begins {
		if held, err := s.picture.holdFirst(); err != nil {
			return err
		} else if held {
			return s.read()
		}
	}
	if snap.Killed > 0 {
		s.loop.Store.SweepList(s.picture.ListPath()) // that process may have been killed at its edit
	}
	if len(s.found.Answers) > 0 && snap.List.Digest() != s.list {
		s.found.Answers = nil // they are about another list
	}
	return nil
}

// eventPicture returns the loop over the work tree that the event is about.
func (s *stepper) eventPicture() (*Picture, error) {
	if s.ev.WorkTree == "" {
		return s.picture, nil
	}
	return s.picture.InWorkTree(s.ev.WorkTree)
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
	if err == nil {
		s.found.Reopened = append(s.found.Reopened, ids...)
	}
}

// lookUp answers a need. If the process is told to end in here, nothing is committed: nobody waits for an answer any
// more.
func (s *stepper) lookUp(ctx context.Context, need decide.Need) error {
	ctx, stop := s.loop.Env.Catch(ctx)
	defer stop()
	p, err := s.eventPicture()
	if err != nil {
		return err
	}
	r := &checker{
		Picture: p, message: s.ev.Message, status: s.ev.ExitCode,
		deadline: s.ev.At.Add(p.CheckTime(s.ev.Timeout)),
	}
	switch need.Kind {
	case decide.NeedTree:
		s.found.Tree, s.found.Changes, s.index = p.changes(ctx)
	case decide.NeedTrees:
		s.found.Trees = p.otherTrees(ctx)
	default:
		err = s.runCommands(ctx, r, need)
	}
	if ctx.Err() != nil && err == nil {
		s.cut = true
		s.decision = decide.Decision{Verdict: decide.Pass, Next: s.decision.From, From: s.decision.From}
	}
	return err
}

// runCommands answers a need by commands of the loop, puts back what they changed of the record, and reads the loop
// again: the list may have changed.
func (s *stepper) runCommands(ctx context.Context, r *checker, need decide.Need) error {
	s.ran = s.ran || len(need.Runs) > 0 || need.Kind != decide.NeedChecks
	what := s.picture.Snapshot.InWords(need)
	if what != "" && !s.judges { // to a stop that an agent has judged, the real one is no second
		s.loop.note(what, time.Now())
		defer s.noteDone(ctx)
	}
	before := len(s.found.Results)
	changed, err := s.loop.keeping(s.ev.Session, func() { s.collect(ctx, r, need) })
	if err != nil {
		return err
	}
	if r.noCopy != nil && s.ev.FreshSession {
		return r.noCopy // a run ends, and takes this step when it goes on: more sessions would prove nothing
	}
	if changed != "" {
		s.discount(need, before, changed)
	} else if s.listed != nil {
		r.keepSource(s.listed)
	}
	return s.read()
}

// discount has what answered a need fail, because the record was changed meanwhile. before is how many results there
// were before that.
func (s *stepper) discount(need decide.Need, before int, changed string) {
	p, found := s.picture, &s.found
	switch need.Kind {
	case decide.NeedList:
		list := s.loop.Store.SourceList(p.Snapshot.Now)
		s.listed = &list
		found.Results = append(found.Results, decide.Receipt{Name: plain.Line(p.ListName(), 100)})
	case decide.NeedAnswer:
		found.Answers = found.Answers[:min(len(found.Answers), need.Evaluator)]
		found.Results = append(found.Results, decide.Receipt{Name: p.Config.Evaluators[need.Evaluator].Name})
	case decide.NeedProject:
		found.Results = append(found.Results, found.InProject...)
	}
	s.loop.discount(found.Results[before:], changed)
}

// noteDone says that no command runs any more, unless the process was told to end: then the stop has no answer.
func (s *stepper) noteDone(ctx context.Context) {
	switch {
	case ctx.Err() != nil:
	case s.loop.stopping:
		s.loop.note("", s.ev.At)
	default:
		s.loop.Store.EndStop()
	}
}

// collect runs the commands that answer a need, and adds what they show to what was found.
func (s *stepper) collect(ctx context.Context, r *checker, need decide.Need) {
	p := r.Picture
	if s.found.Contents != "" && s.found.Contents != noContents && p.HasCopy() {
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
		if err == nil {
			s.found.Reopened = append(s.found.Reopened, need.Reopen...)
		}
	case decide.NeedChecks:
		if len(need.Runs) > 0 {
			s.listed = nil // the tracker may print something else by then
		}
		if r.contents == "" {
			r.contents = p.Contents(ctx)
			s.found.Contents = cmp.Or(r.contents, noContents)
			s.found.NotCounted = p.namedNotCounted()
		}
		s.found.Results = append(s.found.Results, r.run(ctx, need.Runs)...)
	case decide.NeedProject:
		s.found.InProject = r.runInProject(ctx, need.Runs)
	case decide.NeedAnswer:
		s.list = p.Snapshot.List.Digest()
		by := p.Config.Evaluators[need.Evaluator]
		answer, err := r.ask(ctx, by, s.decision, s.ev)
		if errors.Is(err, errCut) {
			s.found.Results = append(s.found.Results, decide.Receipt{Name: by.Name, NotRun: true, Cut: true})
			break
		}
		missing := need.Evaluator - len(s.found.Answers) + 1
		s.found.Answers = append(s.found.Answers, make([]decide.Answer, missing)...)
		s.found.Answers[need.Evaluator] = answer
	}
}

// noContents stands for contents that cannot be read.
const noContents = "unknown"

// checksSlack is how much of an event's time is left beside checks and notifiers.
const checksSlack = 10 * time.Second

// CheckTime returns how much of an event's time all its checks together may take. The notifiers
// run after them.
func (p *Picture) CheckTime(timeout time.Duration) time.Duration {
	left := timeout - total(p.notifiers(0)) - checksSlack
	return max(left, timeout/2)
}
