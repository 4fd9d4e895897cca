package decide

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Follows reports whether the record was can have become s while checks ran. A person may
// pause or end the loop meanwhile, and its session may end. Nobody completes the loop,
// raises a limit, or takes an iteration back.
func (s State) Follows(was State) bool {
	turned := s.Status != was.Status || s.Endings > was.Endings // it may have ended, and continued
	turns := []Status{InProgress, Paused, Cancelled, Interrupted}
	if len(was.Lanes) > 0 { // the run may end it, while the work of a lane is tested
		turns = append(turns, ReachedLimit, Stagnated, Blocked, Escalated, Handover, Failed)
	}
	lowered := s.Lowered > 0 && (was.Lowered == 0 || s.Lowered < was.Lowered)
	if turned && !slices.Contains(turns, s.Status) ||
		s.Iteration < was.Iteration || s.Endings < was.Endings ||
		s.Lowered != was.Lowered && !lowered {
		return false
	}
	if len(s.Lanes)+len(was.Lanes) > 0 { // the run counts and hands out work meanwhile
		return s.noticesFollow(was, turned)
	}
	return same(s, was.meanwhile(s, turned)) && s.noticesFollow(was, turned)
}

// meanwhile returns the record s with what others may have changed while a stop's checks ran, as it is in now: an event
// of the client says which session works on the loop, or a sender marks a notice. turned says that the loop has ended,
// or continued.
func (s State) meanwhile(now State, turned bool) State {
	s.Session = now.Session
	s.LastSession = now.LastSession
	s.SessionPID = now.SessionPID
	s.Client = now.Client
	s.ClientStart = now.ClientStart
	s.Transcript = now.Transcript
	s.Seen = now.Seen
	s.Bind = now.Bind
	s.Idle = now.Idle
	s.Gone = now.Gone
	s.Header = now.Header
	s.Before = now.Before
	s.RivalTold = now.RivalTold
	s.Running = now.Running
	s.WaitingSince = now.WaitingSince
	s.WaitingFor = now.WaitingFor
	s.Blocks = now.Blocks
	s.Passed = now.Passed
	s.SessionPassed = now.SessionPassed
	s.Context = now.Context
	s.Iteration = now.Iteration
	s.Lowered = now.Lowered
	s.Notices = now.Notices
	if s.StartedAt.IsZero() {
		s.StartedAt = now.StartedAt
		s.Hour = now.Hour
	}

	if turned {
		s.Status = now.Status
		s.ExitReason = now.ExitReason
		s.StopNow = now.StopNow
		s.Needs = now.Needs
		s.Raise = now.Raise
		s.Endings = now.Endings
		s.EndedAt = now.EndedAt
		s.RetryAt = now.RetryAt
		s.Feature = now.Feature
		s.Attempts = now.Attempts
		s.OnComplete = now.OnComplete
		s.Lanes = now.Lanes
		s.Schema = now.Schema
	}
	return s
}

// same reports whether two records are the same when they are stored.
func same(a, b State) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// noticesFollow reports whether the notices are those of was. Marks may differ, and notices of a
// session's end and of a stopped loop may be new.
func (s *State) noticesFollow(was State, turned bool) bool {
	ended, _, _ := Interrupted.Outcome()
	stopped, _, _ := Paused.Outcome()
	for _, n := range s.Notices {
		known := slices.ContainsFunc(was.Notices, func(o Notice) bool {
			return o.DeliveryID == n.DeliveryID && bytes.Equal(o.Payload, n.Payload)
		})
		var payload struct {
			Status string `json:"status"`
		}
		switch {
		case known:
		case !turned, json.Unmarshal(n.Payload, &payload) != nil, payload.Status != ended && payload.Status != stopped:
			return false
		}
	}
	return true
}
