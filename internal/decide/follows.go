package decide

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Keys of the record that others may change while a stop's checks run: an event of the host says
// which session works on the loop, or a sender marks a notice.
var anytime = []string{
	"session", "lastSession", "sessionPid", "client", "clientStart", "seen", "bind", "header", "before", "rivalSaid",
	"running",
	"waitingSince", "waitingFor", "blocks", "passed", "sessionPassed", "context", "iteration", "lowered", "notices",
}

// Keys that they may change if they end or continue the loop.
var withStatus = []string{
	"status", "exitReason", "needs", "endings", "endedAt", "retryAt", "feature", "attempts", "onComplete", "lanes",
	"schema",
}

// Follows reports whether the record was can have become s while checks ran. A person may
// pause or end the loop meanwhile, and its session may end. Nobody completes the loop,
// raises a limit, or takes an iteration back.
func (s State) Follows(was State) bool {
	turned := s.Status != was.Status || s.Endings > was.Endings // it may have ended, and continued
	if turned && !slices.Contains([]Status{InProgress, Paused, Cancelled, Interrupted}, s.Status) ||
		s.Iteration < was.Iteration || s.Endings < was.Endings ||
		s.Lowered != was.Lowered && (s.Lowered < 1 || s.Lowered >= was.lowest()) {
		return false
	}
	now, before := s.Fields(), was.Fields()
	for i := 0; i < len(now); i += 2 {
		key := now[i].(string)
		may := slices.Contains(anytime, key) || turned && slices.Contains(withStatus, key) ||
			key == "startedAt" && was.StartedAt.IsZero()
		if !may && !same(now[i+1], before[i+1]) {
			return false
		}
	}
	return s.noticesFollow(was, turned)
}

// lowest returns what Lowered must be below, or more than any number.
func (s *State) lowest() int {
	if s.Lowered > 0 {
		return s.Lowered
	}
	return MaxCount + 1
}

func same(a, b any) bool {
	x, errX := jsontext.Object{"", a}.Line()
	y, errY := jsontext.Object{"", b}.Line()
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
