package decide

import (
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// TestFreshSession plays stops of a host that works each iteration in a fresh session.
func TestFreshSession(t *testing.T) {
	open := features.Item{ID: "b"}
	base := Snapshot{
		Report: Report{Event: EventStop, Session: "run-1", FreshSession: true},
		Folder: Folder{OwnerAlive: true, OwnerKnown: true, State: State{
			Schema:  1,
			Ending:  Ending{Status: InProgress},
			Owner:   Owner{Session: "run-1", LastSession: "run-1"},
			Counted: Counted{Iteration: 3, Passed: 1, SessionPassed: 1},
		}},
		Now: now,
	}
	base.List.Items = []features.Item{{ID: "a", Passes: true}, {ID: "c", Passes: true}, open}
	for _, tc := range []struct {
		name    string
		change  func(*Snapshot)
		verdict Verdict
		reason  string
	}{
		{"features of one session are not counted over many", func(s *Snapshot) {
			s.Limits.FeaturesPerSession = 2
		}, Continue, ""},
		{"one session is", func(s *Snapshot) {
			s.Limits.FeaturesPerSession, s.FreshSession = 2, false
		}, End, SessionFull},
		{"the host waits for the next hour", func(s *Snapshot) {
			s.Limits.IterationsPerHour, s.State.Hour = 1, []int64{now.Unix() - 600}
		}, Wait, ""},
		{"the money is spent", func(s *Snapshot) {
			s.Why = "$2.01 of $2.00 spent"
		}, End, Budget},
		{"the money is spent, and the last feature passes", func(s *Snapshot) {
			s.Why = "$2.01 of $2.00 spent"
			s.List.Items[2].Passes = true
		}, End, AllFeaturesPass},
	} {
		s := base
		s.List.Items = append([]features.Item{}, base.List.Items...)
		tc.change(&s)
		d, need := Decide(s)
		if need.Kind != NeedNothing || d.Verdict != tc.verdict || d.Next.ExitReason != tc.reason {
			t.Errorf("%s: %s %s, need %q; want %s %s", tc.name, d.Verdict, d.Next.ExitReason, need.Kind, tc.verdict,
				tc.reason)
		}
		if wait := tc.verdict == Wait; wait != d.Next.RetryAt.Equal(now.Add(50*time.Minute)) {
			t.Errorf("%s: until %v", tc.name, d.Next.RetryAt)
		}
		if tc.reason == Budget && d.Next.Needs != s.Why {
			t.Errorf("%s: needs %q", tc.name, d.Next.Needs)
		}
	}
}
