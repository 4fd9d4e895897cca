package loop

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// takeRequests puts into a snapshot what persons have asked while another process had the lock. What makes no sense is
// taken away with the next commit.
func (l *Loop) takeRequests(s *decide.Snapshot) {
	l.requests = nil
	for _, r := range l.Store.Requests() {
		switch r.Verb {
		case loopdir.RequestEvent:
			continue
		case loopdir.RequestCancel:
			s.Requested = decide.Cancelled
		case loopdir.RequestPause:
			s.Requested = cmp.Or(s.Requested, decide.Paused)
		case loopdir.RequestNote:
			s.State.Note = plain.Text(addNote(s.State.Note, r.Text), maxNotes)
		case loopdir.RequestMore:
			giveMore(&s.State, r)
		}
		l.requests = append(l.requests, r)
	}
}

// maxNotes bounds the notes that wait for a prompt, in characters. Many requests would make the record too large.
const maxNotes = 10_000

// giveMore gives a loop more, as a person asked while the checks of a lane ran.
func giveMore(s *decide.State, r loopdir.Request) {
	if len(s.Lanes) == 0 {
		return
	}
	if r.Iterations > 0 {
		s.MaxIterations = r.Iterations
	}
	if r.Deadline > 0 {
		s.ExtendedDeadline = r.Deadline
	}
}

// addNote adds a person's note to those that wait for the next prompt.
func addNote(all, text string) string {
	if all == "" {
		return text
	}
	return all + "\n" + text
}

// queueEvent leaves an event that got no lock to the process that has it, or to a sender once the lock is free.
func (l *Loop) queueEvent(ev Event) (*Step, error) {
	of := ev.Report
	of.NoSession = ev.Event == decide.EventPrompt // a note waits for the next prompt
	r := loopdir.Request{Verb: loopdir.RequestEvent, At: ev.At, Name: ev.Name, Of: &of}
	if ev.Tail != nil {
		tail := ev.Tail(ev.At)
		r.Tail = &tail
	}
	if err := l.Store.Ask(r); err != nil {
		return nil, fmt.Errorf("checks of the loop run, and nothing can be left for the process that runs them: %w", err)
	}
	_, _ = l.sendApart() // a sender drains the queue; without one, the next event does
	p, err := l.Read(ev)
	if err != nil {
		return nil, err
	}
	state := p.Snapshot.State
	return &Step{Picture: p, Decision: decide.Decision{Verdict: decide.Pass, Next: state, From: state}}, nil
}

// eventsQueued reports whether events are queued.
func (l *Loop) eventsQueued() bool { return l.Store.HasRequest(loopdir.RequestEvent) }

// answerQueue answers the queued events under the lock, in the order in which they came, and returns the last step that
// ended the loop; nil: none did. An event that cannot be answered is lost, as if its process had failed.
func (l *Loop) answerQueue(ctx context.Context) (end *Step) {
	for _, r := range l.Store.Requests() {
		if r.Verb != loopdir.RequestEvent {
			continue
		}
		if now := time.Now(); r.At.After(now) { // the clock was set back, or a check has written that
			r.At = now
		}
		of := r.Of // never a stop, whose client waits for its answer
		if of != nil && of.Event != decide.EventStop && loopdir.ValidSession(of.Session) {
			ev := Event{Report: *of, Name: r.Name, At: r.At, Timeout: maxSend}
			if r.Tail != nil {
				ev.Tail = func(time.Time) decide.Tail { return *r.Tail }
			}
			step, err := l.answer(ctx, ev, time.Now())
			if err == nil && step.Decision.Verdict == decide.End {
				end = step
			}
		}
		l.Store.Done([]loopdir.Request{r})
	}
	return end
}

// drainQueue waits for the lock and answers the queued events. If the lock stays taken, whoever has it starts another
// sender, or the next event answers them.
func (l *Loop) drainQueue(ctx context.Context) {
	if !l.eventsQueued() {
		return
	}
	unlock, err := l.Store.LockForStop(maxLockWait)
	if err == nil {
		l.answerQueue(ctx)
		unlock()
	}
}
