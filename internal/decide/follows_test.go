package decide

import (
	"testing"
	"time"
)

// TestFollows says of changes of the record whether they can be somebody's who may make
// them while checks run.
func TestFollows(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	was := State{
		Schema:    SchemaVersion,
		Loop:      "/l",
		Ending:    Ending{Status: InProgress, Endings: 1, StartedAt: at},
		Counted:   Counted{Iteration: 3, Passed: 2},
		Allowance: Allowance{Lowered: 9},
		Owner:     Owner{Session: "s1"},
		Notifying: Notifying{Notices: []Notice{{DeliveryID: "1", Payload: []byte(`{"status":"failed"}`)}}},
	}
	end := func(s *State, status Status) { s.Status, s.Endings, s.EndedAt = status, s.Endings+1, at }
	for name, tc := range map[string]struct {
		change func(*State)
		want   bool
	}{
		"nothing":                     {func(*State) {}, true},
		"a person pauses":             {func(s *State) { end(s, Paused) }, true},
		"a person cancels":            {func(s *State) { end(s, Cancelled); s.Feature, s.Attempts = "", 0 }, true},
		"the session ends":            {func(s *State) { end(s, Interrupted); s.ExitReason = SessionEnded }, true},
		"it ends, and a prompt comes": {func(s *State) { s.Endings++; s.Session, s.RetryAt = "s2", at }, true},
		"a notice is marked": {func(s *State) { s.Notices = []Notice{s.Notices[0]}; s.Notices[0].SentAt = at },
			true},
		"a notice is dropped":        {func(s *State) { s.Notices = nil }, true},
		"the loop is released":       {func(s *State) { s.Release() }, true},
		"the limit is lowered":       {func(s *State) { s.Lowered = 5 }, true},
		"it is COMPLETE":             {func(s *State) { end(s, Complete) }, false},
		"it is BLOCKED":              {func(s *State) { end(s, Blocked) }, false},
		"an iteration is taken back": {func(s *State) { s.Iteration = 1 }, false},
		"an ending is taken back":    {func(s *State) { s.Endings = 0 }, false},
		"the limit is raised":        {func(s *State) { s.Lowered = 10 }, false},
		"the limit is not lowered":   {func(s *State) { s.Lowered = 0 }, false},
		"it is extended":             {func(s *State) { s.Extended = 100 }, false},
		"its time is extended":       {func(s *State) { s.ExtendedDeadline = time.Hour }, false},
		"it began later":             {func(s *State) { s.StartedAt = at.Add(time.Hour) }, false},
		"it has more proven":         {func(s *State) { s.Proven = 7 }, false},
		"its list is another":        {func(s *State) { s.List = "/other" }, false},
		"a notifier is put in":       {func(s *State) { s.OnComplete = "touch x" }, false},
		"attempts are taken back":    {func(s *State) { s.Attempts = -1 }, false},
		"a success is to be told": {func(s *State) {
			end(s, Interrupted)
			s.Notices = []Notice{{DeliveryID: "2", Payload: []byte(`{"status":"failed","status":"completed"}`)}}
		}, false},
		"another payload": {func(s *State) {
			s.Notices = []Notice{{DeliveryID: "1", Payload: []byte(`{"status":"completed"}`)}}
		}, false},
		"it is REACHED_LIMIT": {func(s *State) { end(s, ReachedLimit) }, false},
	} {
		now := was
		tc.change(&now)
		if got := now.Follows(was); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	lanes := was
	lanes.Lanes = []Lane{{"a", 1, 3}}
	for status, want := range map[Status]bool{
		ReachedLimit: true, Stagnated: true, Blocked: true, Escalated: true, Handover: true, Failed: true,
		Complete: false, "OTHER": false,
	} {
		now := lanes
		end(&now, status)
		now.Lanes = nil
		if got := now.Follows(lanes); got != want {
			t.Errorf("a run with lanes ends %s: %v, want %v", status, got, want)
		}
	}
	if fresh := (State{Allowance: Allowance{Lowered: 4}}); !fresh.Follows(State{}) {
		t.Error("a limit that a person lowers for the first time does not follow")
	}
}
