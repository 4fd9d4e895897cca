package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// The verbs as hook.log has them.
const (
	resume = "resume"
	leave  = "leave" // of a session that takes another loop
)

// Change takes the loop's lock, reads the loop, lets edit change the record, and commits it.
func (l *Loop) Change(verb string, edit func(p *Picture, next *decide.State) error) (decide.State, error) {
	unlock, err := l.Store.Lock(changeWait(verb))
	if err != nil {
		return decide.State{}, err
	}
	defer unlock()
	p, err := l.Look()
	if err != nil {
		return decide.State{}, err
	}
	d := decide.Decision{Next: p.Snapshot.Record()}
	// A person's edit of the header is not overwritten.
	stopped := d.ReadHeader(&p.Snapshot)
	next := d.Next
	next.Loop = l.At.Dir
	next.List = p.ListPath()
	if err := edit(p, &next); err != nil {
		return decide.State{}, err
	}
	// The verb neither stops the loop nor puts it back to work.
	runsOn := next.Status == decide.InProgress && verb != resume
	if stopped != decide.InProgress && runsOn {
		return decide.State{}, fmt.Errorf("progress.txt says %s; set it to IN_PROGRESS first", stopped)
	}
	if next.Endings != p.Snapshot.State.Endings {
		p.Snapshot.CountProven(&next)
		p.attachNotice(&next)
	}
	next.Header, next.Before = decide.HeaderOf(next, next.Limit(p.Snapshot.Limits)), p.Snapshot.Header
	l.Unshown, err = l.Store.Commit(next) // the record decides; the next stop writes the file that shows it
	if err != nil {
		return decide.State{}, err
	}
	if l.Unshown == nil && next.Before != next.Header {
		// From here on only the new header is ours. If a person puts it back to what it was before
		// this verb, that counts as an edit. The verb is done, even if this fails.
		next.Before = next.Header
		_ = l.Store.SaveState(next)
	}
	done := l.requests
	if runsOn { // the next stop pauses or cancels it
		done = slices.DeleteFunc(slices.Clone(done), loopdir.Request.Stops)
	}
	l.Store.Done(done)
	l.Store.Log(verbLine(verb, next), nil)
	return next, nil
}

// changeWait returns how long a verb waits for the lock. Those of which a request can be left wait for a moment.
func changeWait(verb string) time.Duration {
	if slices.Contains([]string{"pause", "cancel", "note"}, verb) {
		return requestWait
	}
	return LockWait
}

// Attach decides as if that session sent the loop's prompt.
func (p *Picture) Attach(session string) decide.Decision {
	return decide.Attach(p.Snapshot, session)
}

// Revive puts a loop back to work for a person, after edit changed its limits.
func (l *Loop) Revive(ctx context.Context, edit func(*Picture, *decide.State) error) (decide.State, error) {
	// An ending that is not told yet is told before it is undone: to the notifier in its record,
	// not to one of this terminal.
	l.Env.OnComplete = ""
	_ = l.Tell(ctx)
	if p, err := l.Look(); err == nil {
		p.AskTracker(ctx) // an item may have been reopened since
	}
	return l.Change(resume, func(p *Picture, next *decide.State) error { return p.revive(next, edit) })
}

// Revive makes the picture what it is once Loop.Revive has put the loop back to work, or says why that would not.
// Nothing is changed on disk.
func (p *Picture) Revive(ctx context.Context, edit func(*Picture, *decide.State) error) error {
	p.AskTracker(ctx)
	s := &p.Snapshot
	d := decide.Decision{Next: s.Record()}
	d.ReadHeader(s)
	if err := p.revive(&d.Next, edit); err != nil {
		return err
	}
	d.Next.Header, d.Next.Before = decide.HeaderOf(d.Next, d.Next.Limit(s.Limits)), s.Header
	s.State, s.Requested = d.Next, ""
	return nil
}

// revive makes a record that of a running loop, after edit changed its limits, unless nothing is left to do or to use.
func (p *Picture) revive(next *decide.State, edit func(*Picture, *decide.State) error) error {
	s, l := &p.Snapshot, p.Loop
	ofRun := next.Run() != "" && next.Status != decide.Complete // a tester or a reviewer may not have finished
	over := !s.NoList && (len(s.Checks)+len(s.Evaluators) == 0 && !ofRun ||
		next.Status == decide.Complete && next.Proven >= s.Provable())
	if s.List.Err == nil && s.List.Passed() == len(s.List.Items) && over {
		return fmt.Errorf("nothing to resume: no feature is open; add features to %s, or reopen one there, and repeat "+
			"this", plain.Path(l.At.Project, p.ListName()))
	}
	if err := edit(p, next); err != nil {
		return err
	}
	if err := p.usedUp(next); err != nil {
		return err
	}
	hourly := s.Limits.IterationsPerHour
	if next.Status == decide.Handover && hourly > 0 && len(next.LastHour(s.Now)) >= hourly {
		return fmt.Errorf("it has used its %s for this hour; its prompt continues it after %s",
			plain.Count(hourly, "iteration"), next.RetryAt.Local().Format("2006-01-02 15:04"))
	}
	revive(s, next)
	return nil
}

// revive makes the record that of a running loop.
func revive(s *decide.Snapshot, next *decide.State) {
	next.Revive(s.State.Status, time.Now())
	next.Waits = next.Session != "" &&
		(next.HasEnded || next.SessionPID != 0 && !proc.Alive(next.SessionPID, next.ClientStart))
	// A first stop would not take the loop from an owner that is gone; a prompt does.
	if next.Waits && next.Bind != decide.BindPrompt {
		next.Session = ""
		next.SessionPID = 0
		next.Waits = false
	}
}

// usedUp refuses to continue if the loop would end at the next stop.
func (p *Picture) usedUp(next *decide.State) error {
	limits := p.Snapshot.Limits
	if limit := next.Limit(limits); next.Iteration >= limit {
		return fmt.Errorf("%s used up, and the loop may have %d; to give it more: %s",
			plain.Count(next.Iteration, "iteration"), limit, p.MoreIterations(*next))
	}
	if !next.PastDeadline(limits, time.Now()) {
		return nil
	}
	return fmt.Errorf("the loop began %s ago and may take %s; to give it more: %s",
		plain.Duration(time.Since(next.StartedAt)), plain.Duration(next.Deadline(limits)), p.MoreTime(*next))
}

// Resume returns the command that continues a loop which has this record. What is used up is given more.
func (p *Picture) Resume(s decide.State) string {
	return strings.Join(append([]string{p.Loop.Call(resume)}, p.More(s)...), " ")
}

// More returns the words of that command behind the loop's name. A person's own ceiling allows no more.
func (p *Picture) More(s decide.State) (words []string) {
	limits := p.Snapshot.Limits
	if s.Iteration >= s.Limit(limits) && !p.atMostIterations(s) {
		words = append(words, fmt.Sprintf("+%d", decide.DefaultIterations))
	}
	deadline := s.Deadline(limits)
	late := s.ExitReason == decide.Deadline || s.PastDeadline(limits, time.Now())
	if deadline > 0 && late && !p.atMostTime(s) {
		ran := time.Since(s.StartedAt)
		waits := max(0, p.needs(s)-max(ran, deadline)) // a loop that first has to wait gets that time, too
		words = append(words, fmt.Sprintf("+%dh", 2+int(waits.Hours())))
	}
	return words
}

// MoreIterations is Resume for a loop that has used up its iterations. If a person's own ceiling is in the way, it
// returns what to raise.
func (p *Picture) MoreIterations(s decide.State) string {
	if p.atMostIterations(s) {
		return fmt.Sprintf(raise, strconv.Itoa(p.Snapshot.Limits.CeilingIterations))
	}
	return p.Resume(s)
}

// MoreTime is MoreIterations for the deadline.
func (p *Picture) MoreTime(s decide.State) string {
	if p.atMostTime(s) {
		return fmt.Sprintf(raise, plain.Duration(p.Snapshot.Limits.CeilingDeadline))
	}
	return p.Resume(s)
}

func (p *Picture) atMostIterations(s decide.State) bool {
	ceiling := p.Snapshot.Limits.CeilingIterations
	return ceiling > 0 && s.Iteration >= ceiling
}

func (p *Picture) atMostTime(s decide.State) bool {
	ceiling := p.Snapshot.Limits.CeilingDeadline
	return ceiling > 0 && p.needs(s) >= ceiling
}

// needs returns how long after its start the loop can go on.
func (p *Picture) needs(s decide.State) time.Duration {
	return max(time.Since(s.StartedAt), s.RetryAt.Sub(s.StartedAt))
}

const raise = "raise your own ceiling for all loops, %s, in config.json of ralph-stop-hook in your configuration folder"

// unsent returns why notices may be left of a loop that cannot be read, nil if it has ended and told all.
func (l *Loop) unsent(err error) error {
	state, unread := l.Store.State()
	if unread != nil || state.Status.GoesOn() || slices.ContainsFunc(state.Notices, Unsent) {
		return err
	}
	return nil
}

// SendDue sends the notices that are left. If the client of the loop's session died, it ends the
// loop as the session's end would have. If the loop cannot be read, it says so once, as a stop does.
func (l *Loop) SendDue(ctx context.Context) error {
	untold := l.Tell(ctx) // it may fail, on a full disk for example; the loop can still end
	ev := now()
	p, err := l.Read(ev)
	if err != nil {
		state, unread := l.Store.State()
		if unread != nil || state.Status == decide.InProgress {
			l.sendTrouble(ctx, ev, err)
		}
		return l.unsent(err)
	}
	if !p.Stale() && p.Snapshot.CutOff == nil {
		return untold
	}
	ev.Event = decide.EventEnd
	ev.Name = sessionEnd
	ev.Session = p.Snapshot.State.Session
	if unusable := l.At.Check(); unusable != nil && l.At.IsMissing() {
		ev.Why = plain.Line(unusable.Error(), 300)
	}
	if l.Env.OnComplete == "" {
		l.Env.OnComplete = p.Snapshot.State.OnComplete
	}
	step, err := l.Step(ctx, ev)
	if err != nil || step.Decision.Verdict != decide.End {
		return errors.Join(untold, err)
	}
	l.Notify(ctx, ev, step)
	return untold
}

// sessionEnd is the event's name in stops.jsonl for a session's end that nobody reported.
const sessionEnd = "SessionEnd"
