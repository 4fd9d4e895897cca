package decide

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// dice draws numbers from bytes. It draws 0 when the bytes are used up.
type dice struct{ left []byte }

func (d *dice) n(sides int) int {
	if len(d.left) == 0 {
		return 0
	}
	n := int(d.left[0]) % sides
	d.left = d.left[1:]
	return n
}

func (d *dice) is() bool { return d.n(2) == 1 }

func pick[T any](d *dice, of ...T) T { return of[d.n(len(of))] }

func (d *dice) count() int {
	return pick(d, 0, 1, 2, 3, 4, 5, 14, 15, 16, 99, 1_000_000)
}

func (d *dice) when() time.Time {
	return pick(
		d, time.Time{}, now, now.Add(-time.Minute), now.Add(-2*time.Hour), now.Add(-100*time.Hour), now.Add(time.Hour),
	)
}

// edits are the changes that a program can make to base. A program of edits makes a
// snapshot.
var edits = []func(s *Snapshot, d *dice){
	func(s *Snapshot, d *dice) {
		s.Event = pick(d, EventStop, EventPrompt, EventFailure, EventStart, EventEnd, "subagent")
	},
	func(s *Snapshot, d *dice) { s.Session = pick(d, "s", "t", "") },
	func(s *Snapshot, d *dice) { s.IsIgnored = d.is() },
	func(s *Snapshot, d *dice) {
		s.Message = pick(
			d, "", "<promise>BLOCKED: x</promise>", "<promise>ESCALATE</promise>", "<promise>COMPLETE</promise>",
			"---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
		)
	},
	func(s *Snapshot, d *dice) {
		s.Message, s.Denied = pick(d, "", "Which one?", "Done."), pick(d, "", "Bash")
		s.Changes = pick(d, nil, []string{}, []string{"a.go"}, []string{"a_test.go"}, []string{"a.go", "b.go"})
		s.GuardsOff = d.is()
		s.State.Habits = Habits{
			Denied: d.n(4), Questions: d.n(3), TestsOnly: d.n(6), Rates: Rates{{Passed: d.n(5)}, {Passed: d.n(5)}},
			Rewritten: pick(d, nil, map[string]int{"a.go": 4}, map[string]int{"a.go": 3, "b.go": 1}),
		}
	},
	func(s *Snapshot, d *dice) { s.Running = pick(d, nil, []string{"1 subagent"}, []string{"1 shell", "x"}) },
	func(s *Snapshot, d *dice) {
		s.Client, s.State.SessionPID, s.OwnerKnown, s.OwnerAlive = d.n(3), d.n(3), d.is(), d.is()
	},
	func(s *Snapshot, d *dice) { s.Marked, s.Goal, s.Active, s.Bound = d.is(), d.is(), d.is(), d.is() },
	func(s *Snapshot, d *dice) {
		s.Cleared, s.Failure = d.is(), pick(d, "", RateLimit, "x")
	},
	func(s *Snapshot, d *dice) { s.BlockCap, s.State.Blocks = d.count(), blocked(d.n(20)) },
	func(s *Snapshot, d *dice) {
		s.State.Status = pick(
			d, InProgress, Complete, ReachedLimit, Stagnated, Blocked, Handover, Failed, Interrupted, Paused, Cancelled,
		)
		s.State.Session = pick(d, "s", "t", "")
	},
	func(s *Snapshot, d *dice) { s.State.Iteration = pick(d, 4, 1, 14, 15, 16, 1_000_000, math.MaxInt) },
	func(s *Snapshot, d *dice) {
		s.State.MaxIterations, s.State.Allowed = d.count(), d.count()
	},
	func(s *Snapshot, d *dice) {
		s.State.Unchanged, s.State.CheckFailures = d.n(9), d.n(9)
		s.State.Failures = map[string]Failure{pick(d, "a", "b", "c"): {Attempts: d.n(9), Why: "no"}}
	},
	func(s *Snapshot, d *dice) {
		s.State.StartedAt, s.State.EndedAt, s.State.WaitingSince = d.when(), d.when(), d.when()
	},
	func(s *Snapshot, d *dice) { s.State.ListDigest, s.State.TreeDigest = s.List.Digest(), pick(d, "", "t") },
	func(s *Snapshot, d *dice) {
		s.State.Hour = []int64{now.Unix() - int64(d.n(256))*30}
		s.State.ExitReason = pick(d, "", IterationsPerHour, SessionFull)
	},
	func(s *Snapshot, d *dice) {
		s.State.Passed, s.State.SessionPassed = d.n(9), d.n(9)
	},
	func(s *Snapshot, d *dice) {
		s.State, s.Bind, s.Brought = State{}, pick(d, "", BindPrompt, BindFirst), pick(d, "", "a clone")
	},
	func(s *Snapshot, d *dice) {
		s.Header = progress.Header{
			Status:    pick(d, "IN_PROGRESS", "PAUSED", "CANCELLED", "COMPLETE", ""),
			Iteration: d.count(), MaxIterations: d.count(),
		}
	},
	func(s *Snapshot, d *dice) { s.LogIteration, s.Requested = d.count(), pick(d, "", Cancelled, Paused) },
	func(s *Snapshot, d *dice) {
		n := 1 + d.n(5)
		s.List = List{}
		for i := range n {
			s.List.Items = append(s.List.Items, features.Item{ID: string(rune('a' + i)), Passes: d.is()})
		}
	},
	func(s *Snapshot, d *dice) {
		s.List = pick(d, List{Err: broken}, List{Err: errors.New("no"), Missing: true}, List{Err: features.ErrEmpty})
	},
	func(s *Snapshot, d *dice) { s.ConfigErr = errors.New("no") },
	func(s *Snapshot, d *dice) {
		s.List.Items = append(slices.Clone(s.List.Items), features.Item{ID: "z", IsAdded: true, Passes: d.is()})
	},
	func(s *Snapshot, d *dice) {
		s.Limits.MaxIterations, s.Limits.CeilingIterations = d.count(), d.count()
	},
	func(s *Snapshot, d *dice) {
		s.Limits.Stagnation, s.Limits.Attempts, s.Limits.CheckFailures = pick(d, 3, 0, 2, 9), d.n(9), d.n(9)
		s.Limits.IterationsPerHour, s.Limits.FeaturesPerSession, s.Limits.ContextTokens = d.n(3), d.n(3), d.n(3)
	},
	func(s *Snapshot, d *dice) {
		s.Limits.Deadline, s.Limits.MaxWait = time.Duration(d.n(3))*time.Hour, time.Duration(d.n(3))*time.Hour
	},
	func(s *Snapshot, d *dice) {
		s.Checks = pick(
			d, nil, []Check{ofFeature}, []Check{ofAll}, []Check{ofEach}, []Check{ofFeature, ofAll, ofEach},
			[]Check{ofClaims}, []Check{ofClaims, ofFeature},
			[]Check{{Name: "b", Digest: "b", When: WhenClaim, PerClaim: true, Features: []string{"b"}}},
		)
		s.Untrusted = d.n(4) == 3
	},
	func(s *Snapshot, d *dice) {
		s.Evaluators = nil
		for range 1 + d.n(10) {
			preset := pick(d, EvaluateDefault, EvaluateValidation, EvaluatePromise, "")
			s.Evaluators = append(s.Evaluators, Evaluator{Preset: preset})
		}
	},
	func(s *Snapshot, d *dice) { s.AgentHooks = d.is() },
	func(s *Snapshot, d *dice) {
		s.List = list(pick(d, "xxx", "x", "xxxxx")) // all claimed
		for _, item := range s.List.Items {
			r := receipt(pick(d, "f", "b", "w"), item.ID, pick(d, "now", "before", ""))
			if r.Check == "w" && d.is() {
				r.Passed, r.Failed = false, true
			}
			s.Receipts = append(s.Receipts, r)
		}
		if d.is() {
			s.Receipts = append(s.Receipts, receipt("w", "", pick(d, "now", "before")))
		}
	},
	func(s *Snapshot, d *dice) { s.NoList, s.Claimed = d.is(), d.is() },
	func(s *Snapshot, d *dice) {
		s.FreshSession, s.OthersWork, s.NoSession, s.Refused = true, d.is(), d.is(), d.is()
		s.Why = pick(d, "", "$2.01 of $2.00 spent")
		s.HandOut.Stuck, s.HandOut.SameIteration = pick(d, "", "a branch"), d.is()
		s.State.Lanes = make([]Lane, d.n(6))
	},
	func(s *Snapshot, d *dice) {
		s.NoClaims, s.MoreToDo, s.HandOut.NewWork = d.is(), d.is(), d.is()
		s.HandOut.Feature = pick(d, nil, &features.Item{}, &features.Item{ID: "b"})
	},
}

func draw(program []byte) (Snapshot, *dice) {
	s, d := base(), &dice{program}
	s.Trees = nil
	for range d.n(16) {
		edits[d.n(len(edits))](&s, d)
	}
	if s.State.Schema == 0 {
		s.State = State{} // there is no record, so nothing is in it
	}
	if s.NoList {
		s.List, s.Receipts, s.Limits.Attempts, s.Limits.FeaturesPerSession = List{}, nil, 0, 0
		s.Checks = slices.DeleteFunc(slices.Clone(s.Checks), func(c Check) bool { return c.PerClaim })
		s.OthersWork, s.NoSession, s.HandOut = false, false, HandOut{} // ralph-runner refuses lanes without a list
	}
	return s, d
}
