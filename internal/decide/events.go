package decide

import "time"

// unseen is after how long without a sign an owner is no longer waited for,
// where its process is not known.
const unseen = time.Hour

// prompt answers a prompt that names the loop, or one in the session that was
// interrupted. An owner that is alive keeps its loop.
func (d Decision) prompt(s *Snapshot, stopped Status) Decision {
	alive := s.OwnerAlive && (s.OwnerKnown || s.Now.Sub(s.State.Seen).Abs() < unseen)
	status := s.State.Status
	if s.State.Schema == 0 {
		status = parseStatus(s.Header.Status)
		d.From.Status = status
	}
	d.Verdict = Tell
	switch status {
	case InProgress:
		if s.State.Session != "" && s.State.Session != s.Session && alive {
			return d
		}
	case Interrupted, Handover: // its owner has stopped
		if d.Refusal = d.refusal(s); d.Refusal != "" {
			return d
		}
	default:
		return d
	}
	if stopped != InProgress {
		return d.end(s, stopped, ByPerson)
	}
	d.own(s)
	if status == Handover {
		d.begin(s) // what is interrupted goes on, but this is another turn of work
	}
	if d.Verdict = Take; !s.Marked && status == InProgress {
		d.Verdict = Note
	}
	return d
}

// refusal says which limit keeps a prompt from taking a loop up again.
func (d *Decision) refusal(s *Snapshot) string {
	handover := s.State.Status == Handover
	switch hourly := s.Limits.IterationsPerHour; {
	case d.Next.Late(s.Limits, s.Now):
		return Deadline
	case !handover:
		return ""
	case d.Next.Iteration >= d.Limit:
		return MaxIterations
	case hourly > 0 && len(s.State.LastHour(s.Now)) >= hourly:
		return IterationsPerHour
	case s.State.LastSession == s.Session && s.State.ExitReason != IterationsPerHour:
		return s.State.ExitReason // it wants a fresh session
	}
	return ""
}

// start answers a session that begins. An interrupted loop waits for a prompt
// all the same: a person may only want to look at what was said.
func (d Decision) start(s *Snapshot, stopped Status) Decision {
	if stopped != InProgress {
		return Decision{Verdict: Pass} // the next stop says so
	}
	if d.Verdict = Tell; s.State.Session == s.Session && s.State.Status == InProgress {
		d.Verdict = Note
	}
	return d
}

// interrupt ends a loop whose turn died of an API error, or whose session
// ended: perhaps of such an error too, whose own event was cut off.
func (d Decision) interrupt(s *Snapshot) Decision {
	if s.Tail == nil {
		return Decision{Verdict: NeedTail}
	}
	failure := s.Tail.Error
	if s.Event == StopFailure {
		failure = s.Error
	}
	reason := SessionEnded
	switch {
	case failure == RateLimit:
		reason = RateLimit
		if d.Next.RetryAt = s.RetryAt; s.RetryAt.IsZero() {
			d.Next.RetryAt = s.Tail.RetryAt
		}
	case failure != "" || s.Event == StopFailure:
		reason = APIError
	}
	return d.end(s, Interrupted, reason)
}

// release lets the loop go: after /clear the session has another id, and knows
// nothing of the loop.
func (d Decision) release(s *Snapshot) Decision {
	d.Verdict = Release
	d.Next.Release()
	d.Next.SessionPID = s.State.SessionPID // by which the cleared session is known
	return d
}
