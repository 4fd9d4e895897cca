package decide

import (
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// TestLeg plays stops of a host that works a loop with a chain of agents.
func TestLeg(t *testing.T) {
	base := Snapshot{
		Heard: Heard{Event: EventStop, Session: "run-1"},
		Folder: Folder{OwnerAlive: true, OwnerKnown: true, State: State{
			Schema:  1,
			Ending:  Ending{Status: InProgress},
			Owner:   Owner{Session: "run-1", LastSession: "run-1"},
			Counted: Counted{Iteration: 3, CheckFailures: 1, TreeDigest: "same", Unchanged: 1},
			Work:    Work{Feature: "b", Attempts: 2},
		}},
		Now:   now,
		Rules: Rules{Limits: Limits{Stagnation: 2, FeatureAttempts: 2, CheckFailures: 2}},
		Found: Found{Tree: "same", Trees: []string{}},
	}
	items := func(pass bool) List {
		return List{List: features.List{Items: []features.Item{{ID: "a", Passes: true}, {ID: "b", Passes: pass}}}}
	}
	review, opened := Leg{Review: true, Hold: true}, Leg{Review: true, Done: true}
	job, hold, done := Leg{Job: true}, Leg{Hold: true}, Leg{Hold: true, Done: true}
	for _, tc := range []struct {
		name     string
		leg      Leg
		complete bool
		change   func(*Snapshot)
		verdict  Verdict
		reason   string
		goesOn   bool // Next.Complete
	}{
		{"the loop is complete, and no leg follows", Leg{}, true, nil, End, AllFeaturesPass, false},
		{"a leg follows", done, true, nil, Continue, "", true},
		{"the leg is not over", hold, true, func(s *Snapshot) { s.State.TreeDigest = "other" }, Continue, "", true},
		{"the leg is not over, and nothing changes", hold, true, nil, End, NoProgress, true},
		{"the job is not done, and nothing changes", job, false, nil, End, NoProgress, false},
		{"the job is done", Leg{Job: true, Done: true}, false, nil, Continue, "", false},
		{"the job does not count as an attempt", job, false, func(s *Snapshot) { s.State.TreeDigest = "other" },
			Continue, "", false},
		{"without a job it does", hold, false, func(s *Snapshot) { s.State.TreeDigest = "other" }, End, Attempts,
			false},
		{"what a job claims is not looked at", job, true, func(s *Snapshot) {
			s.Message, s.State.TreeDigest = "<promise>COMPLETE</promise>", "other"
		}, Continue, "", false},
		{"a person is needed", job, false, func(s *Snapshot) { s.Message = "<promise>BLOCKED: no key</promise>" }, End,
			Asks, false},
		{"the limit of a leg that is over", done, true, func(s *Snapshot) { s.Round.Spent = MaxIterations }, Continue, "",
			true},
		{"the limit of a job that is done", Leg{Job: true, Done: true}, false,
			func(s *Snapshot) { s.Round.Spent = MaxIterations }, Continue, "", false},
		{"the limit of a leg", done, false, func(s *Snapshot) { s.Round.Spent = MaxIterations }, End, Budget, false},
		{"the limit of a job", job, false, func(s *Snapshot) { s.Round.Spent = MaxIterations }, End, Budget, false},
		{"a job rewrites its own file", job, false, func(s *Snapshot) {
			s.State.TreeDigest, s.Changes = "other", []string{"PLAN.md"}
			s.State.Habits.Rewritten = map[string]int{"PLAN.md": 9}
		}, Continue, "", false},
		{"a builder does", hold, false, func(s *Snapshot) {
			s.State.TreeDigest, s.Changes, s.State.Attempts = "other", []string{"x.go"}, 0
			s.State.Habits.Rewritten = map[string]int{"x.go": 9}
		}, End, NoProgress, false},
		{"a job asks again", job, false, func(s *Snapshot) {
			s.State.Habits.Asked, s.Message, s.Limits.Stagnation = 1, "Which one?", 9
		}, End, Asks, false},
		{"the job is done, and the one before has asked", Leg{Job: true, Done: true}, false, func(s *Snapshot) {
			s.State.Habits.Asked, s.Message, s.Limits.Stagnation = 1, "Which one?", 9
		}, Continue, "", false},
		{"the money", done, true, func(s *Snapshot) { s.Round.Spent = Budget }, End, Budget, true},
		{"the loop's own limit", done, true, func(s *Snapshot) { s.Limits.MaxIterations, s.Limits.Trusted = 3, true }, End,
			MaxIterations, true},
		{"a review leaves a feature open", opened, false, nil, Continue, "", false},
		{"its last iteration", opened, false,
			func(s *Snapshot) { s.Round.Spent = MaxIterations }, End, Budget, false},
		{"a review leaves nothing open, and a leg follows", Leg{Review: true, Hold: true, Done: true}, true,
			func(s *Snapshot) { s.Round.Spent = MaxIterations }, Continue, "", true},
		{"a review leaves nothing open, and none follows", opened, true, nil, End, AllFeaturesPass, false},
		{"a review is not done", review, true, func(s *Snapshot) { s.State.TreeDigest = "other" }, Continue, "", true},
		{"a review is not done, and has opened a feature", review, false,
			func(s *Snapshot) { s.State.TreeDigest = "other" }, Continue, "", false},
		{"a review is not done, and nothing changes", review, false, nil, End, NoProgress, false},
		{"a review takes claims back that were proven", opened, false, func(s *Snapshot) {
			s.State.Habits.Checked, s.State.Habits.Fell = 2, 3
		}, Continue, "", false},
		{"a builder loses what was proven", hold, false, func(s *Snapshot) {
			s.State.TreeDigest, s.State.Attempts, s.State.Habits.Checked, s.State.Habits.Fell = "other", 0, 2, 3
		}, End, NoProgress, false},
		{"a review says that it is complete", opened, false, func(s *Snapshot) {
			s.Message = "<promise>COMPLETE</promise>"
		}, Continue, "", false},
	} {
		s := base
		s.List = items(tc.complete)
		s.State.ListDigest, s.State.Passed = s.List.Digest(), s.List.Passed()
		s.Round = Round{Fresh: true, Leg: tc.leg}
		if tc.change != nil {
			tc.change(&s)
		}
		d, need := Decide(s)
		if need.Kind != NeedNothing || d.Verdict != tc.verdict || d.Next.ExitReason != tc.reason ||
			d.Next.Complete != tc.goesOn {
			t.Errorf("%s: %s %s, complete %v, need %q; want %s %s, %v", tc.name, d.Verdict, d.Next.ExitReason,
				d.Next.Complete, need.Kind, tc.verdict, tc.reason, tc.goesOn)
		}
		over := tc.leg.Done && (tc.leg.Job || d.Next.Complete || tc.leg.Review && d.Verdict == Continue)
		if over && (d.Next.CheckFailures != 0 || d.Next.Unchanged != 0 && d.Verdict == Continue) {
			t.Errorf("%s: %d failures, unchanged %d: this counts against the next leg", tc.name, d.Next.CheckFailures,
				d.Next.Unchanged)
		}
		noAttempt := tc.leg.Job || tc.leg == review || tc.goesOn
		if noAttempt && d.Verdict == Continue && (d.Feature.ID != "" || d.Next.Attempts != 0) {
			t.Errorf("%s: attempt %d at %q", tc.name, d.Next.Attempts, d.Feature.ID)
		}
		if tc.leg == opened && d.Verdict == Continue && (d.Promised || d.Next.Feature != "b" || d.Next.Attempts != 1) {
			t.Errorf("%s: attempt %d at %q, promised %v", tc.name, d.Next.Attempts, d.Next.Feature, d.Promised)
		}
	}
}
