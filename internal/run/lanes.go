package run

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// A run with lanes works several features at once, each in a worktree of its own. One goroutine does all that
// changes the record, the loop or the loop's branch; the goroutine of a lane only runs the agent. So the loop's record
// has one writer, and merges come one after the other.

// lanes are the lanes of a run.
type lanes struct {
	*Run
	repo    *worktree.Repo
	merger  *worktree.Tree // where the merged work is proven before the loop's branch moves
	all     []*lane
	list    string           // path of the list below the project
	notes   string           // path of progress.txt below the project
	looked  string           // the commit of the loop's branch at which takeMerged has looked last
	reading features.Reading // how it is read
	hands   Hands            // they run the sessions; nil: those run here

	heard    chan heard
	sessions context.Context    // of all sessions
	stop     context.CancelFunc // stops them
}

// lane is one of them.
type lane struct {
	*record.Lane
	tree   *worktree.Tree // nil: it has had no feature yet
	busy   bool           // its session runs
	again  time.Time      // when it asks for work again
	failed int            // sessions in a row that met an overload
}

// heard is what the goroutine of a lane tells: its agent has started, or has ended.
type heard struct {
	lane  *lane
	pid   int
	ended *Worked // nil: it has started
}

// workLanes works the loop until it ends, or ctx does.
func (r *Run) workLanes(ctx context.Context) (*loop.Step, error) {
	l, err := r.openLanes(ctx)
	if err != nil {
		return nil, err
	}
	defer l.repo.Close()
	s, err := r.begin(ctx)
	if err == nil && goesOn(s) && r.Engine != nil {
		l.hands, err = r.Engine(ctx)
		if err == nil {
			defer l.hands.Close()
		} else {
			s, err = l.interrupt(ctx, l.ends("the engine cannot be opened: "+err.Error()))
		}
	}
	if err == nil && goesOn(s) {
		s, err = l.goOn(ctx, s)
	}
	for err == nil && goesOn(s) {
		s, err = l.next(ctx, s)
	}
	l.halt()
	if err == nil {
		l.tidy(context.WithoutCancel(ctx))
	}
	return s, err
}

// goOn finishes what a run that was killed has left: a merge, and sessions that are not counted yet.
func (l *lanes) goOn(ctx context.Context, s *loop.Step) (*loop.Step, error) {
	if err := l.openPRs(); err != nil {
		return nil, err
	}
	if err := l.finishMerge(ctx); err != nil {
		return nil, err
	}
	for _, one := range l.all {
		c := one.Current
		if c == nil {
			continue
		}
		state := s.Decision.Next
		l.notEnded(c)
		if n := one.Number - 1; n >= len(state.Lanes) || state.Lanes[n].Iteration != c.Iteration { // the loop counted it
			if err := l.counted(c, nil, state); err != nil {
				return nil, err
			}
			continue
		}
		if !c.Ended.Class.Counts() {
			l.drop(one)
			continue
		}
		next, err := l.judge(ctx, one)
		if err != nil || next != nil && !goesOn(next) {
			return next, err
		}
	}
	return s, l.save()
}

// next gives work to the lanes that have none, and waits until something happens.
func (l *lanes) next(ctx context.Context, s *loop.Step) (*loop.Step, error) {
	if ctx.Err() != nil {
		l.halt()
		return l.interrupt(ctx, l.ends(""))
	}
	if l.stopped() {
		if l.busy() == 0 {
			return l.lookAt()
		}
		return l.listen(ctx, s)
	}
	for _, alone := range []bool{false, true} {
		asked, err := l.askAll(ctx, alone)
		if err != nil || asked != nil {
			return asked, err
		}
		if l.busy() > 0 {
			return l.listen(ctx, s)
		}
	}
	until := l.earliest()
	if until.IsZero() {
		return nil, errors.New("no lane has work, and the loop goes on; this is a bug")
	}
	l.wait(ctx, until, l.Record.Waiting.Why)
	return s, nil
}

// askAll asks for work for each lane that has no session. The step is that with which the loop ends, or that of a
// session that has ended meanwhile; nil: the loop goes on.
func (l *lanes) askAll(ctx context.Context, alone bool) (*loop.Step, error) {
	if err := l.takeMerged(ctx); err != nil {
		return nil, err
	}
	for _, one := range l.inTurn() {
		select { // it can take a while to make a worktree
		case h := <-l.heard:
			if s, err := l.hear(ctx, h); err != nil || s != nil {
				return s, err
			}
		default:
		}
		if one.busy || time.Now().Before(one.again) || l.waitsForOthers(one) {
			continue
		}
		s, err := l.ask(ctx, one, alone)
		if err != nil || s == nil || !goesOn(s) { // nil: the others would get nothing either
			return s, err
		}
	}
	return nil, nil
}

// inTurn returns the lanes that have work first: a lane without work takes what is left.
func (l *lanes) inTurn() []*lane {
	all := slices.Clone(l.all)
	place := map[bool]int{true: -1}
	slices.SortStableFunc(all, func(a, b *lane) int { return place[a.Open] - place[b.Open] })
	return all
}

// ask asks the loop for a feature for a lane, and begins a session with it. The step is nil if there is none for now.
// alone: no other lane begins a session before this one, so what they have does not count.
func (l *lanes) ask(ctx context.Context, one *lane, alone bool) (*loop.Step, error) {
	ev := l.event(decide.EventStop)
	if used := l.limit(nil, l.busy()); used.reason != "" {
		ev.Spent, ev.Bill = used.reason, "the run has "+used.bill
	}
	l.about(&ev, one)
	ev.Begins = true
	if alone {
		ev.Busy = 0
	}
	s, err := l.mustStep(ctx, ev)
	if err != nil {
		return nil, err
	}
	switch d := &s.Decision; d.Verdict {
	case decide.Continue:
		return l.start(ctx, one, s)
	case decide.Wait:
		l.rest(one, d.Next.RetryAt, "the loop has used its iterations for this hour")
		return nil, nil
	case decide.Pass:
		return nil, nil
	}
	return s, nil
}

// about says in an event about which lane it is. A lane with work that is not merged goes on with it, also if it has no
// session now.
func (l *lanes) about(ev *loop.Event, one *lane) {
	ev.Lane, ev.Lanes = one.Number, len(l.all)
	for _, other := range l.all {
		if other != one && (other.busy || other.Open) {
			ev.Busy++
		}
	}
	ev.Later, ev.Left = l.later(one), l.Record.LeftBranches()
}

// rest keeps a lane from asking for work until a time.
func (l *lanes) rest(one *lane, until time.Time, why string) {
	one.again = until
	l.Record.Waiting = &record.Waiting{Until: until.UTC(), Why: why}
}

func (l *lanes) busy() (n int) {
	for _, one := range l.all {
		if one.busy {
			n++
		}
	}
	return n
}

// earliest returns when the first lane asks for work again.
func (l *lanes) earliest() (at time.Time) {
	for _, one := range l.all {
		if !one.again.IsZero() && (at.IsZero() || one.again.Before(at)) {
			at = one.again
		}
	}
	return at
}

// listen waits until a session has started or ended, or a person stops the loop. last is the last step.
func (l *lanes) listen(ctx context.Context, last *loop.Step) (*loop.Step, error) {
	tick := time.NewTimer(nap)
	defer tick.Stop()
	select {
	case h := <-l.heard:
		if s, err := l.hear(ctx, h); err != nil || s != nil {
			return s, err
		}
	case <-ctx.Done():
	case <-tick.C:
		if l.cancelled() {
			l.stop()
		}
	}
	return last, nil
}

// hear takes what the goroutine of a lane tells. The step is nil if the loop has not taken one.
func (l *lanes) hear(ctx context.Context, h heard) (*loop.Step, error) {
	one := h.lane
	if h.ended == nil {
		one.Current.PID, one.Current.Start = h.pid, proc.Start(h.pid)
		_ = l.Record.Save(l.store) // a later save says so if it fails
		return nil, nil
	}
	one.busy = false
	c, e := one.Current, h.ended.Ended
	c.Worker, c.Machine = h.ended.Worker, h.ended.Machine
	l.ended(c, e)
	stopped := e.Class == agent.Stopped || ctx.Err() != nil && e.Class != agent.Done
	until, why, class := l.retry(c, e, one.failed)
	if class == "" && !stopped {
		one.failed = 0
		return l.judge(ctx, one)
	}
	l.drop(one)
	if e.Class == agent.Transient {
		one.failed++
	}
	switch {
	case stopped:
		return nil, l.save()
	case until.IsZero():
		l.halt()
		return l.interrupt(ctx, l.fails(class, why, e.Until))
	case until.After(time.Now()):
		l.rest(one, until, why)
		l.Screen.Wait(until, why)
	}
	return nil, l.save()
}

// drop forgets a session that does not count. What it did stays in its worktree.
func (l *lanes) drop(one *lane) {
	l.takeNotes(one)
	one.Given = cmp.Or(one.Given, "the session before yours was cut off, so a part may be half done")
	l.lost(one.Current)
}

// judge merges what a session has done, and tells the loop of the session's end. If a person stopped the loop
// meanwhile, nothing is decided, and the session is counted when the run goes on.
func (l *lanes) judge(ctx context.Context, one *lane) (*loop.Step, error) {
	if l.stopped() {
		return nil, l.save()
	}
	l.takeNotes(one)
	c := one.Current
	done, err := l.submit(ctx, one)
	if err != nil {
		if ctx.Err() != nil { // a signal ends the run, which merges it when it goes on
			err = l.save()
		}
		return nil, err
	}
	ev := l.stopEvent(c, l.busy())
	l.about(&ev, one)
	ev.Moved, ev.Refused = done.moved, done.refused
	s, err := l.mustStep(ctx, ev)
	if err != nil {
		return nil, err
	}
	d, snap := &s.Decision, &s.Picture.Snapshot
	snap.Results = slices.Concat(done.results, snap.Results)
	if d.Verdict == decide.Pass {
		return nil, l.save()
	}
	l.Record.Forget(c)
	if d.Verdict != decide.End || d.Next.Status.Judges() {
		if err := l.counted(c, s, d.Next); err != nil {
			return nil, err
		}
	}
	switch d.Verdict {
	case decide.Continue:
		if !l.waitsForOthers(one) { // else it asks when they are done
			return l.start(ctx, one, s)
		}
	case decide.Wait:
		if at := d.Next.RetryAt; at.After(time.Now()) {
			l.rest(one, at, "the loop has used its iterations for this hour")
		}
	}
	return s, nil
}

// halt stops all sessions, and waits for their ends. They do not count, and their work stays where it is.
func (l *lanes) halt() {
	l.stop()
	for l.busy() > 0 {
		h := <-l.heard
		if h.ended == nil {
			continue
		}
		h.lane.busy = false
		l.ended(h.lane.Current, h.ended.Ended)
		l.drop(h.lane)
	}
	_ = l.save() // the end of the run saves it again
}

// later returns the features that a lane must not begin now, since others work on files in which they were in conflict.
func (l *lanes) later(one *lane) map[string]bool {
	all := map[string]bool{}
	for _, other := range l.all {
		if other != one && other.Open && !other.busy && l.waitsForOthers(other) {
			all[other.Feature] = true
		}
	}
	return all
}

// waitsForOthers reports whether a lane has to wait: its feature was in conflict twice in a file on which another lane
// works, which was in conflict there, too.
func (l *lanes) waitsForOthers(one *lane) bool {
	for file, times := range one.Touched {
		for _, other := range l.all {
			if others := other.Touched[file]; other != one && other.busy && others > 0 && times+others > 2 {
				return true
			}
		}
	}
	return false
}
