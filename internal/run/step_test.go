package run

import (
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

type snapshot = decide.Snapshot

// TestStepStop plays stops of a run that works a loop with a chain of agents.
func TestStepStop(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	base := snapshot{
		Report: decide.Report{Event: decide.EventStop, Session: "run-1", FreshSession: true},
		Folder: decide.Folder{OwnerAlive: true, OwnerKnown: true, State: decide.State{
			Schema:  1,
			Ending:  decide.Ending{Status: decide.InProgress},
			Owner:   decide.Owner{Session: "run-1", LastSession: "run-1"},
			Counted: decide.Counted{Iteration: 3, CheckFailures: 1, TreeDigest: "same", Unchanged: 1},
			Work:    decide.Work{Feature: "b", Failures: map[string]decide.Failure{"b": {Attempts: 1}}},
		}},
		Now:   now,
		Rules: decide.Rules{Limits: decide.Limits{Stagnation: 2, Attempts: 2, CheckFailures: 2}},
		Found: decide.Found{Tree: "same", Trees: []string{}},
	}
	items := func(pass bool) decide.List {
		return decide.List{List: features.List{Items: []features.Item{{ID: "a", Passes: true}, {ID: "b", Passes: pass}}}}
	}
	aTest := record.Step{Role: say.Tester}
	aReview, aJob := record.Step{Step: chain.Step{Reviews: true}}, record.Step{Job: true}
	review, opened := stepStop{step: aReview}, stepStop{step: aReview, last: true, done: true}
	job, jobDone, hold, done := stepStop{step: aJob}, stepStop{step: aJob, done: true}, stepStop{}, stepStop{done: true}
	otherTree := func(s *snapshot) { s.State.TreeDigest = "other" }
	const usedUp = "6 of 6 iterations"
	used := func(s *snapshot) { s.Why, s.State.Failures = usedUp, nil }
	for _, tc := range []struct {
		name     string
		stop     stepStop
		complete bool
		change   func(*snapshot)
		verdict  decide.Verdict
		reason   string
		goesOn   bool // Next.WasComplete
	}{
		{"the loop is complete, and no step follows", stepStop{last: true, done: true}, true, nil, decide.End,
			decide.AllFeaturesPass, false},
		{"a step follows", done, true, nil, decide.Continue, "", true},
		{"the step is not over", hold, true, otherTree, decide.Continue, "", true},
		{"the step is not over, and nothing changes", hold, true, nil, decide.End, decide.NoProgress, true},
		{"the job is not done, and nothing changes", job, false, nil, decide.End, decide.NoProgress, false},
		{"the job is done", jobDone, false, nil, decide.Continue, "", false},
		{"the job does not count as an attempt", job, false, otherTree, decide.Continue, "", false},
		{"without a job it does", hold, false, otherTree, decide.End, decide.SetAside, false},
		{"what a job claims is not looked at", job, true, func(s *snapshot) {
			s.Message, s.State.TreeDigest = "<promise>COMPLETE</promise>", "other"
		}, decide.Continue, "", false},
		{"a person is needed", job, false, func(s *snapshot) { s.Message = "<promise>BLOCKED: no key</promise>" },
			decide.End, decide.Asks, false},
		{"the limit of a step that is over", done, true, used, decide.Continue, "", true},
		{"the limit of a job that is done", jobDone, false, used, decide.Continue, "", false},
		{"the limit of a step", done, false, used, decide.End, decide.Budget, false},
		{"the limit of a job", job, false, used, decide.End, decide.Budget, false},
		{"a job rewrites its own file", job, false, func(s *snapshot) {
			s.State.TreeDigest, s.Changes = "other", []string{"PLAN.md"}
			s.State.Habits.Rewritten = map[string]int{"PLAN.md": 9}
		}, decide.Continue, "", false},
		{"a builder does", hold, false, func(s *snapshot) {
			s.State.TreeDigest, s.Changes, s.State.Failures = "other", []string{"x.go"}, nil
			s.State.Habits.Rewritten = map[string]int{"x.go": 9}
		}, decide.End, decide.NoProgress, false},
		{"a job asks again", job, false, func(s *snapshot) {
			s.State.Habits.Questions, s.Message, s.Limits.Stagnation = 1, "Which one?", 9
		}, decide.End, decide.Asks, false},
		{"the job is done, and the one before has asked", jobDone, false, func(s *snapshot) {
			s.State.Habits.Questions, s.Message, s.Limits.Stagnation = 1, "Which one?", 9
		}, decide.Continue, "", false},
		{"the money", done, true, func(s *snapshot) { s.Why = spent }, decide.End, decide.Budget, true},
		{"the loop's own limit", done, true, func(s *snapshot) { s.Limits.MaxIterations, s.Limits.Trusted = 3, true },
			decide.End, decide.MaxIterations, true},
		{"a review leaves a feature open", opened, false, nil, decide.Continue, "", false},
		{"its last iteration", opened, false, used, decide.End, decide.Budget, false},
		{"a review leaves nothing open, and a step follows", stepStop{step: aReview, done: true}, true, used,
			decide.Continue, "", true},
		{"a review leaves nothing open, and none follows", opened, true, nil, decide.End, decide.AllFeaturesPass, false},
		{"a review is not done", review, true, otherTree, decide.Continue, "", true},
		{"a review is not done, and has opened a feature", review, false, otherTree, decide.Continue, "", false},
		{"a review is not done, and nothing changes", review, false, nil, decide.End, decide.NoProgress, false},
		{"a review takes claims back that were proven", opened, false, func(s *snapshot) {
			s.State.Rates = decide.Rates{{Passed: 3}, {Passed: 2}}
		}, decide.Continue, "", false},
		{"a test takes claims back that were proven", stepStop{step: aTest}, false, func(s *snapshot) {
			s.State.Work = decide.Work{}
			s.State.TreeDigest, s.State.Rates = "other", decide.Rates{{Passed: 3}, {Passed: 2}}
		}, decide.Continue, "", false},
		{"a tester loses what it fixes", stepStop{step: aTest}, false, func(s *snapshot) {
			s.State.TreeDigest, s.State.Failures = "other", nil
			s.State.Rates = decide.Rates{{Passed: 3}, {Passed: 2}}
		}, decide.End, decide.NoProgress, false},
		{"a builder loses what was proven", hold, false, func(s *snapshot) {
			s.State.TreeDigest, s.State.Failures = "other", nil
			s.State.Rates = decide.Rates{{Passed: 3}, {Passed: 2}}
		}, decide.End, decide.NoProgress, false},
		{"a review says that it is complete", opened, false, func(s *snapshot) {
			s.Message = "<promise>COMPLETE</promise>"
		}, decide.Continue, "", false},
	} {
		s := base
		s.List = items(tc.complete)
		s.State.ListDigest, s.State.Passed = s.List.Digest(), s.List.Passed()
		if tc.change != nil {
			tc.change(&s)
		}
		stop := tc.stop
		stop.used = s.Why == usedUp
		d, need := stop.decide(s)
		if need.Kind != decide.NeedNothing || d.Verdict != tc.verdict || d.Next.ExitReason != tc.reason ||
			d.Next.WasComplete != tc.goesOn {
			t.Errorf("%s: %s %s, complete %v, need %q; want %s %s, %v", tc.name, d.Verdict, d.Next.ExitReason,
				d.Next.WasComplete, need.Kind, tc.verdict, tc.reason, tc.goesOn)
		}
		over := tc.stop.done &&
			(tc.stop.step.Job || d.Next.WasComplete || tc.stop.step.Reviews && d.Verdict == decide.Continue)
		if over && (d.Next.CheckFailures != 0 || d.Next.Unchanged != 0 && d.Verdict == decide.Continue) {
			t.Errorf("%s: %d failures, unchanged %d: this counts against the next step", tc.name, d.Next.CheckFailures,
				d.Next.Unchanged)
		}
		noAttempt := tc.stop.step.Job || tc.stop.step.Reviews && !tc.stop.done || tc.goesOn
		if noAttempt && d.Verdict == decide.Continue && (d.Feature.ID != "" || d.Next.Attempt() != 0) {
			t.Errorf("%s: attempt %d at %q", tc.name, d.Next.Attempt(), d.Feature.ID)
		}
		backToWork := tc.stop.step.Reviews && tc.stop.done && tc.stop.last
		builds := d.Next.Feature == "b" && d.Next.Attempt() == 2 && !d.Promised
		if backToWork && d.Verdict == decide.Continue && !builds {
			t.Errorf("%s: attempt %d at %q, promised %v", tc.name, d.Next.Attempt(), d.Next.Feature, d.Promised)
		}
	}
}
