package decide

import (
	"cmp"
	"strings"
	"time"
)

// concerns says of each event whether it concerns the loop.
var concerns = map[Event]func(s *Snapshot, owner bool) bool{
	EventStop:    stopConcerns,
	EventPrompt:  promptConcerns,
	EventStart:   startConcerns,
	EventFailure: func(s *Snapshot, owner bool) bool { return owner && s.State.Status == InProgress },
	EventEnd: func(s *Snapshot, owner bool) bool {
		return owner && s.State.Status == InProgress && !s.inOtherClient()
	},
}

// Bystander reports whether the event does not concern the loop. It looks at no list, so a caller
// can ask before it takes the lock.
func Bystander(s *Snapshot) bool {
	owner := s.State.Session != "" && (s.State.Session == s.Session || s.adopts())
	rule, is := concerns[s.Event]
	return s.Session == "" || !is || !rule(s, owner)
}

// stopConcerns reports whether a stop begins the loop, or is the owner's. A hook that still ran when its session ended
// must not revive the loop.
func stopConcerns(s *Snapshot, owner bool) bool {
	switch {
	case s.IsIgnored, s.DuplicateStop:
		return false
	case s.State.Schema == 0:
		return s.Brought == "" && (s.Bind != BindPrompt || s.Bound) && s.MayBegin()
	case s.State.Session == "":
		return s.State.Bind != BindPrompt && s.State.Status == InProgress
	case s.State.Status == Interrupted:
		return owner && !s.Now.Before(s.State.EndedAt)
	}
	return owner && s.State.Status == InProgress
}

// promptConcerns reports whether a prompt names the loop, or says something new of the owner's session: that its turn
// was interrupted, runs in another process, begins, or has a rival.
func promptConcerns(s *Snapshot, owner bool) bool {
	switch {
	case s.Marked:
		return true
	case !owner:
		return false
	case s.State.Status == Interrupted, s.newProcess():
		return true
	}
	otherHook := s.Goal && !s.State.OtherHookShown
	begins := !s.State.Idle.IsZero() || s.CutOff != nil // a turn that the record does not know of
	return s.State.Status == InProgress && (otherHook || begins)
}

// startConcerns reports whether the owner's session starts again, or the client's next one after its conversation was
// cleared.
func startConcerns(s *Snapshot, owner bool) bool {
	runs, interrupted := s.State.Status == InProgress, s.State.Status == Interrupted
	if s.Cleared {
		client := s.Client != 0 && s.Client == s.State.SessionPID
		return client && s.State.Session == "" && (runs || interrupted)
	}
	return owner && (interrupted || s.newProcess())
}

// IsRun reports whether a session is a run of fresh sessions.
func IsRun(session string) bool { return strings.HasPrefix(session, runPrefix) }

// adopts reports whether the event comes from the client that owns the loop by its process alone; see ClientSession.
func (s *Snapshot) adopts() bool {
	return s.State.OfClient() && s.Client > 0 && s.Client == s.State.SessionPID &&
		s.OwnerAlive
}

// MayBegin reports whether the header lets a loop without a record begin.
func (s *Snapshot) MayBegin() bool { return parseStatus(s.Header.Status) == InProgress }

// inOtherClient reports whether the event comes from a second client of the session while the first
// one still runs.
func (s *Snapshot) inOtherClient() bool {
	return s.OwnerAlive && s.Client > 0 && s.State.SessionPID > 0 && s.Client != s.State.SessionPID
}

// newProcess reports whether the owner's session runs in another process than before.
func (s *Snapshot) newProcess() bool {
	return s.Client != s.State.SessionPID && s.State.Status == InProgress
}

// takeOwnership makes the session the owner, and the loop IN_PROGRESS.
func (d *Decision) takeOwnership(s *Snapshot) {
	fresh := cmp.Or(d.Next.LastSession, d.Next.Session) != s.Session || s.State.Status == Handover || s.FreshSession
	if fresh {
		d.Next.WaitingSince, d.Next.WaitingFor = time.Time{}, ""
		d.Next.SessionPassed = 0
		d.Next.Context = 0
		d.Next.Blocks = nil
		d.Next.OtherHookShown = false
	}
	if s.Event == EventStop && !s.Active {
		d.Next.Blocks = nil
	}
	if (s.Goal || s.Event == EventStop && s.Active && len(d.Next.Blocks) == 0) && !d.Next.OtherHookShown {
		d.WarnOtherHook, d.Next.OtherHookShown = true, true
	}
	if passed := s.List.Passed(); s.List.Err == nil {
		if !fresh {
			d.Next.SessionPassed += max(0, passed-d.Next.Passed)
		}
		if passed != d.Next.Passed {
			d.Next.Blocks = nil // the agent must have used a tool to change the list
		}
		d.Next.Passed = passed
	}
	d.Next.Session = s.Session
	d.Next.LastSession = s.Session
	d.Next.Seen = s.Now
	d.Next.Idle = time.Time{}
	d.Next.HasEnded = false
	d.Next.Status = InProgress
	d.Next.ExitReason = ""
	d.Next.Needs = ""
	d.Next.Raise = ""
	d.Next.StopNow = false
	d.Next.Judged = false
	d.Next.EndedAt, d.Next.RetryAt = time.Time{}, time.Time{}
	if d.Next.StartedAt.IsZero() && d.Next.Iteration == 1 && s.Limits.IterationsPerHour > 0 { // it begins here
		d.Next.Hour = []int64{s.Now.Unix()}
	}
	if d.Next.StartedAt.IsZero() || d.Next.StartedAt.After(s.Now) {
		d.Next.StartedAt = s.Now // the loop may be days older
	}
}
