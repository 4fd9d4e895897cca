package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// unseen is how long an owner whose process is unknown may be silent. Then the next session with
// the loop's prompt gets the loop.
const unseen = time.Hour

// ownerLives reports whether the owner may still come back.
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
		if s.State.Session != "" && s.State.Session != s.Session && !s.adopts() && s.ownerLives() {
			return
		}
	case Interrupted, Handover: // the owner has stopped
		d.Refusal = d.refusal(s)
		if d.Refusal != "" {
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
	if !s.NoSession {
		d.giveNote(s, !s.FreshSession || s.State.Judged)
	}
	if status == Handover || s.FreshSession && s.State.Judged {
		d.countIteration(s) // an interrupted iteration continues, but a handover begins a new one
	}
	if next, has := s.List.Next(); has && status == Handover {
		d.attempt(next)
	}
	d.Binding = Take
	if !s.Marked && status == InProgress {
		d.Binding = Note
	}
}

// refusal returns the limit that keeps a prompt from continuing the loop.
func (d *Decision) refusal(s *Snapshot) string {
	handover := s.State.Status == Handover
	switch hourly := s.Limits.IterationsPerHour; {
	case d.Next.PastDeadline(s.Limits, s.Now):
		return Deadline
	case !handover:
		return ""
	case d.Next.Iteration >= d.Limit:
		return MaxIterations
	case hourly > 0 && len(d.Next.LastHour(s.Now)) >= hourly:
		return IterationsPerHour
	case s.State.LastSession == s.Session && s.State.ExitReason != IterationsPerHour:
		return s.State.ExitReason // the loop was handed over to a fresh session
	}
	return ""
}

// start answers a session that starts. An interrupted loop still waits for a prompt: a person may
// only want to read the conversation.
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

// interrupt ends a loop whose turn ended with an API error, or whose session ended. The end of a
// session can also come from an API error whose own event was cut off; the transcript shows that.
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
	if late := d.Next.PastDeadline(s.Limits, s.Tail.RetryAt); late && reason != SessionEnded {
		d.Next.RetryAt = s.Tail.RetryAt
		d.end(s, ReachedLimit, Deadline)
	} else {
		d.end(s, Interrupted, reason)
	}
	d.Next.Gone = s.Event == EventEnd // its client may live on with another conversation
	d.Next.Needs = plain.Line(s.Why, 300)
	if s.CutOff != nil {
		d.Next.Needs = "its last stop was cut off: the hook was killed"
	}
	return Need{}
}

// release takes the loop from its session. A cleared conversation knows nothing of the loop, and
// its session gets another id. If a person trusted the loop, it ends, so that they hear of it: it stands still.
func (d *Decision) release(s *Snapshot) {
	d.Verdict, d.Binding = Pass, Release
	if s.Limits.Trusted {
		d.end(s, Interrupted, SessionEnded)
		d.Next.Needs = "its conversation was cleared"
	}
	d.Next.Release()
	d.Next.SessionPID = s.State.SessionPID // the cleared session is known by its process
}

// Attach decides as if that session sent the loop's prompt.
func Attach(s Snapshot, session string) Decision {
	s.Event = EventPrompt
	s.Session = session
	s.Marked = true
	d, _ := Decide(s)
	return d
}

// Preview decides as the next stop of the loop's owner would, on a changed work tree. The asking
// session counts as the owner.
func Preview(s Snapshot) (Decision, Need) {
	s.AsOwner()
	s.Tree, s.Tail = "preview", &Tail{}
	return Decide(s)
}

// AsOwner makes the snapshot that of a stop of the loop's owner.
func (s *Snapshot) AsOwner() {
	s.Event, s.Session = EventStop, cmp.Or(s.State.Session, "preview")
	s.State.Session = s.Session
	s.State.Bind = ""
	s.Bind = ""
	s.Brought = ""
}

// Revive makes the record that of a running loop again. was is the status that people saw last. A loop that did not
// run begins to count anew.
func (s *State) Revive(was Status, now time.Time) {
	s.Status = InProgress
	s.ExitReason = ""
	s.Needs = ""
	s.Raise = ""
	s.EndedAt = time.Time{}
	s.StopNow = false
	if was != InProgress {
		s.RetryAt = time.Time{}
		s.SessionPassed = 0
		s.Blocks = nil
		s.Warned = false
		s.CheckFailures = 0
		s.Cut = ""
		s.Habits = Habits{}
		s.ListDigest = ""
		s.TreeDigest = ""
		s.Unchanged = 0
	}
	s.Hour = slices.DeleteFunc(s.Hour, func(at int64) bool { return at > now.Unix() })
}
