package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Run is a run that works a loop.
type Run struct {
	Env    loop.Env
	At     *loopdir.Loop
	Rows   Rows
	Record record.Run
	Screen Screen
	Kill   <-chan struct{} // closed: the agent is killed, and not asked to end first; nothing waits for a notifier

	// Engine opens what runs the sessions of lanes, once the run has begun; nil: those run here.
	Engine func(ctx context.Context) (Dispatcher, error)

	// Resume says that a person wants the loop to go on, also if it is paused or has ended.
	Resume bool
	// Revived says that this has put the loop back to work.
	Revived bool
	// More raises the loop's limits before it goes on; nil: they stay.
	More func(*loop.Picture, *decide.State) (said string, err error)

	// Switch: a person has just named the branch of the run, so the run checks it out.
	Switch bool

	// Report writes the report of the loop in the folder dir as a file of that name; nil: there are no reports.
	Report func(dir, name string) error

	workTree     string      // that of the loop's steps; "": the project
	resumes      bool        // the record is that of a run that goes on
	previous     *record.Run // the last run over the loop, if this is a new one; nil: there was none
	store        *loopdir.Store
	files        *record.Files // for people
	pattern      pattern       // what else the agent writes when all is done
	tooLong      int           // sessions in a row whose prompt was too long
	waited       patience      // with providers
	noPrice      string        // the last model of which it was said that its price is not known
	otherBranch  string        // the branch that was checked out when that was looked at last
	notedPromise bool          // it was said that a marker in an answer does not count
	cutOff       bool          // a second signal came while an ending was told
}

// Rows are the agents that may work in a run, by their names.
type Rows map[string]agent.Row

// stepTime is how long a step may take, with its checks and notifiers. Each has a timeout of its own.
const stepTime = 24 * time.Hour

// New returns a run over a loop that nobody works. c is nil if one agent works it.
func New(env loop.Env, at *loopdir.Loop, rows Rows, o record.Options, c *record.Chain) *Run {
	now := time.Now().UTC()
	return &Run{Env: env, At: at, Rows: rows, Record: record.Run{
		Schema: record.Schema, ID: record.NewID(), Loop: at.Dir, Name: at.Name, Options: o, StartedAt: now,
		Status: decide.InProgress, Chain: c,
	}}
}

// ErrNoRun means that a loop has had no run.
var ErrNoRun = errors.New("the loop has had no run")

// Resume returns the last run over a loop, which goes on. find returns the agents, and may change what is asked of the
// run. The error is ErrNoRun if there was none.
func Resume(env loop.Env, at *loopdir.Loop, find func(*record.Run) (Rows, error)) (*Run, error) {
	store, err := at.Open()
	if err != nil {
		return nil, err
	}
	defer store.Close()
	rec, err := record.Load(store)
	if err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, ErrNoRun
	}
	rows, err := find(rec)
	r := &Run{Env: env, At: at, Rows: rows, Record: *rec, resumes: true}
	if l := r.limit(nil, 0); l.reason != "" {
		err = fmt.Errorf("the run has %s; to give it more: %s", l.bill, r.withMore(l.raise))
	}
	return r, err
}

// withMore returns the command that continues the run with a limit of its own raised, and what the loop has used up.
func (r *Run) withMore(raise string) string {
	p, done, err := r.look()
	if err != nil {
		return say.ResumeRun(r.At.Name) + " " + raise
	}
	defer done()
	state := p.Snapshot.Record()
	state.Raise = raise
	return say.ResumeRunWith(p, state)
}

// Work works on the loop until it ends, or ctx does, and returns the loop's record. An error means that the run could
// not begin, or that the record could not be written.
func (r *Run) Work(ctx context.Context) (decide.State, error) {
	unlock, err := r.acquire()
	if errors.As(err, new(BusyError)) && r.More == nil {
		// The run that works on the loop goes on with it, if it was only paused.
		err = cmp.Or(r.revive(ctx), err)
	}
	if err != nil {
		return decide.State{}, err
	}
	defer unlock()
	defer r.store.Close()
	defer func() { r.files.Close() }()
	r.Env.Say = r.Screen.Warn
	step, err := r.work(ctx)
	if err != nil {
		return decide.State{}, err
	}
	return step.Decision.Next, r.end(step)
}

func (r *Run) work(ctx context.Context) (*loop.Step, error) {
	r.Record.PID, r.Record.Start = os.Getpid(), proc.Start(os.Getpid())
	if err := r.mayBegin(ctx); err != nil {
		return nil, err
	}
	if r.Record.Options.Workers > 0 {
		return r.workLanes(ctx)
	}
	step, err := r.begin(ctx)
	for err == nil && goesOn(step) {
		step, err = r.next(ctx, step)
		if err != nil {
			err = fmt.Errorf("%w; when that is fixed, go on with: %s", err, say.ResumeRun(r.At.Name))
		}
	}
	return step, err
}

// mayBegin refuses a run that would not get its loop. Then it brings the project onto the run's branch. Until then
// nothing is changed.
func (r *Run) mayBegin(ctx context.Context) error {
	l, err := loop.Find(r.env(), r.taking())
	if err == nil && l == nil {
		err = r.unworkableError()
	}
	if err != nil {
		return err
	}
	defer l.Close()
	p, err := l.Read(r.taking())
	if err != nil {
		return err
	}
	switch state := p.Snapshot.State; {
	case r.revives(state):
		err := p.Revive(ctx, r.giveMore)
		switch {
		case err != nil && r.opensPRAgain(state):
			return nil
		case err != nil && state.Status == decide.Complete:
			again, _ := l.RetryNotifiers(ctx) // what cannot be told now stays in the record
			if again {
				return ErrNotifiersRetried
			}
			return r.notRevived(state, err)
		case err != nil:
			return r.notRevived(state, err)
		}
	case r.finishes(state):
		return nil
	}
	d, _ := decide.Decide(p.Snapshot)
	if d.Binding == decide.Tell {
		return say.Refused(p, d)
	}
	return r.ontoBranch(ctx, p)
}

// ErrNotifiersRetried means that nothing was left of a run but notifiers that had failed, and that they were told
// again.
var ErrNotifiersRetried = errors.New("ran the notifiers again that had failed; nothing else was left")

// acquire makes this process the only one that works a run over the loop.
func (r *Run) acquire() (unlock func(), err error) {
	r.store, err = r.At.Open()
	if err != nil {
		return nil, err
	}
	unlock, err = r.store.LockRun(loop.LockWait)
	if errors.Is(err, loopdir.ErrLocked) {
		err = r.busyError()
	}
	if err == nil {
		err = r.ready()
		if err != nil {
			unlock()
		}
	}
	if err != nil {
		r.store.Close()
	}
	return unlock, err
}

// ready prepares the run under its lock.
func (r *Run) ready() error {
	record.SweepFiles(r.At.Project) // also for a run that is refused: nobody else may come
	last, err := record.Load(r.store)
	if !r.resumes && err != nil { // a new run needs no record of the last one
		r.Screen.Warn(err.Error())
		last, err = nil, nil
	}
	if err != nil {
		return err
	}
	if r.resumes { // another process may have worked the run since its record was read
		if last == nil || last.ID != r.Record.ID {
			return fmt.Errorf("another run of the loop %s was started; to continue that one: %s",
				plain.Line(r.At.Name, 100), say.ResumeRun(r.At.Name))
		}
		last.TakeOver(r.Record)
		r.Record = *last
	}
	if last != nil {
		for _, c := range last.AllCurrent() {
			if err := waitForAgent(c); err != nil {
				return err
			}
		}
	}
	if !r.resumes && last != nil {
		r.previous = last
		r.noteUnmerged()
	}
	err = record.CheckSignals(r.Record.Options.CompleteOn) // an agent may have written the record
	if err != nil {
		return err
	}
	r.pattern, err = compile(r.Record.Options.Pattern)
	return err
}

// noteUnmerged notes the branches of the run before with work that nobody has merged.
func (r *Run) noteUnmerged() {
	r.Record.Unmerged = slices.DeleteFunc(r.previous.Branches(), func(b record.Branch) bool {
		tidies := b.Commit != "" && r.Record.Options.Workers > 0 // see dropJoined
		return !tidies && !r.lacks(b)
	})
}

// lacks reports whether the branch for which the work on another one is lacks some. If the loop cannot be read, it may.
func (r *Run) lacks(b record.Branch) bool {
	p, done, err := r.look()
	if err != nil {
		return true
	}
	defer done()
	return p.Lacks(b.Into, "refs/heads/"+b.Name)
}

// openFiles opens the files for people, which a run that is refused does not have.
func (r *Run) openFiles() (err error) {
	if r.files == nil {
		r.files, err = record.OpenFiles(r.At.Project, r.Record.ID)
	}
	if err == nil {
		r.files.EarlierSessions = r.Record.Sessions
	}
	return err
}

// BusyError is the error of Work while another run works on the loop.
type BusyError string

func (t BusyError) Error() string { return string(t) }

// busyError says who works on the loop.
func (r *Run) busyError() error {
	name := plain.Line(r.At.Name, 100)
	other, err := record.Load(r.store)
	if err != nil || other == nil {
		return BusyError("another run works on the loop " + name)
	}
	return BusyError(fmt.Sprintf("run %s works on the loop %s: process %d, since %s; to end it, press Ctrl-C there, "+
		"or: %s", other.ID, name, other.PID, say.Clock(other.StartedAt), r.Env.Call("cancel", r.At.Name)))
}

// begin takes the loop, and finishes what a run that was killed has left.
func (r *Run) begin(ctx context.Context) (*loop.Step, error) {
	if err := r.openFiles(); err != nil {
		return nil, err
	}
	if r.previous != nil {
		if err := r.publishLanes(ctx, r.previous); err != nil {
			r.Screen.Warn(fmt.Sprintf("the work of lanes of run %s stays where it is: %v", r.previous.ID, err))
		}
		r.noteUnmerged()
	}
	for _, c := range r.Record.AllCurrent() {
		if c.Number == 0 { // no worker is known to have taken it
			r.Record.Forget(c)
		}
	}
	if err := r.beginCommits(ctx); err != nil {
		return nil, err
	}
	pending := r.pendingSession()
	if err := r.revive(ctx); err != nil {
		return nil, err
	}
	if step, err := r.finalStep(ctx); step != nil || err != nil {
		return step, err
	}
	r.noteFiles(false)
	state, err := r.store.State()
	if err != nil {
		return nil, err
	}
	unread := r.Record.Options.Workers > 0 || pending != nil && pending.Iteration == state.Iteration
	step, err := r.take(ctx, unread)
	if err != nil {
		return nil, err
	}
	r.Record.Status, r.Record.EndedAt = decide.InProgress, time.Time{}
	if err := r.save(); err != nil {
		return nil, err
	}
	r.announce(step)
	r.commitDone(ctx, step)
	r.stepBegins()
	if pending == nil {
		return step, nil
	}
	if step.Decision.Next.Iteration > pending.Iteration { // the loop counted it
		return step, r.countSession(pending, nil, step.Decision.Next)
	}
	if !pending.Class().Counts() {
		r.dropSession(pending)
		return step, nil
	}
	return r.stop(ctx)
}

// announce says that the run begins.
func (r *Run) announce(s *loop.Step) {
	r.Screen.Begin(r.Record)
	if err := r.files.Trouble; err != nil {
		r.Screen.Warn(fmt.Sprintf("%s cannot be written, so there are no logs of this run: %v", record.Folder, err))
	}
}

// pendingSession returns the session that is to be counted yet, nil for none. It notes the end of one that does not
// count. The loop may have counted a session whose end the record of the run does not have: then that could not be
// saved.
func (r *Run) pendingSession() *record.Current {
	c := r.Record.Current
	if c == nil {
		return nil
	}
	unsure := !c.HasEnded()
	r.notEnded(c)
	state, err := r.store.State()
	if c.Class().Counts() || unsure && err == nil && state.Session == r.Record.Session() {
		return c
	}
	r.dropSession(c)
	return nil
}

// notEnded notes an end of a session whose end is not recorded. It has used at least what it says in its log. An agent
// can write there, as it can write into the output of its client.
func (r *Run) notEnded(c *record.Current) {
	if !c.HasEnded() {
		const why = "its end is not recorded: the run was killed, or could not write"
		e := agent.Result{Outcome: agent.Outcome{Class: agent.Stopped, Problem: why}, ExitCode: -1}
		log := record.SessionLog(r.At.Project, r.Record.ID, c.Number, record.MaxLogs)
		e.Usage, e.Activity.Model = r.rowOf(c).UsageIn(log, c.Model)
		c.End(e)
		r.spends(c, e)
		r.noteFiles(true)
	}
}

// writeOff notes that nobody will hear of the end of a session.
func (r *Run) writeOff(c *record.Current) {
	r.notEnded(c)
	r.dropSession(c)
}

// dropSession notes a session that does not count.
func (r *Run) dropSession(c *record.Current) {
	r.files.Session(&r.Record, c, nil, false)
	r.Record.Forget(c)
}

// finishes reports whether the run only has to finish what it could not: it was killed after its loop had ended, or the
// command for its pull request failed.
func (r *Run) finishes(state decide.State) bool {
	unfinished := r.Record.EndedAt.IsZero() || r.Record.Merges.Failed != ""
	return state.Session == r.Record.Session() && unfinished && state.Status.Judges()
}

// finalStep returns the last step of a run that only has to finish what it could not, nil if the loop goes on. The end
// of the run tells of the ending if nobody did.
func (r *Run) finalStep(ctx context.Context) (*loop.Step, error) {
	step, err := r.lookAt()
	if err != nil {
		return nil, err
	}
	state := step.Decision.From
	if !r.finishes(state) {
		return nil, nil
	}
	r.commitDone(ctx, step)
	for _, c := range r.Record.AllCurrent() {
		r.notEnded(c)
		if c.Lane > 0 && !c.Class().Counts() { // the loop ended with the session of another lane
			r.dropSession(c)
		} else if err := r.countSession(c, nil, state); err != nil {
			return nil, err
		}
	}
	return step, nil
}

// waitForAgent waits for the agent of a run that was killed: its guard kills it.
func waitForAgent(c *record.Current) error {
	if c == nil || c.PID == 0 || !proc.Known(c.Start) {
		return nil
	}
	for end := time.Now().Add(10 * time.Second); proc.Alive(c.PID, c.Start); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("the agent of session %d still runs: process %d; end it, then repeat this", c.Number, c.PID)
		}
	}
	return nil
}

// take makes the run the loop's owner, as a session with the loop's prompt becomes it. If the prompt is unread, a
// person's note waits for the next one.
func (r *Run) take(ctx context.Context, unread bool) (*loop.Step, error) {
	ev := r.taking()
	ev.NoSession = unread
	step, err := r.step(ctx, ev)
	switch {
	case err != nil:
		return nil, err
	case step == nil:
		return nil, r.unworkableError()
	case step.Decision.Binding == decide.Tell:
		return nil, say.Refused(step.Picture, step.Decision)
	}
	return step, nil
}

func (r *Run) unworkableError() error {
	return fmt.Errorf("the loop %s cannot be worked from here", plain.Line(r.At.Name, 100))
}

// taking returns the event with which the run takes the loop.
func (r *Run) taking() loop.Event {
	ev := r.event(decide.EventPrompt)
	ev.Prompt = r.At.Marker()
	return ev
}

// event returns an event of the run for the loop.
func (r *Run) event(kind decide.Event) loop.Event {
	return loop.Event{
		Report: decide.Report{Event: kind, Session: r.Record.Session(), Client: os.Getpid(), FreshSession: true},
		Name:   "Session", At: time.Now(), Timeout: stepTime,
		Tail:     func(now time.Time) decide.Tail { return decide.Tail{ToolCall: now, Context: -1} },
		WorkTree: r.workTree,
	}
}

// env returns the environment of the loop's steps.
func (r *Run) env() loop.Env {
	env := r.Env
	env.LoopDir = ""
	env.Cwd = r.At.Project
	env.ProjectDir = "" // the loop is found by the run's own name
	env.Agent = r.Record.Options.Agent
	env.PR = r.Record.Merges.PR
	env.OnComplete = cmp.Or(r.Record.Options.OnComplete, env.OnComplete)
	env.Report = r.reportPath()
	if !r.Record.Merges.Joined { // else the checks of the whole loop prove it, and it is brought to the person's branch
		env.ToMerge = plain.Line(strings.Join(r.Record.ToMerge(), "; "), 500)
	}
	return env
}

// step takes a step of the loop. A step that has begun is finished, whatever happens to ctx.
func (r *Run) step(ctx context.Context, ev loop.Event) (*loop.Step, error) {
	l, err := loop.Find(r.env(), ev)
	if l == nil {
		return nil, err
	}
	defer l.Close()
	var step *loop.Step
	if err == nil {
		l.SendPending()
		step, err = l.Step(ctx, ev)
	}
	if err != nil {
		if notify := l.GiveUp(context.WithoutCancel(ctx), ev, err); notify != nil {
			notify()
		}
		return nil, err
	}
	if step.Decision.Commits() {
		if step.Decision.Binding != decide.Take { // else begin does it
			r.commitDone(context.WithoutCancel(ctx), step)
		}
		l.Env.Uncommitted = r.Record.Uncommitted()
		r.reports(step)
		if r.tellsLater(step) {
			return step, nil
		}
		l.Env.Catch = r.untilKilled
		l.Notify(context.WithoutCancel(ctx), ev, step)
		r.cutOff = r.killed() && l.Untold() > 0
	}
	return step, nil
}

// untilKilled is Env.Catch for what tells an ending: only the second signal ends it, or a later one. Cut off by the
// first, it would be told twice.
func (r *Run) untilKilled(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.killed() {
		return r.Env.Catch(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-r.Kill:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// killed reports whether a second signal has come.
func (r *Run) killed() bool {
	select {
	case <-r.Kill:
		return true
	default:
		return false
	}
}

// goesOn reports whether the loop has more to do after a step. A person who pauses or cancels it makes the run
// a bystander, so the step passes.
func goesOn(s *loop.Step) bool {
	d := &s.Decision
	return d.Binding == decide.Take || d.Verdict == decide.Continue || d.Verdict == decide.Wait
}

// next does what a step asks for: it waits, or works an iteration.
func (r *Run) next(ctx context.Context, s *loop.Step) (*loop.Step, error) {
	if ctx.Err() != nil {
		return r.interrupt(ctx, r.ends(""))
	}
	if d := &s.Decision; d.Verdict == decide.Wait {
		r.wait(ctx, d.Next.RetryAt, "the loop has used its iterations for this hour")
		if ctx.Err() != nil {
			return r.interrupt(ctx, r.ends(""))
		}
		return r.stop(ctx)
	}
	ev, counts := r.round(ctx, s)
	if !counts {
		return r.interrupt(ctx, ev)
	}
	return r.stop(ctx)
}

// interrupt tells the loop that the run ends before it.
func (r *Run) interrupt(ctx context.Context, ev loop.Event) (*loop.Step, error) {
	return r.mustStep(context.WithoutCancel(ctx), ev)
}

// mustStep takes a step of a loop that must be there.
func (r *Run) mustStep(ctx context.Context, ev loop.Event) (*loop.Step, error) {
	s, err := r.step(ctx, ev)
	if err == nil && s == nil {
		err = errNoLoop
	}
	return s, err
}

var errNoLoop = errors.New("the loop is gone")

// stop tells the loop that a session has ended, and counts the session. If a person stopped the loop meanwhile, or ctx
// ended, nothing was decided: then the session is counted when the run goes on.
func (r *Run) stop(ctx context.Context) (*loop.Step, error) {
	if err := r.judge(ctx); err != nil {
		return nil, err
	}
	if c := r.Record.Current; ctx.Err() != nil && r.Record.Step() != nil && c != nil && c.Part == nil {
		return r.interrupt(ctx, r.ends(""))
	}
	ev := r.stopEvent(r.Record.Current, r.limit(r.Record.Current, 1))
	s, err := r.mustStep(ctx, ev)
	if err != nil {
		return nil, err
	}
	if s.Decision.Verdict == decide.Pass && ctx.Err() != nil { // cut off: nothing was decided
		return r.interrupt(ctx, r.ends(""))
	}
	d := &s.Decision
	if r.Record.Current != nil && (d.Verdict == decide.Continue || d.Verdict == decide.End && d.Next.Status.Judges()) {
		err = r.countSession(r.Record.Current, s, d.Next)
	}
	return s, err
}

// save writes the record of the run, and its copy for people.
func (r *Run) save() error {
	data, err := r.Record.Encode()
	if err == nil {
		err = r.store.SaveRun(data)
	}
	if err != nil {
		return fmt.Errorf("cannot save the run's record: %w", err)
	}
	r.files.Copy("run-"+r.Record.ID+".json", data)
	if r.Record.Chain != nil {
		r.files.JSON("chain-"+r.Record.ID+".json", r.Record.ChainFile())
	}
	return nil
}

// lookAt reads the loop, as a step that decides nothing.
func (r *Run) lookAt() (*loop.Step, error) {
	p, done, err := r.look()
	if err != nil {
		return nil, err
	}
	defer done()
	d := decide.Decision{Next: p.Snapshot.Record(), From: p.Snapshot.State}
	d.Limit = d.Next.Limit(p.Snapshot.Limits)
	if !d.Next.Status.GoesOn() {
		d.Verdict = decide.End
	}
	if d.Next.Status == decide.Handover {
		d.Next.Iteration++ // it is in the next one that the loop goes on
	}
	return &loop.Step{Picture: p, Decision: d}, nil
}

// Preview says what the next session would be, and starts nothing.
func (r *Run) Preview() (string, error) {
	s, err := r.lookAt()
	if err != nil {
		return "", err
	}
	if err := r.giveMore(s.Picture, &s.Decision.Next); err != nil {
		return "", err
	}
	s.Decision.Limit = s.Decision.Next.Limit(s.Picture.Snapshot.Limits)
	r.showLimit(&s.Decision)
	d := s.Decision
	s.Picture.Snapshot.FreshSession = true
	command := plain.Line(plain.CommandLine(r.rowOf(r.Record.Current).Line(r.Record.Options.AgentOptions)), 500)
	prompt := r.prompt(s, nil, r.due(s))
	branch := ""
	if name := r.Record.Options.Branch; name != "" {
		branch = "branch   " + plain.Line(name, 200) + "\n"
	}
	return r.Record.Chain.Text() + fmt.Sprintf("loop     %s\nagent    %s\nfolder   %s\n%s"+
		"limit    iteration %d of %d\n\n%s", plain.Line(r.At.Name, 100), command, r.At.Project, branch, d.Next.Iteration,
		d.Limit, plain.Text(prompt, len(prompt))), nil
}
