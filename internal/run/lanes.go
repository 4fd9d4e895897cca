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
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// A run with lanes works several features at once, each in a folder of its own. One goroutine does all that
// changes the record, the loop or a branch; the goroutine of a lane only runs the agent, and that of a batch only runs
// checks. So the loop's record has one writer, and merges come one after the other.

// lanes are the lanes of a run.
type lanes struct {
	*Run
	repo       *worktree.Repo
	person     *follower
	merger     *worktree.Tree // where merged work is proven
	at         string         // the commit that it has
	dir        string         // of all folders
	all        []*lane
	trees      map[string]*worktree.Tree // the folders of features, by Workspace.Dir
	list       string                    // path of the list below the project
	notes      string                    // path of progress.txt below the project
	reading    features.Reading          // how the list is read
	dispatcher Dispatcher                // they run the sessions; nil: those run here

	proving  *batch     // nil: no checks run
	queue    queue      // how much work is tested together
	broken   int        // how many tests in a row were not possible
	unread   time.Time  // since when the list cannot be used; zero: it can
	away     bool       // with unread: another branch than the loop's is checked out
	lastStep *loop.Step // with which the loop has ended; nil: it goes on, or next finds out

	reachedLimit runLimit // the money or the tokens that are used up, so no session begins; zero: none are

	messages     chan laneMessage
	checks       context.Context // of checks, and of all sessions
	stop         context.CancelFunc
	sessions     context.Context // of all sessions
	stopSessions context.CancelFunc
}

// lane is a place for the work on one feature. There are twice as many as sessions that run at once: while the work of
// one is tested, another one begins.
type lane struct {
	*record.Lane
	stage     stage
	work      worktree.Work // to be tested
	outcome   outcome       // with tested
	retryAt   time.Time     // when it asks for work again; zero: at once
	why       string        // with again: for what it waits
	overloads int           // sessions in a row that met an overload
	unmade    int           // how often its folder could not be prepared since one was

	offered bool // with busy: no worker has its session
}

// stage is what a lane does.
type stage int

const (
	free   stage = iota // it has no session
	busy                // its session runs
	ended               // its session has ended, and nobody has looked at it
	queued              // its work is to be tested, or is tested now
	tested              // the loop is to hear what became of it
)

// laneMessage is what another goroutine tells: the session of a lane has started, was claimed or has ended, or checks
// have ended.
type laneMessage struct {
	lane   *lane
	pid    int
	claim  *claimMessage  // nil: it is about something else
	result *SessionResult // nil: it has not
	batch  *batch         // nil: it is about a lane
}

// workLanes works on the loop until it ends, or ctx does.
func (r *Run) workLanes(ctx context.Context) (*loop.Step, error) {
	l, err := r.openLanes(ctx)
	if err != nil {
		return nil, r.restorePrevious(err)
	}
	defer l.repo.Close()
	s, err := r.begin(ctx)
	if err != nil {
		l.tidy(context.WithoutCancel(ctx))
		return nil, r.restorePrevious(err)
	}
	err = l.dropJoined(ctx)
	if err == nil && goesOn(s) && r.Engine != nil {
		l.dispatcher, err = r.Engine(ctx)
		if err == nil {
			defer l.dispatcher.Close()
		} else {
			s, err = l.interrupt(ctx, l.ends("the engine cannot be opened: "+err.Error()))
		}
	}
	if err == nil && goesOn(s) {
		s, err = l.goOn(s)
	}
	for err == nil && goesOn(s) {
		s, err = l.next(ctx, s)
	}
	l.halt()
	if err != nil { // nothing can go on
		told, lost := l.interrupt(ctx, l.ends(plain.Line(err.Error(), 500)))
		if lost != nil {
			return nil, err
		}
		s = told
	}
	l.finish(ctx, s)
	return s, nil
}

// restorePrevious puts the record of the run before back: that one can be resumed, and this one cannot.
func (r *Run) restorePrevious(err error) error {
	if r.previous != nil {
		err = errors.Join(err, r.previous.Save(r.store))
	}
	return err
}

// goOn takes up the sessions that a run which was killed has not counted yet.
func (l *lanes) goOn(s *loop.Step) (*loop.Step, error) {
	state := s.Decision.Next
	for i := range l.Record.Workspaces {
		l.Record.Workspaces[i].WaitReason = ""
	}
	for _, one := range l.all {
		c := one.Current
		if c == nil {
			continue
		}
		isCounted := isCounted(one.Lane, state.Lanes)
		if !c.HasEnded() && c.Claim != nil && l.dispatcher != nil {
			if !isCounted {
				continue // the lane goes on with it when it has its feature again
			}
			l.dispatcher.Leave(c.Feature)
		}
		l.notEnded(c)
		switch {
		case isCounted:
			if err := l.countSession(c, nil, state); err != nil {
				return nil, err
			}
		case !c.Class().Counts():
			l.drop(one)
		default:
			one.stage = ended
		}
	}
	return s, l.save()
}

// isCounted reports whether the loop has counted the session of a lane: then its record has another iteration for that
// lane, or none. A loop that has ended has forgotten its lanes, and has not counted work that waited to be tested.
func isCounted(one *record.Lane, inLoop []decide.Lane) bool {
	if len(inLoop) == 0 {
		return !one.Open || !one.Current.HasEnded() || one.Current.Merge != ""
	}
	n := one.Number - 1
	return n >= len(inLoop) || inLoop[n].Iteration != one.Current.Iteration
}

// next does what is due, and gives work to the lanes that have none. Else it waits until something happens.
func (l *lanes) next(ctx context.Context, s *loop.Step) (*loop.Step, error) {
	if l.lastStep != nil {
		return l.lastStep, nil
	}
	if ctx.Err() != nil {
		l.halt()
		return l.interrupt(ctx, l.ends(""))
	}
	if l.stopped() {
		switch {
		case l.proving != nil || l.in(busy) > 0:
		case l.store.HasStopRequest(): // the step does what a person has asked
			return l.interrupt(ctx, l.ends(""))
		default:
			return l.lookAt()
		}
		return l.listen(ctx, s)
	}
	if !l.listReady(ctx) {
		return l.listen(ctx, s)
	}
	for _, one := range l.all {
		done, err := l.settle(ctx, one)
		if err != nil || done != nil && !goesOn(done) {
			return done, err
		}
	}
	if err := l.test(ctx); err != nil {
		return nil, err
	}
	for _, alone := range []bool{false, true} {
		asked, err := l.askAll(ctx, alone)
		if err != nil || asked != nil {
			return asked, err
		}
		if l.proving != nil || l.in(busy, ended, queued, tested) > 0 {
			return l.listen(ctx, s)
		}
	}
	first := l.earliest()
	if first == nil && !l.listReady(ctx) { // somebody has changed it a moment ago
		return l.listen(ctx, s)
	}
	if first == nil {
		return nil, errors.New("no lane has work, and the loop goes on; this is a bug")
	}
	if l.pastDeadline(s, first.retryAt) {
		l.halt()
		return l.interrupt(ctx, l.fails(decide.RateLimit, first.why, first.retryAt))
	}
	l.wait(ctx, first.retryAt, first.why)
	return s, nil
}

// askAll asks for work for each lane that has no session. The step is that with which the loop ends; nil: it goes on.
func (l *lanes) askAll(ctx context.Context, alone bool) (*loop.Step, error) {
	all, own := l.inTurn()
	for i, one := range all {
		select { // it can take a while to make a folder
		case h := <-l.messages:
			if err := l.hear(ctx, h); err != nil {
				return nil, err
			}
		default:
		}
		if l.in(busy) >= l.Record.Options.Workers {
			return nil, nil
		}
		if one.stage != free || time.Now().Before(one.retryAt) || l.waitsForOthers(one) {
			continue
		}
		s, err := l.ask(ctx, one, alone)
		if err != nil || s != nil && !goesOn(s) || s == nil && i >= own { // those that follow would get nothing either
			return s, err
		}
	}
	return nil, nil
}

// inTurn returns the lanes that have work or a feature first, and how many those are: what they have no other lane
// gets, and a lane that has neither takes what is left.
func (l *lanes) inTurn() (all []*lane, own int) {
	state, _ := l.store.State() // without it the step says so
	for _, one := range l.all {
		if one.Open || one.Number <= len(state.Lanes) && state.Lanes[one.Number-1].Feature != "" {
			all = slices.Insert(all, own, one)
			own++
		} else {
			all = append(all, one)
		}
	}
	return all, own
}

// ask asks the loop for a feature for a lane, and begins a session with it. The step is nil if there is none for now.
// alone: until one has begun a session, no other lane does before this one, so what they have does not count.
func (l *lanes) ask(ctx context.Context, one *lane, alone bool) (*loop.Step, error) {
	one.retryAt = time.Time{}
	ev := l.stopEvent(nil, l.limit(nil, l.in(busy, ended, queued, tested)))
	ev.Decide = l.turn(&ev, one).decide
	ev.NoSession = true
	if alone && l.in(busy) == 0 {
		ev.OthersWork = false
	}
	s, err := l.tell(ctx, ev)
	if err != nil {
		return nil, err
	}
	switch d := &s.Decision; d.Verdict {
	case decide.Continue:
		return l.start(ctx, one, s)
	case decide.Wait:
		one.rest(d.Next.RetryAt, "the loop has used its iterations for this hour")
		return nil, nil
	case decide.Pass:
		return nil, nil
	}
	return s, nil
}

// tell takes a step of the loop. If no other lane works, it may look at what is merged, so the merger's folder gets
// that.
func (l *lanes) tell(ctx context.Context, ev loop.Event) (*loop.Step, error) {
	if merged := l.Record.Merges.Commit; !ev.OthersWork && l.proving == nil && l.at != merged {
		if err := l.merger.Reset(ctx, merged); err != nil {
			return nil, err
		}
		l.at = merged
	}
	s, err := l.mustStep(ctx, ev)
	if err != nil {
		return nil, err
	}
	if l.proving == nil { // else its checks are looked at when they are over
		l.noteDurations(s.Picture.Snapshot.Results)
	}
	for _, r := range s.Picture.Snapshot.Results { // the loop has reopened such a feature, and it is merged once more
		if !r.Passed && !r.NotRun {
			delete(l.Record.Merges.Done, r.Feature)
		}
	}
	return s, nil
}

// stopAtBudget stops all sessions if one has used up the money or the tokens of the run, since they cost more. What has
// ended is paid for, so it is tested and merged.
func (l *lanes) stopAtBudget(c *record.Current) {
	used := l.Run.limit(c, 0)
	if used.reason == decide.Budget {
		l.reachedLimit = used
		l.stopSessions()
	}
}

// limit is Run.limit, or the money or the tokens that are used up.
func (l *lanes) limit(c *record.Current, more int) runLimit {
	limit := l.Run.limit(c, more)
	if l.reachedLimit.reason != "" && limit.reason != decide.Budget {
		return l.reachedLimit
	}
	return limit
}

// turn returns the turn of a lane, and says in its event whether others work. A lane with work that is not merged goes
// on with it, also if it has no session now.
func (l *lanes) turn(ev *loop.Event, one *lane) turn {
	for _, other := range l.all {
		if other != one && (other.stage != free || other.Open) {
			ev.OthersWork = true
		}
	}
	return turn{
		lane: one.Number, lanes: len(l.all), patient: l.unread.IsZero() || time.Since(l.unread) <= l.patience(),
		later: l.later(one), branches: l.Record.WaitingBranches(),
	}
}

// rest keeps a lane from asking for work until a time.
func (one *lane) rest(until time.Time, why string) {
	one.retryAt = until
	one.why = why
}

// in returns how many lanes are in one of some stages.
func (l *lanes) in(stages ...stage) (n int) {
	for _, one := range l.all {
		if slices.Contains(stages, one.stage) {
			n++
		}
	}
	return n
}

// earliest returns the first lane that asks for work again; nil: none waits for that.
func (l *lanes) earliest() (first *lane) {
	for _, one := range l.all {
		if !one.retryAt.IsZero() && (first == nil || one.retryAt.Before(first.retryAt)) {
			first = one
		}
	}
	return first
}

// listen waits until a session or checks have ended, or a person stops the loop. last is the last step.
func (l *lanes) listen(ctx context.Context, last *loop.Step) (*loop.Step, error) {
	l.noteWorkers()
	select {
	case h := <-l.messages:
		return last, l.hear(ctx, h)
	case <-ctx.Done():
	case <-time.After(nap):
		if l.cancelled() {
			l.stop()
		}
		l.person.bringAgain(ctx)
	}
	return last, nil
}

// noteWorkers notes in the record if the run can only wait for a worker: none has any of its sessions.
func (l *lanes) noteWorkers() {
	works := func(one *lane) bool { return one.stage == busy && !one.offered }
	waits := l.in(busy) > 0 && l.proving == nil && !slices.ContainsFunc(l.all, works)
	if waits == (l.Record.Waiting != nil) {
		return
	}
	l.Record.Waiting = nil
	if waits {
		until := time.Now().Add(l.Record.Options.Wait).UTC()
		l.Record.Waiting = &record.Waiting{Until: until, Why: "no worker has a session", Worker: true}
	}
	_ = l.save() // a later save says so if it fails
}

// hear takes what another goroutine tells.
func (l *lanes) hear(ctx context.Context, h laneMessage) error {
	one := h.lane
	switch {
	case h.batch != nil:
		return l.judge(ctx, h.batch)
	case h.claim != nil:
		h.claim.saved <- l.recordClaim(one, h.claim.claim)
		return nil
	case h.result == nil:
		one.Current.PID, one.Current.Start = h.pid, proc.Start(h.pid)
		_ = l.Record.Save(l.store) // a later save says so if it fails
		return nil
	}
	one.stage = free
	c, e := one.Current, h.result.Result
	c.Worker, c.Machine = h.result.Worker, h.result.Machine
	l.endSession(c, *h.result)
	l.stopAtBudget(c)
	stopped := e.Class == agent.Stopped || ctx.Err() != nil && e.Class != agent.Done
	until, why, class := l.retry(c, e, one.overloads)
	if class == "" && !stopped {
		one.overloads = 0
		one.stage = ended
		return nil
	}
	l.drop(one)
	if e.Class == agent.Transient {
		one.overloads++
	}
	switch {
	case stopped:
	case until.IsZero():
		l.halt()
		var err error
		l.lastStep, err = l.interrupt(ctx, l.fails(class, why, e.Until))
		return err
	case until.After(time.Now()):
		one.rest(until, why)
		l.Screen.Wait(until, why)
	}
	return l.save()
}

// endSession notes how a session ended. When that is saved, its worker need not keep what it has done any more.
func (l *lanes) endSession(c *record.Current, w SessionResult) {
	if err := l.recordEnd(c, w.Result); err == nil && w.Confirm != nil {
		w.Confirm()
	}
}

// recordClaim saves that a worker has a session; nil: that none has it. If another one had it before, it begins once
// more.
func (l *lanes) recordClaim(one *lane, claim *record.Claim) error {
	c := one.Current
	c.Claim = claim
	one.offered = claim == nil
	if claim != nil {
		if c.Number == 0 {
			l.begins(c, claim.Since)
		}
		c.StartedAt = claim.Since.UTC()
	}
	err := l.save()
	if err != nil {
		c.Claim = nil
		one.offered = true
	}
	return err
}

// drop forgets a session that does not count. What it did stays in its folder.
func (l *lanes) drop(one *lane) {
	if one.Current.Number > 0 { // else it was only offered
		l.takeNotes(one)
		one.Refusal = cmp.Or(one.Refusal, "the session before yours was cut off, so a part may be half done")
	}
	l.dropSession(one.Current)
}

// settle takes a lane one stage further whose session has ended, or whose work is tested. The step is nil if the loop
// has not heard of it.
func (l *lanes) settle(ctx context.Context, one *lane) (*loop.Step, error) {
	if one.stage == ended {
		l.takeNotes(one)
		l.submit(ctx, one)
	}
	if one.stage != tested {
		return nil, nil
	}
	c, done := one.Current, one.outcome
	ev := l.stopEvent(c, l.limit(c, 1+l.in(busy, ended, queued)))
	one.stage = free
	t := l.turn(&ev, one)
	t.newWork, t.worker = done.moved, c.Worker
	ev.Refused, ev.CheckFailed, ev.Decide = done.refused, done.failed, t.decide
	if !done.refused && done.tip == l.Record.Merges.Commit && len(done.results) > 0 {
		ev.Results, ev.Contents = done.results, done.results[0].Tree
		done.results = nil
	}
	s, err := l.tell(ctx, ev)
	if err != nil {
		return nil, err
	}
	d, snap := &s.Decision, &s.Picture.Snapshot
	snap.Results = slices.Concat(done.results, snap.Results)
	if d.Verdict == decide.Pass && t.patient && unusable(snap) != nil {
		one.stage = tested
		return nil, nil
	}
	one.outcome = outcome{}
	if d.Verdict == decide.Pass { // a person stopped the loop: it is counted when the run goes on
		return s, l.save()
	}
	if c.Worker != "" && l.dispatcher != nil {
		worked := SessionResult{Result: agent.Result{Took: c.Took()}, Worker: c.Worker, Machine: c.Machine}
		l.dispatcher.Judge(worked, c.Merge == record.Merged)
	}
	l.Record.Forget(c)
	if d.Verdict != decide.End || d.Next.Status.Judges() {
		if err := l.countSession(c, s, d.Next); err != nil {
			return nil, err
		}
	}
	if d.Verdict == decide.Wait && d.Next.RetryAt.After(time.Now()) {
		one.rest(d.Next.RetryAt, "the loop has used its iterations for this hour")
	}
	if d.Verdict == decide.Continue && l.in(busy) < l.Record.Options.Workers && !l.waitsForOthers(one) {
		return l.start(ctx, one, s) // else it asks when the others are done
	}
	return s, nil
}

// halt stops all sessions and checks, and waits for their ends. They do not count, and their work stays where it is.
func (l *lanes) halt() {
	l.stop()
	for l.proving != nil || l.in(busy) > 0 {
		h := <-l.messages
		switch {
		case h.batch != nil:
			l.proving = nil
			l.at = ""
		case h.claim != nil:
			h.claim.saved <- l.recordClaim(h.lane, h.claim.claim)
		case h.result != nil:
			h.lane.stage = free
			l.endSession(h.lane.Current, *h.result)
			l.drop(h.lane)
		}
	}
	_ = l.save() // the end of the run saves it again
}

// later returns the features that a lane must not begin now: another lane has work on them that is to be tested, or
// others work on files in which they were in conflict.
func (l *lanes) later(one *lane) map[string]bool {
	all := map[string]bool{}
	for _, other := range l.all {
		if other != one && other.Open && (other.stage != free || l.waitsForOthers(other)) {
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
			if others := other.Touched[file]; other != one && other.stage != free && others > 0 && times+others > 2 {
				return true
			}
		}
	}
	return false
}
