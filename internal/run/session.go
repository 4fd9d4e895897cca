package run

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// round works one iteration: it starts sessions until one of them counts, or the run gives up. If none counts, the
// loop ends with the event.
func (r *Run) round(ctx context.Context, s *loop.Step) (ev loop.Event, counts bool) {
	if err := r.runHooksBefore(ctx, s); err != nil {
		return r.ends(err.Error()), false
	}
	for failed := 0; ; {
		e := r.session(ctx, s)
		stopped := e.Class == agent.Stopped || ctx.Err() != nil && e.Class != agent.Done
		until, why, class := r.retry(r.Record.Current, e, failed)
		if class == "" && !stopped {
			return loop.Event{}, true
		}
		if c := r.Record.Current; c != nil {
			r.dropSession(c)
		}
		if stopped {
			return r.ends(""), false
		}
		if e.Class == agent.Transient {
			failed++
		}
		if until.IsZero() || r.pastDeadline(s, until) {
			e.Until = cmp.Or(until, e.Until)
			if class == decide.RateLimit && len(r.Record.Options.Fallback) > 0 {
				_, e.Until = r.Record.Free(time.Now())
			}
			return r.fails(class, why, e.Until), false
		}
		if until.After(time.Now()) { // else another agent goes on
			r.wait(ctx, until, why)
		}
		if ctx.Err() != nil || r.stopped() {
			return r.ends(""), false
		}
		// A person may have written a note, or changed the list.
		if again, err := r.take(ctx, false); err == nil {
			s = again
		}
	}
}

// ends returns the event of a run that ends before its loop.
func (r *Run) ends(why string) loop.Event {
	ev := r.event(decide.EventEnd)
	ev.Why = why
	return ev
}

// fails returns the event of a run that gives up because of an error of the agent or of its provider.
func (r *Run) fails(class, why string, until time.Time) loop.Event {
	if class == decide.SessionEnded {
		return r.ends(why)
	}
	ev := r.event(decide.EventFailure)
	ev.Failure, ev.Why = class, why
	ev.Tail = func(time.Time) decide.Tail { return decide.Tail{Context: -1, RetryAt: until} }
	return ev
}

// retry judges a session that does not count. class is "" if it counts. until is when the run tries again, zero if it
// gives up, and now if another agent takes over. failed is how many sessions of this iteration met an overload before.
func (r *Run) retry(c *record.Current, e agent.Result, failed int) (until time.Time, why, class string) {
	now := time.Now()
	if e.Class != agent.Context {
		r.tooLong = 0
	}
	switch e.Class {
	case agent.Limit:
		r.Record.CoolDown(r.Record.AgentOf(c), e.Until, e.Problem, now)
		_, until = r.Record.Free(now)
		until, why = r.waited.wait(c.Lane, until, r.Record.Options.Wait, e.Problem)
		return until, why, decide.RateLimit
	case agent.Transient:
		if failed < len(backOff) && r.Record.Options.Wait > 0 {
			until, why = r.waited.wait(c.Lane, now.Add(backOff[failed]), r.Record.Options.Wait, e.Problem)
		}
		return until, cmp.Or(why, e.Problem), decide.APIError
	case agent.Interrupted:
		return time.Time{}, "somebody stopped the agent: " + e.Problem, decide.SessionEnded
	case agent.Auth:
		return time.Time{}, needsLogin(r.rowOf(c), e.Problem), decide.APIError
	case agent.NotStarted:
		return time.Time{}, e.Problem, decide.APIError
	case agent.Context:
		r.tooLong++
		if r.tooLong > 1 {
			return time.Time{}, e.Problem, decide.APIError
		}
	}
	delete(r.waited.iteration, c.Lane)
	return time.Time{}, "", ""
}

// session starts one session and waits for its end. The record has it, and its guard, before the agent starts.
func (r *Run) session(ctx context.Context, s *loop.Step) agent.Result {
	feature := r.due(s)
	set := func(c *record.Current) { r.Record.Current = c }
	c, asked := r.starts(s.Decision.Next.Iteration, feature, set)
	log := r.files.Log(c.Number)
	defer log.Close()
	r.showLimit(&s.Decision)
	r.Screen.Session(r.Record, c, s, feature.Title())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go r.watch(ctx, stop)
	one := r.agentSession(c, asked, r.prompt(s, c, feature))
	one.Log, one.Hear = log, func(h agent.Activity) { r.Screen.ShowActivity(0, h) }
	var unsaved error
	one.Started = func(pid int) error {
		c.PID, c.Start = pid, proc.Start(pid)
		unsaved = r.save()
		return unsaved
	}
	e := one.Run(ctx)
	if unsaved != nil {
		r.takeBack(set)
		return e
	}
	_ = r.recordEnd(c, e) // the step that follows reports a disk that is full
	return e
}

// starts notes that a session is about to start, or is offered to workers. set puts it into the record, which the
// caller saves.
func (r *Run) starts(iteration int, feature features.Item, set func(*record.Current)) (*record.Current, agent.Options) {
	r.sayBranch()
	c := &record.Current{}
	c.RunID, c.Iteration, c.Feature = r.Record.ID, iteration, feature.ID
	if r.Record.Step() != nil {
		c.Step = r.Record.Chain.At + 1
	}
	if r.Engine == nil {
		r.begins(c, time.Now())
	}
	set(c)
	return c, r.pick(c, feature)
}

// takeBack takes back a session that the record on the disk does not have.
func (r *Run) takeBack(set func(*record.Current)) {
	if r.Engine == nil {
		r.addSessions(-1)
	}
	set(nil)
}

// begins counts a session that begins, and gives it its number.
func (r *Run) begins(c *record.Current, at time.Time) {
	r.addSessions(1)
	c.Number = r.Record.Sessions
	c.StartedAt = at.UTC()
	for i := range r.Record.Switches {
		if one := &r.Record.Switches[i]; one.Session == 0 && one.Feature == c.Feature {
			one.Session = c.Number
		}
	}
}

// agentSession returns a session of the run in the project's files.
func (r *Run) agentSession(c *record.Current, asked agent.Options, prompt string) agent.Session {
	o, spent, row := r.Record.Options, r.Record.Spent, r.rowOf(c)
	var tokens int64
	if o.MaxTokens > 0 {
		tokens = max(1, o.MaxTokens-spent.AllTokens())
	}
	cost := 0.0
	if o.MaxCostUSD > 0 {
		cost = max(0.01, o.MaxCostUSD-spent.Dollars())
	}
	asked.BudgetUSD = cost
	if row.BudgetFlag != "" { // it ends by itself, and says what it has cost
		cost = 0
	}
	return agent.Session{
		Row: row, Options: asked, Prompt: prompt, Dir: r.At.Project, Guard: r.Env.Self,
		Env:   append(agent.Environ(r.Env.Vars), append(r.handoff(), loop.RunVar+"="+r.Record.ID)...),
		Limit: o.SessionTimeout, Idle: cmp.Or(o.IdleTimeout, row.Idle), Kill: r.Kill,
		MaxCostUSD: cost, MaxTokens: tokens,
	}
}

// addSessions adds n to the sessions of the run.
func (r *Run) addSessions(n int) {
	r.Record.Sessions += n
	if step := r.Record.Step(); step != nil {
		step.Sessions += n
	}
}

// recordEnd notes how a session ended, and adds what it used to the sum. From here on it is not forgotten. One that no
// worker has taken was none. The error is that the record could not be saved.
func (r *Run) recordEnd(c *record.Current, e agent.Result) error {
	if c.Number == 0 {
		return nil
	}
	c.End(e)
	c.Message = e.Message[max(0, len(e.Message)-record.MaxMessage):]
	c.Refused = e.Refused
	if e.Class.Counts() {
		r.Record.Warm(r.Record.AgentOf(c))
	}
	c.Signals, c.Claimed = r.signals(e)
	if e.Class.Breaks() {
		r.noteFiles(true)
	}
	if r.hasPromise(e.Message) {
		c.Message += "\n" + decide.CompletePromise // the loop knows no pattern of the command line
	}
	before := r.Record.Spent
	r.spends(c, e)
	if slices.Contains(noMore, e.Class) {
		r.Record.Spent.Presumed = before.Presumed
		r.Record.Spent.PresumedTokens = before.PresumedTokens
	}
	r.Record.Denied += e.Denied
	r.Record.Problem = e.Problem
	err := r.save()
	r.Screen.ShowEnd(r.Record, c, e)
	r.missPrice(c, e)
	return err
}

// noMore are the classes of sessions that have used no more than they told, or hardly more: three did no work, and one
// was stopped as soon as it told that it had used what was left.
var noMore = []agent.Class{agent.Limit, agent.Transient, agent.NotStarted, agent.Budget}

// spends adds what a session used to the sums.
func (r *Run) spends(c *record.Current, e agent.Result) {
	r.Record.Spent.Add(e.Usage)
	step := r.Record.Step()
	if step != nil {
		step.Spent.Add(e.Usage)
		step.Took += e.Took
	}
	if !step.IsJob() {
		w := r.Record.WorkOn(c.Feature)
		w.Took += e.Took
		w.Spent.Add(e.Usage)
	}
}

// missPrice says that a session's cost is not known for want of a price, once for each model.
func (r *Run) missPrice(c *record.Current, e agent.Result) {
	model := e.Activity.Model
	if e.Usage.CostKnown || e.Usage.Tokens() == 0 || model == "" || model == r.noPrice {
		return
	}
	if _, known := r.rowOf(c).PriceOf(model); !known {
		r.noPrice = model
		r.Screen.Warn(fmt.Sprintf(`no price of the model %s is known, so its cost is not; add it to "prices" of `+
			`your configuration`, plain.Line(model, 80)))
	}
}

// due returns the feature of the iteration that a step begins. A job of a step's own has none, nor has a review.
func (r *Run) due(s *loop.Step) (item features.Item) {
	if step := r.Record.Step(); step.IsJob() || step.IsReview() {
		return item
	}
	item = s.Decision.Feature
	if item.ID == "" && s.Decision.Failure == nil {
		item, _ = s.Picture.Snapshot.Next()
	}
	return item
}

// watch stops the agent when a person cancels the loop, or pauses it at once.
func (r *Run) watch(ctx context.Context, stop context.CancelFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(nap):
		}
		if r.cancelled() {
			stop()
			return
		}
	}
}

func (r *Run) cancelled() bool {
	state, err := r.store.State()
	now := func(q loopdir.Request) bool { return q.Verb == loopdir.RequestCancel || q.Now }
	return slices.ContainsFunc(r.store.Requests(), now) || err == nil && (state.Status == decide.Cancelled ||
		state.Status == decide.Paused && state.StopNow)
}

// stopped reports whether a person has stopped the loop.
func (r *Run) stopped() bool {
	state, err := r.store.State()
	return r.store.HasStopRequest() || err == nil && state.Status != decide.InProgress
}

// pastDeadline reports whether the loop's time is up at a time when a session could begin. A person may have given it
// more.
func (r *Run) pastDeadline(s *loop.Step, at time.Time) bool {
	state, err := r.store.State()
	return err == nil && state.PastDeadline(s.Picture.Snapshot.Limits, at)
}

// wait waits until a time, and lets people know.
func (r *Run) wait(ctx context.Context, until time.Time, why string) {
	r.Record.Waiting = &record.Waiting{Until: until.UTC(), Why: why}
	_ = r.save() // the wait does not depend on it
	r.Screen.Wait(until, why)
	waitUntil(ctx, until, r.stopped)
	r.Record.Waiting = nil
}

// stopEvent is what the loop is told of a session that has ended, and of the limit that is reached with it.
func (r *Run) stopEvent(c *record.Current, limit runLimit) loop.Event {
	ev := r.event(decide.EventStop)
	ev.Why, ev.Raise = limit.why(), limit.raise
	if c == nil || !c.HasEnded() {
		return ev
	}
	ev.Message, ev.Claimed = c.Message, c.Claimed
	if c.Class().Breaks() {
		ev.Broken = cmp.Or(c.Problem, c.Outcome)
	}
	ev.ExitCode = strconv.Itoa(c.ExitCode)
	if c.Denied > 0 {
		ev.Denied = cmp.Or(c.Refused, "a tool")
	}
	if c.Part != nil && c.Part.Claims { // the loop knows no signal and no check of the step
		ev.Message += "\n" + decide.CompletePromise
	}
	if step := r.Record.Step(); step != nil {
		done := c.Part != nil && c.Part.Done
		stop := stepStop{*step, r.Record.Chain.Last(), done, limit.reason == decide.MaxIterations}
		ev.Decide = stop.decide
	}
	if ev.Why != "" && c.Worker != "" {
		ev.Why += ", as its workers say; the last one was " + c.Worker
	}
	return ev
}

// runLimit is a limit of the run's own that is reached; zero: none is.
type runLimit struct {
	reason string // decide.Budget, or decide.MaxIterations
	bill   string // what was used, in words that follow "the run has"
	flag   string // that sets it, or the step that has it
	raise  string // the words with which the run goes on
}

func (l runLimit) why() string {
	if l.reason == "" {
		return ""
	}
	return fmt.Sprintf("the run has %s (%s)", l.bill, l.flag)
}

// limit returns the limit that is reached when so many more sessions count. c is the session that has ended; nil: none.
func (r *Run) limit(c *record.Current, more int) runLimit {
	o, spent := r.Record.Options, r.Record.Spent
	if c == nil {
		c = &record.Current{}
	}
	judged := c.HasEnded()
	back := r.Record.Step().IsReview() && c.Part != nil && c.Part.Done // else the limit does not count
	step := r.Record.UsedUp(more, back)
	switch used := spent.AllTokens(); {
	case o.MaxCostUSD > 0 && (spent.Dollars() >= o.MaxCostUSD || c.Class() == agent.Budget):
		bill := record.SpentOf(spent, o.MaxCostUSD)
		more := math.Ceil(2 * max(o.MaxCostUSD, spent.Dollars()))
		return runLimit{decide.Budget, bill, "--max-cost", fmt.Sprintf("--max-cost %.0f", more)}
	case o.MaxCostUSD > 0 && judged && !spent.CostKnown:
		bill := fmt.Sprintf("no session yet whose cost is known, so it cannot keep to its $%.2f: "+
			"use an agent that reports its cost", o.MaxCostUSD)
		return runLimit{decide.Budget, bill, "--agent", say.AnotherAgent}
	case o.MaxTokens > 0 && judged && !spent.TokensKnown && used < o.MaxTokens:
		bill := fmt.Sprintf("no session yet whose tokens are known, so it cannot keep to its %d: "+
			"use an agent that reports its tokens", o.MaxTokens)
		return runLimit{decide.Budget, bill, "--agent", say.AnotherAgent}
	case o.MaxTokens > 0 && used >= o.MaxTokens:
		bill := record.UsedOf(spent, o.MaxTokens)
		return runLimit{decide.Budget, bill, "--max-tokens", fmt.Sprintf("--max-tokens %d", 2*max(o.MaxTokens, used))}
	case step != nil:
		bill := fmt.Sprintf("used up the %s of %s", plain.Count(step.Limit, "iteration"), plain.Line(step.Agent, 80))
		if back {
			bill += ", and the last review has left features open"
		}
		limit := fmt.Sprintf("%s:%d in the chain", plain.Line(step.Agent, 80), step.Limit)
		return runLimit{decide.MaxIterations, bill, limit, fmt.Sprintf("+%d", step.Limit)}
	case o.MaxIterations > 0 && r.Record.Iterations+more >= o.MaxIterations:
		bill := "used up its " + plain.Count(o.MaxIterations, "iteration")
		return runLimit{decide.MaxIterations, bill, "--max-iterations", fmt.Sprintf("+%d", o.MaxIterations)}
	}
	return runLimit{}
}

// noteMisplacedPromise says once that a marker in an answer does not count where it is.
func (r *Run) noteMisplacedPromise(c *record.Current, s *loop.Step) {
	promises := slices.Concat(s.Picture.Snapshot.Promises, r.pattern)
	if r.notedPromise || c.Class().Breaks() || !decide.MisplacedPromise(c.Message, promises) {
		return
	}
	r.notedPromise = true
	r.Screen.Warn(fmt.Sprintf("a marker in the answer of session %d does not count: it must be the last line, in no code "+
		"fence and no quotation", c.Number))
}

// countedEvents are the events of a session that is counted.
var countedEvents = []string{config.PostIteration, config.OnIteration}

// savesSoon reports whether the run saves its record next, before anybody can want to read there that a session is
// counted: when the next session starts. A run that is killed before that counts the session again, as the loop's
// record says.
func (r *Run) savesSoon(s *loop.Step) bool {
	if s == nil || s.Decision.Verdict != decide.Continue || r.Record.Chain != nil || r.Record.Options.Workers > 0 {
		return false
	}
	hears := func(event string) bool { return len(r.commands(s.Picture, event)) > 0 }
	return !hears(config.PreIteration) && !slices.ContainsFunc(countedEvents, hears)
}

// showLimit lowers the limit that people see to that of the run: the last iteration of the loop that the run may work.
// The loop's own limit is in its record.
func (r *Run) showLimit(d *decide.Decision) {
	most := r.Record.Options.MaxIterations
	if most == 0 {
		return
	}
	given := 0 // iterations that no session has ended
	for _, l := range d.Next.Lanes {
		if l.Iteration > 0 {
			given++
		}
	}
	last := d.Next.Iteration + most - r.Record.Iterations - max(given, 1)
	d.Limit = min(d.Limit, max(last, d.Next.Iteration))
}

// countSession counts a session that has ended, and tells of it. s is the loop's step after it, nil if another process
// took that. state is what the loop's record says then.
func (r *Run) countSession(c *record.Current, s *loop.Step, state decide.State) error {
	r.Record.Forget(c)
	r.Record.Iterations++
	var results []decide.Receipt
	told, worked := hookInput{}, c.Feature
	if s != nil {
		r.showLimit(&s.Decision)
		if item, _ := s.Picture.Snapshot.List.Find(worked); item.IsAdded {
			worked = "" // no check proves it
		}
		results = s.Picture.Snapshot.Results
		told = r.inputOf(s, state, c)
	}
	if !r.Record.Step().IsJob() {
		r.Record.WorkOn(c.Feature).Attempts++
		r.Record.NoteChecks(worked, results)
	}
	r.files.Session(&r.Record, c, results, true)
	over := r.stepCounted(c, state)
	if !r.savesSoon(s) {
		if err := r.save(); err != nil {
			return err
		}
	}
	if s != nil {
		r.noteMisplacedPromise(c, s)
		r.Screen.ShowCount(s)
		r.hooks(s, countedEvents, told)
	}
	if over && state.Status == decide.InProgress {
		r.stepBegins()
	}
	return nil
}

// The times to wait after errors of a provider that may be over soon. After the last one the run gives up.
var backOff = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute}

// nap is how often a wait looks at the clock and at the loop.
const nap = time.Second

// waitUntil waits for a time of the wall clock, which goes on while the machine sleeps. It returns early when ctx ends,
// or when wake says so.
func waitUntil(ctx context.Context, until time.Time, wake func() bool) {
	for {
		left := until.Round(0).Sub(time.Now().Round(0)) // Round takes the monotonic clock away
		if left <= 0 {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(left, nap)):
		}
		if ctx.Err() != nil || wake() {
			return
		}
	}
}
