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

// The rules of the events other than a stop are asked in these orders. The last one of each always answers.
var (
	promptRules = []rule{loopOver, anotherSessionWorks, limitReached, stopRequested, takeLoop}
	startRules  = []rule{leftToNextStop, sessionStarts}
	endRules    = []rule{stopRequested, conversationCleared, turnBroken}
)

// loopOver tells of a loop that no prompt continues.
func loopOver(st *stop) answer {
	if st.State.Schema == 0 {
		st.d.From.Status = parseStatus(st.Header.Status)
	}
	if !st.d.From.Status.GoesOn() {
		return answer{binding: Tell}
	}
	return answer{}
}

// anotherSessionWorks leaves the loop to an owner that lives.
func anotherSessionWorks(st *stop) answer {
	owned := st.State.Session != "" && st.State.Session != st.Session && !st.adopts()
	if st.d.From.Status == InProgress && owned && st.ownerLives() {
		return answer{binding: Tell}
	}
	return answer{}
}

// limitReached refuses to continue a loop whose owner has stopped, if a limit forbids that.
func limitReached(st *stop) answer {
	if st.d.From.Status == InProgress {
		return answer{}
	}
	st.d.Refusal = st.refusal()
	if st.d.Refusal == "" {
		return answer{}
	}
	return answer{binding: Tell}
}

// refusal returns the limit that keeps a prompt from continuing the loop.
func (st *stop) refusal() string {
	handover := st.State.Status == Handover
	switch hourly := st.Limits.IterationsPerHour; {
	case st.next.PastDeadline(st.Limits, st.Now):
		return Deadline
	case !handover:
		return ""
	case st.next.Iteration >= st.d.Limit:
		return MaxIterations
	case hourly > 0 && len(st.next.LastHour(st.Now)) >= hourly:
		return IterationsPerHour
	case st.State.LastSession == st.Session && st.State.ExitReason != IterationsPerHour:
		return st.State.ExitReason // the loop was handed over to a fresh session
	}
	return ""
}

// takeLoop makes the session the owner. An interrupted iteration continues, but a handover begins a new one.
func takeLoop(st *stop) answer {
	status := st.d.From.Status
	st.d.takeOwnership(st.Snapshot)
	if !st.NoSession {
		st.d.giveNote(st.Snapshot, !st.FreshSession || st.State.Judged)
	}
	if status == Handover || st.FreshSession && st.State.Judged {
		st.d.countIteration(st.Snapshot)
	}
	begins := status == Handover || st.FreshSession && st.next.Feature == ""
	if next, has := st.Next(); has && begins {
		st.next.Feature = next.ID
	}
	if !st.Marked && status == InProgress {
		return answer{binding: Note}
	}
	return answer{binding: Take}
}

// leftToNextStop leaves a loop that a person has stopped to the next stop, which says so.
func leftToNextStop(st *stop) answer {
	if st.stopped == InProgress {
		return answer{}
	}
	return answer{verdict: Pass}
}

// sessionStarts notes the owner's new process. An interrupted loop still waits for a prompt: a person may only want to
// read the conversation.
func sessionStarts(st *stop) answer {
	if st.State.Session == st.Session && st.State.Status == InProgress {
		return answer{binding: Note}
	}
	return answer{binding: Tell}
}

// conversationCleared takes the loop from its session. A cleared conversation knows nothing of the loop, and its
// session gets another id. If a person trusted the loop, it ends, so that they hear of it: it stands still.
func conversationCleared(st *stop) answer {
	if st.Event != EventEnd || !st.Cleared {
		return answer{}
	}
	st.next.Release()
	st.next.SessionPID = st.State.SessionPID // the cleared session is known by its process
	if !st.Limits.Trusted {
		return answer{binding: Release}
	}
	return finish(Interrupted, SessionEnded, "its conversation was cleared")
}

// turnBroken ends a loop whose turn ended with an API error, or whose session ended. The end of a session can also come
// from an API error whose own event was cut off; the transcript shows that.
func turnBroken(st *stop) answer {
	if st.Tail == nil {
		return answer{need: Need{Kind: NeedTail}}
	}
	st.next.HasEnded = st.Event == EventEnd // its client may live on with another conversation
	needs := plain.Line(st.Why, 300)
	if st.CutOff != nil {
		needs = "its last stop was cut off: the hook was killed"
	}
	failure := st.Tail.Error
	if st.Event == EventFailure {
		failure = st.Failure
	}
	reason := SessionEnded
	switch {
	case failure == RateLimit:
		reason = RateLimit
		st.next.RetryAt = st.Tail.RetryAt
	case failure != "" || st.Event == EventFailure:
		reason = APIError
	}
	if late := st.next.PastDeadline(st.Limits, st.Tail.RetryAt); late && reason != SessionEnded {
		st.next.RetryAt = st.Tail.RetryAt
		return finish(ReachedLimit, Deadline, needs)
	}
	return finish(Interrupted, reason, needs)
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
	s.EndedAt = time.Time{}
	s.StopNow = false
	s.Failures = nil
	if was != InProgress {
		s.RetryAt = time.Time{}
		s.SessionPassed = 0
		s.Blocks = nil
		s.CheckFailures = 0
		s.ProjectFailures = 0
		s.Cut = ""
		s.Habits = Habits{}
		s.ListDigest = ""
		s.TreeDigest = ""
		s.Unchanged = 0
	}
	s.Hour = slices.DeleteFunc(s.Hour, func(at int64) bool { return at > now.Unix() })
}
