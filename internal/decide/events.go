package decide

import (
	"cmp"
	"time"
)

// unseen is the time after which an owner whose process is unknown, and who has
// shown no sign of life, loses the loop to the next session that asks.
const unseen = time.Hour

// ownerLives reports whether the owner can be expected to go on.
func (s *Snapshot) ownerLives() bool {
	return s.OwnerAlive && (s.OwnerKnown || s.Now.Sub(s.State.Seen).Abs() < unseen)
}

// prompt answers a prompt that names the loop, or one in the session that was
// interrupted. An owner that lives keeps its loop.
func (d *Decision) prompt(s *Snapshot, stopped Status) {
	d.Verdict, d.Binding = Pass, Tell
	status := s.State.Status
	if s.State.Schema == 0 {
		status = parseStatus(s.Header.Status)
		d.From.Status = status
	}
	switch status {
	case InProgress:
		if s.State.Session != "" && s.State.Session != s.Session && s.ownerLives() {
			return
		}
	case Interrupted, Handover: // the owner has stopped
		if d.Refusal = d.refusal(s); d.Refusal != "" {
			return
		}
	default:
		return
	}
	if stopped != InProgress {
		d.end(s, stopped, s.stoppedBy())
		return
	}
	d.takeOwnership(s)
	if status == Handover {
		d.countIteration(s) // an interrupted iteration goes on, but a handover begins a new one
	}
	if d.Binding = Take; !s.Marked && status == InProgress {
		d.Binding = Note
	}
}

// refusal returns the limit that keeps a prompt from taking the loop up again.
func (d *Decision) refusal(s *Snapshot) string {
	handover := s.State.Status == Handover
	switch hourly := s.Limits.IterationsPerHour; {
	case d.Next.PastDeadline(s.Limits, s.Now):
		return Deadline
	case !handover:
		return ""
	case d.Next.Iteration >= d.Limit:
		return MaxIterations
	case hourly > 0 && len(s.State.LastHour(s.Now)) >= hourly:
		return IterationsPerHour
	case s.State.LastSession == s.Session && s.State.ExitReason != IterationsPerHour:
		return s.State.ExitReason // the loop was handed over so that a fresh session takes it
	}
	return ""
}

// start answers a session that starts. An interrupted loop waits for a prompt all
// the same: a person may only want to read what was said.
func (d *Decision) start(s *Snapshot, stopped Status) {
	if stopped != InProgress {
		*d = pass(s) // the next stop says so
		return
	}
	d.Verdict, d.Binding = Pass, Tell
	if s.State.Session == s.Session && s.State.Status == InProgress {
		d.Binding = Note
	}
}

// interrupt ends a loop whose turn died of an API error, or whose session ended.
// That may have been an API error too, whose own event was cut off: the transcript
// tells.
func (d *Decision) interrupt(s *Snapshot) Need {
	if s.Tail == nil {
		return Need{Kind: NeedTail}
	}
	failure := s.Tail.Error
	if s.Event == EventFailure {
		failure = s.Failure
	}
	reason := SessionEnded
	switch {
	case failure == RateLimit:
		reason = RateLimit
		d.Next.RetryAt = s.Tail.RetryAt
	case failure != "" || s.Event == EventFailure:
		reason = APIError
	}
	d.end(s, Interrupted, reason)
	return Need{}
}

// release lets the loop go: a cleared conversation knows nothing of the loop, and
// its session gets another id.
func (d *Decision) release(s *Snapshot) {
	d.Verdict, d.Binding = Pass, Release
	d.Next.Release()
	d.Next.SessionPID = s.State.SessionPID // the cleared session is known by its process
}

// Attach decides as a prompt of that session that names the loop would.
func Attach(s Snapshot, session string) Decision {
	s.Event, s.Session, s.Marked = EventPrompt, session, true
	d, _ := Decide(s)
	return d
}

// Preview decides as the next stop of the loop's owner would, on a work tree that
// has changed since the last one. Whatever session asks counts as the owner.
func Preview(s Snapshot) (Decision, Need) {
	s.Event, s.Session = EventStop, cmp.Or(s.State.Session, "preview")
	s.State.Session, s.State.Bind, s.Bind, s.Brought = s.Session, "", "", ""
	s.Tree, s.Tail = "preview", &Tail{}
	return Decide(s)
}
