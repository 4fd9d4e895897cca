package decide

import (
	"cmp"
	"strings"
	"time"
)

// Bystander reports whether the event does not concern the loop. It looks at no list, so a caller
// can ask before it takes the lock.
func Bystander(s *Snapshot) bool {
	owner := s.State.Session != "" && (s.State.Session == s.Session || s.adopts())
	runs, interrupted := s.State.Status == InProgress, s.State.Status == Interrupted
	concerned := false
	switch {
	case s.Session == "":
	case s.Event == EventPrompt:
		rival := s.Goal && !s.State.RivalTold
		begins := !s.State.Idle.IsZero() || s.CutOff != nil // a turn that the record does not know of
		concerned = s.Marked || owner && (interrupted || s.newProcess() || runs && (rival || begins))
	case s.Event == EventStart && s.Cleared:
		client := s.Client != 0 && s.Client == s.State.SessionPID
		concerned = client && s.State.Session == "" && (runs || interrupted)
	case s.Event == EventStart:
		concerned = owner && (interrupted || s.newProcess())
	case s.Event == EventFailure:
		concerned = owner && runs
	case s.Event == EventEnd:
		concerned = owner && runs && !s.elsewhere()
	case s.Event != EventStop, s.Aside, s.Twice:
	case s.State.Schema == 0:
		concerned = s.Brought == "" && (s.Bind != BindPrompt || s.Bound) && s.MayBegin()
	case s.State.Session == "":
		concerned = s.State.Bind != BindPrompt && runs
	default: // a hook that still ran when its session ended must not revive the loop
		concerned = owner && (runs || interrupted && !s.Now.Before(s.State.EndedAt))
	}
	return !concerned
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

// elsewhere reports whether the event comes from a second client of the session while the first
// one still runs.
func (s *Snapshot) elsewhere() bool {
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
		d.Next.RivalTold = false
	}
	if s.Event == EventStop && !s.Active {
		d.Next.Blocks = nil
	}
	if (s.Goal || s.Event == EventStop && s.Active && len(d.Next.Blocks) == 0) && !d.Next.RivalTold {
		d.Rival, d.Next.RivalTold = true, true
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
	d.Next.Gone = false
	d.Next.Status = InProgress
	d.Next.ExitReason = ""
	d.Next.Needs = ""
	d.Next.Raise = ""
	d.Next.StopNow = false
	d.Next.Judged = false
	d.Next.EndedAt, d.Next.RetryAt = time.Time{}, time.Time{}
	if d.Next.StartedAt.IsZero() { // no agent has worked on the loop, so a person has changed what is locked
		d.Next.Warned = len(s.Lost)+len(s.Changed) > 0
	}
	if d.Next.StartedAt.IsZero() && d.Next.Iteration == 1 && s.Limits.IterationsPerHour > 0 { // it begins here
		d.Next.Hour = []int64{s.Now.Unix()}
	}
	if d.Next.StartedAt.IsZero() || d.Next.StartedAt.After(s.Now) {
		d.Next.StartedAt = s.Now // the loop may be days older
	}
}
