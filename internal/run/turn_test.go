package run

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

var now = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)

// list makes a list from a word of x (passes), . (open) and ! (blocked).
func list(word string) decide.List {
	l := decide.List{}
	for i, c := range word {
		l.Items = append(l.Items, features.Item{ID: string(rune('a' + i)), Passes: c == 'x', Blocked: c == '!'})
	}
	return l
}

// Checks for the rows: of every feature, of the whole tree when every feature is claimed, and of the whole tree at each
// stop.
var (
	ofFeature = decide.Check{Name: "f", Digest: "f", When: decide.WhenClaim, PerClaim: true}
	ofAll     = decide.Check{Name: "c", Digest: "c", When: decide.WhenEnd}
	ofEach    = decide.Check{Name: "i", Digest: "i", When: decide.WhenStop}
)

// failure returns the result of a check that failed.
func failure(check, feature string) decide.Receipt {
	return decide.Receipt{Check: check, Feature: feature, Name: check}
}

// broken is a list that does not parse.
var broken error = jsontext.ErrorAt([]byte("[\n}"), 2, "no")

// laneStop is a stop of a lane: what the loop shows, and what the run knows of the lane.
type laneStop struct {
	decide.Snapshot
	turn
}

func (s laneStop) decide() (decide.Decision, decide.Need) { return s.turn.decide(s.Snapshot) }

// row is a stop, which is inLanes with an edit, and the decision that it must lead to.
type row struct {
	name string
	edit func(*laneStop)
	want string // what shownLanes returns
}

// inLanes returns a run with two lanes at iteration 5 of 15. Lane 1 works on a in iteration 4, lane 2 on b in iteration
// 5. The stop is that of lane 1.
func inLanes() laneStop {
	header := progress.Header{Status: "IN_PROGRESS", Iteration: 4, MaxIterations: 15, Feature: "b"}
	s := laneStop{turn: turn{lane: 1, lanes: 2, newWork: true}}
	s.Event, s.Session, s.Now, s.Header, s.List = decide.EventStop, "run-1", now, header, list(".....")
	s.FreshSession, s.OthersWork = true, true
	s.Limits = decide.Limits{Stagnation: 3, MaxWait: time.Hour}
	s.State = decide.State{
		Schema:    decide.SchemaVersion,
		Ending:    decide.Ending{Status: decide.InProgress, StartedAt: now.Add(-time.Hour)},
		Allowance: decide.Allowance{Allowed: 15},
		Owner:     decide.Owner{Session: "run-1", LastSession: "run-1"},
		Counted:   decide.Counted{Iteration: 5, ListDigest: s.List.Digest(), Unchanged: 1},
		Work:      decide.Work{Feature: "b", Lanes: []decide.Lane{has("a", 4), has("b", 5)}},
		Headers:   decide.Headers{Header: header},
	}
	return s
}

// spent says why no session begins.
const spent = "$2.01 of $2.00 spent"

// has returns what a lane has.
func has(feature string, iteration int) decide.Lane {
	return decide.Lane{Feature: feature, Iteration: iteration}
}

// inWords returns a decision in words: the verdict, then the status and the reason of an ending, the iteration and the
// feature of a block, or what is needed.
func inWords(d decide.Decision, need decide.Need) string {
	got := d.Word() + string(need.Kind)
	switch d.Verdict {
	case decide.End:
		got += " " + string(d.Next.Status) + " " + d.Next.ExitReason
	case decide.Wait:
		got += fmt.Sprintf(" %d", d.Next.Iteration)
	case decide.Continue:
		got += fmt.Sprintf(" %d %s", d.Next.Iteration, d.Feature.ID)
		if d.Failure != nil {
			got += " failed " + d.Failure.Name
		}
	}
	for _, run := range need.Runs {
		got += " " + run.Check.Digest + ":" + run.Feature
	}
	return got
}

// shownLanes shows a decision about a lane, and what the lanes have then: the feature and the iteration.
func shownLanes(d decide.Decision, need decide.Need) string {
	text := inWords(d, need)
	for i, l := range d.Next.Lanes {
		text += fmt.Sprintf(" | %d:", i+1)
		if l != (decide.Lane{}) {
			text += fmt.Sprintf(" %s %d", l.Feature, l.Iteration)
		}
	}
	return text
}

var laneRows = []row{
	{"it did not pass: the lane keeps it", func(*laneStop) {}, "continue 6 a | 1: a 6 | 2: b 5"},
	{"it passed: the next one that no lane has", func(s *laneStop) { s.List = list("x....") },
		"continue 6 c | 1: c 6 | 2: b 5"},
	{"the next one is to come later", func(s *laneStop) {
		s.List, s.later = list("x...."), map[string]bool{"c": true, "d": false}
	}, "continue 6 d | 1: d 6 | 2: b 5"},
	{"its own is to come later", func(s *laneStop) { s.later = map[string]bool{"a": true} },
		"continue 6 c | 1: c 6 | 2: b 5"},
	{"its work waits for a person", func(s *laneStop) { s.branches = map[string]string{"a": "r/a"} },
		"continue 6 c | 1: c 6 | 2: b 5"},
	{"all that is left waits for a person, and another lane works", func(s *laneStop) {
		s.List, s.branches = list("..x"), map[string]string{"a": "r/a"}
	}, "wait 5 | 1: | 2: b 5"},
	{"all that is left waits for a person", func(s *laneStop) {
		s.List, s.branches = list("..x"), map[string]string{"a": "r/a", "b": "r/b"}
		s.OthersWork, s.State.Lanes[1] = false, decide.Lane{}
	}, "end BLOCKED all_blocked"},
	{"the work for the loop as a whole waits for a person", func(s *laneStop) {
		s.List, s.branches = list("xx"), map[string]string{"": "r/loop"}
		s.OthersWork, s.State.Lanes[1] = false, decide.Lane{}
		s.Checks, s.Results = []decide.Check{ofEach}, []decide.Receipt{failure("i", "")}
	}, "end BLOCKED all_blocked"},
	{"nothing is free", func(s *laneStop) { s.List = list("x.") }, "wait 5 | 1: | 2: b 5"},
	{"nothing is free but what comes later", func(s *laneStop) {
		s.List, s.later = list("x.."), map[string]bool{"c": true}
	}, "wait 5 | 1: | 2: b 5"},
	{"what comes later, and nobody else works", func(s *laneStop) {
		s.List, s.later, s.OthersWork, s.State.Lanes[1] = list("xx."), map[string]bool{"c": true}, false, decide.Lane{}
	}, "continue 6 c | 1: c 6 | 2:"},
	{"what is left is another lane's, which does not work", func(s *laneStop) {
		s.List, s.OthersWork, s.State.Lanes[1].Iteration = list("x."), false, 0
	}, "continue 6 b | 1: b 6 | 2:"},
	{"all that is left is blocked, and another lane works", func(s *laneStop) { s.List = list("x.!") },
		"wait 5 | 1: | 2: b 5"},
	{"all that is left is blocked, and nobody works", func(s *laneStop) {
		s.List, s.OthersWork, s.State.Lanes[1] = list("xx!"), false, decide.Lane{}
	}, "end BLOCKED all_blocked"},
	{"all pass, and another lane works", func(s *laneStop) { s.List = list("xx") }, "wait 5 | 1: | 2: b 5"},
	{"all pass", func(s *laneStop) { s.List, s.OthersWork = list("xx"), false }, "end COMPLETE all_features_pass"},
	{"its feature is gone from the list", func(s *laneStop) { s.List = list("...."); s.State.Lanes[0].Feature = "z" },
		"continue 6 a | 1: a 6 | 2: b 5"},
	{"there are fewer lanes now", func(s *laneStop) {
		s.State.Lanes, s.List = append(s.State.Lanes, has("c", 3)), list("x..")
	}, "continue 6 c | 1: c 6 | 2: b 5"},
	{"there are more lanes now", func(s *laneStop) { s.lane, s.lanes, s.NoSession = 4, 4, true },
		"continue 6 c | 1: a 4 | 2: b 5 | 3: | 4: c 6"},

	// The limits.
	{"no iteration is left, and another lane works", func(s *laneStop) { s.State.Iteration = 15 },
		"wait 15 | 1: a 0 | 2: b 5"},
	{"no iteration is left", func(s *laneStop) { s.State.Iteration, s.OthersWork = 15, false },
		"end REACHED_LIMIT max_iterations"},
	{"the run's own limit, and another lane works", func(s *laneStop) { s.Why = "12 of 12 iterations" },
		"wait 5 | 1: a 0 | 2: b 5"},
	{"the money is spent, and another lane works", func(s *laneStop) { s.Why = spent },
		"wait 5 | 1: a 0 | 2: b 5"},
	{"the money is spent with the last iteration", func(s *laneStop) { s.Why, s.State.Iteration = spent, 15 },
		"wait 15 | 1: a 0 | 2: b 5"},
	{"the money is spent", func(s *laneStop) { s.Why, s.OthersWork = spent, false }, "end REACHED_LIMIT budget"},
	{"the deadline, and another lane works", func(s *laneStop) {
		s.Limits.Deadline, s.State.StartedAt = time.Hour, now.Add(-2*time.Hour)
	}, "end REACHED_LIMIT deadline"},
	{"the iterations of this hour", func(s *laneStop) {
		s.Limits.IterationsPerHour, s.State.Hour = 1, []int64{now.Unix()}
	}, "wait 5 | 1: a 0 | 2: b 5"},
	{"the last attempt at its own feature", func(s *laneStop) {
		s.Limits.Attempts, s.State.Failures = 3, map[string]decide.Failure{"a": {Attempts: 2}}
	}, "continue 6 c | 1: c 6 | 2: b 5"},
	{"one but the last", func(s *laneStop) {
		s.Limits.Attempts, s.State.Failures = 3, map[string]decide.Failure{"a": {Attempts: 1}}
	}, "continue 6 a | 1: a 6 | 2: b 5"},
	{"the last attempt, and another lane works on what is left", func(s *laneStop) {
		s.List, s.Limits.Attempts, s.State.Failures = list("..x"), 3, map[string]decide.Failure{"a": {Attempts: 2}}
	}, "wait 5 | 1: | 2: b 5"},
	{"the last attempt at the last feature", func(s *laneStop) {
		s.List, s.Limits.Attempts, s.State.Failures = list(".x"), 3, map[string]decide.Failure{"a": {Attempts: 2}}
		s.OthersWork, s.State.Lanes[1] = false, decide.Lane{}
	}, "end BLOCKED set_aside"},
	{"the work was merged in the last attempt", func(s *laneStop) {
		s.List, s.Limits.Attempts, s.State.Failures = list("x...."), 3, map[string]decide.Failure{"a": {Attempts: 2}}
	}, "continue 6 c | 1: c 6 | 2: b 5"},
	{"attempts of another lane's feature", func(s *laneStop) {
		s.Limits.Attempts, s.State.Failures = 3, map[string]decide.Failure{"b": {Attempts: 2}}
	}, "continue 6 a | 1: a 6 | 2: b 5"},
	{"stops without a change, as many as one agent may have", func(s *laneStop) {
		s.newWork, s.State.Unchanged = false, 3
	}, "continue 6 a | 1: a 6 | 2: b 5"},
	{"as many as two may have", func(s *laneStop) { s.newWork, s.State.Unchanged = false, 5 },
		"end STAGNATED no_progress"},
	{"as many, and the work tree changed", func(s *laneStop) { s.State.Unchanged = 5 },
		"continue 6 a | 1: a 6 | 2: b 5"},
	{"as many, and another lane's feature passed", func(s *laneStop) {
		s.newWork, s.State.Unchanged, s.List = false, 5, list(".x...")
	}, "continue 6 a | 1: a 6 | 2: b 5"},
	{"it was not merged too often for one agent", func(s *laneStop) {
		s.Refused, s.State.CheckFailures, s.Limits.CheckFailures = true, 2, 3
	}, "continue 6 a | 1: a 6 | 2: b 5"},
	{"it was not merged too often for two", func(s *laneStop) {
		s.Refused, s.State.CheckFailures, s.Limits.CheckFailures = true, 5, 3
	}, "end REACHED_LIMIT attempts"},
	{"it is merged at last", func(s *laneStop) {
		s.List, s.State.CheckFailures, s.Limits.CheckFailures = list("x...."), 6, 3
	}, "continue 6 c | 1: c 6 | 2: b 5"},

	// What an agent or a person says.
	{"an agent needs a person", func(s *laneStop) { s.Message = "<promise>BLOCKED: why</promise>" },
		"end BLOCKED asks"},
	{"a person cancels", func(s *laneStop) { s.Requested = decide.Cancelled }, "end CANCELLED by_person"},
	{"a person has paused it", func(s *laneStop) { s.State.Status = decide.Paused }, "pass | 1: a 4 | 2: b 5"},
	{"the list is broken: no agent in a lane repairs it", func(s *laneStop) { s.List = decide.List{Err: broken} },
		"end FAILED unusable"},
	{"an evaluator completes it, and another lane works", func(s *laneStop) {
		s.Evaluators, s.Message = []decide.Evaluator{{Preset: decide.EvaluatePromise}}, "<promise>COMPLETE</promise>"
	}, "continue 6 a | 1: a 6 | 2: b 5"},
	{"the checks of the whole tree wait for the other lane", func(s *laneStop) {
		s.List, s.Checks = list("x."), []decide.Check{ofAll}
	}, "wait 5 | 1: | 2: b 5"},
	{"all pass: the checks of the whole tree", func(s *laneStop) {
		s.List, s.Checks, s.OthersWork = list("xx"), []decide.Check{ofAll}, false
	}, "checks c: | 1: a 4 | 2: b 5"},
	{"one of them fails: the lane works on that", func(s *laneStop) {
		s.List, s.Checks, s.OthersWork = list("xx"), []decide.Check{ofAll}, false
		s.Results = []decide.Receipt{failure("c", "")}
	}, "continue 6  failed c | 1:  6 | 2: b 5"},
	{"a feature fails its check again", func(s *laneStop) {
		s.List, s.Checks, s.OthersWork, s.State.Lanes[1] = list("x."), []decide.Check{ofFeature}, false, decide.Lane{}
		s.List.Items[0].Passes, s.Results = false, []decide.Receipt{failure("f", "a")}
	}, "continue 6 a failed f | 1: a 6 | 2:"},
	{"another lane's feature fails its check", func(s *laneStop) {
		s.Checks, s.Results = []decide.Check{ofFeature}, []decide.Receipt{failure("f", "b")}
	}, "continue 6 a failed f | 1: a 6 | 2: b 5"},
}

// beginRows are those of lanes that ask for a feature.
var beginRows = []row{
	{"the first lane gets the iteration that there is", func(s *laneStop) {
		s.State.Lanes, s.State.Iteration, s.Header.Iteration, s.OthersWork = nil, 1, 1, false
	}, "continue 1 a | 1: a 1 | 2:"},
	{"the first lane goes on where one agent was interrupted", func(s *laneStop) {
		s.State.Lanes, s.State.Feature, s.OthersWork = nil, "a", false
	}, "continue 5 a | 1: a 5 | 2:"},
	{"the second lane gets the next one", func(s *laneStop) {
		s.State.Lanes, s.State.Iteration, s.Header.Iteration, s.lane = []decide.Lane{has("a", 1), {}}, 1, 1, 2
	}, "continue 2 b | 1: a 1 | 2: b 2"},
	{"a lane that was interrupted", func(s *laneStop) {}, "continue 5 a | 1: a 4 | 2: b 5"},
	{"a lane that was interrupted in the last iteration", func(s *laneStop) {
		s.State.Iteration, s.State.Lanes[0].Iteration = 15, 15
	}, "continue 15 a | 1: a 15 | 2: b 5"},
	{"a lane that waited", func(s *laneStop) { s.State.Lanes[0].Iteration = 0 }, "continue 6 a | 1: a 6 | 2: b 5"},
	{"a lane whose feature has passed meanwhile", func(s *laneStop) { s.List = list("x..") },
		"continue 6 c | 1: c 6 | 2: b 5"},
	{"what is left was interrupted in another lane", func(s *laneStop) {
		s.List, s.OthersWork, s.State.Lanes[0] = list("x."), false, decide.Lane{}
	}, "continue 5 b | 1: b 5 | 2:"},
	{"nothing is free", func(s *laneStop) { s.List = list("x.") }, "pass | 1: a 4 | 2: b 5"},
	{"nothing is free, and nobody works", func(s *laneStop) { s.List, s.OthersWork = list("xx!"), false },
		"end BLOCKED all_blocked"},
	{"all pass", func(s *laneStop) { s.List, s.OthersWork = list("xx"), false }, "end COMPLETE all_features_pass"},
	{"all pass, and there is a check", func(s *laneStop) {
		s.List, s.Checks, s.OthersWork = list("xx"), []decide.Check{ofAll}, false
	}, "checks c: | 1: a 4 | 2: b 5"},
	{"a check is due, and a feature is free", func(s *laneStop) {
		s.List, s.Checks, s.OthersWork = list("x.."), []decide.Check{ofFeature, ofEach}, false
	}, "continue 6 c | 1: c 6 | 2: b 5"},
	{"no iteration is left", func(s *laneStop) {
		s.State.Iteration, s.State.Lanes[0].Iteration = 15, 0
	}, "pass | 1: a 0 | 2: b 5"},
	{"no iteration is left, and nobody works", func(s *laneStop) {
		s.State.Iteration, s.State.Lanes[0].Iteration, s.OthersWork = 15, 0, false
	}, "end REACHED_LIMIT max_iterations"},
	{"the money is spent, and another lane works", func(s *laneStop) { s.Why = spent },
		"pass | 1: a 4 | 2: b 5"},
	{"the money is spent", func(s *laneStop) { s.Why, s.OthersWork = spent, false }, "end REACHED_LIMIT budget"},
	{"nobody has stood still", func(s *laneStop) {
		s.newWork, s.State.Unchanged, s.State.CheckFailures, s.Limits.CheckFailures = false, 99, 99, 3
	}, "continue 5 a | 1: a 4 | 2: b 5"},
	{"the iterations of this hour", func(s *laneStop) {
		s.Limits.IterationsPerHour, s.State.Hour, s.State.Lanes[0].Iteration = 1, []int64{now.Unix()}, 0
	}, "wait 5 | 1: a 0 | 2: b 5"},
	{"an old message says nothing", func(s *laneStop) { s.Message = "<promise>BLOCKED: why</promise>" },
		"continue 5 a | 1: a 4 | 2: b 5"},
}

func TestLanes(t *testing.T) {
	begins := func(edit func(*laneStop)) func(*laneStop) {
		return func(s *laneStop) {
			s.NoSession = true
			edit(s)
		}
	}
	rows := slices.Clone(laneRows)
	for _, r := range beginRows {
		rows = append(rows, row{"begins: " + r.name, begins(r.edit), r.want})
	}
	for _, r := range rows {
		s := inLanes()
		r.edit(&s)
		d, need := s.decide()
		if got := shownLanes(d, need); got != r.want {
			t.Errorf("%s:\n%s, want\n%s", r.name, got, r.want)
		}
	}
}

// TestNoLanes checks that the record forgets lanes when a run without lanes goes on.
func TestNoLanes(t *testing.T) {
	s := inLanes()
	s.OthersWork, s.Tree = false, "t"
	if got := shownLanes(decide.Decide(s.Snapshot)); got != "continue 6 a" {
		t.Errorf("%s", got)
	}
}

// TestLanesPreview checks that whoever looks at a run with lanes sees no ending that the run would not come to.
func TestLanesPreview(t *testing.T) {
	for failures, want := range map[int]decide.Verdict{5: decide.Continue, 6: decide.End} {
		s := inLanes()
		s.Report, s.Limits.CheckFailures, s.State.CheckFailures = decide.Report{}, 3, failures
		s.Trees = []string{}
		d, _ := decide.Preview(s.Snapshot)
		if d.Verdict == decide.End && d.Next.Needs != "a check failed, or work was in conflict, at 6 stops in a row" {
			t.Errorf("the reason is: %s", d.Next.Needs)
		}
		if d.Verdict != want {
			t.Errorf("after %d checks that failed in two lanes: %s %s, want %s", failures, d.Verdict, d.Next.ExitReason, want)
		}
	}
}

// TestLaneGuards checks that what several agents do at once is not taken for the habit of one.
func TestLaneGuards(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(*laneStop)
		want string
	}{
		{"files that all lanes have changed", func(s *laneStop) {
			s.Changes, s.State.Rewritten, s.State.TestsOnly = []string{"a_test.go"}, map[string]int{"a_test.go": 9}, 9
		}, ""},
		{"three tools refused, in two lanes", func(s *laneStop) { s.Denied, s.State.Denied = "Bash", 2 }, ""},
		{"six", func(s *laneStop) { s.Denied, s.State.Denied = "Bash", 5 }, decide.PermissionDenied},
		{"two questions, in two lanes", func(s *laneStop) {
			s.Message, s.State.Questions, s.newWork = "Which?", 1, false
		}, ""},
		{"four", func(s *laneStop) { s.Message, s.State.Questions, s.newWork = "Which?", 3, false }, decide.Asks},
		{"four, beside work", func(s *laneStop) { s.Message, s.State.Questions = "Which?", 3 }, ""},
		{"two falls", func(s *laneStop) {
			s.State.Rates = decide.Rates{{Passed: 4}, {Passed: 3}}
			s.Checks = []decide.Check{ofFeature}
		}, decide.NoProgress},
	} {
		s := inLanes()
		tc.edit(&s)
		if d, _ := s.decide(); d.Next.ExitReason != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, d.Next.ExitReason, tc.want)
		}
	}
}

// TestWorkerSays checks that people hear who says something that nobody here has seen.
func TestWorkerSays(t *testing.T) {
	for message, want := range map[string]string{
		"<promise>BLOCKED: no key</promise>": "the worker w says: no key",
		"Which?":                             "the worker w says: Which? It did nothing else in 4 iterations (guard asks)",
	} {
		s := inLanes()
		s.Message, s.State.Questions, s.newWork, s.worker = message, 3, false, "w"
		if d, _ := s.decide(); d.Next.Needs != want {
			t.Errorf("%q, want %q", d.Next.Needs, want)
		}
	}
}

// needing returns a list in which each third feature needs the two before it.
func needing(passed []bool) features.List {
	var items []string
	for i, passes := range passed {
		needs := "[]"
		if i%3 == 2 {
			needs = fmt.Sprintf(`["f%02d", "f%02d"]`, i-2, i-1)
		}
		items = append(items, fmt.Sprintf(`{"id": "f%02d", "title": "x", "passes": %t, "dependencies": %s}`, i, passes,
			needs))
	}
	l, err := features.Parse([]byte("[" + strings.Join(items, ",") + "]"))
	if err != nil {
		panic(err)
	}
	return l
}

// decider is laneStop.decide, or a function like it with a planted bug.
type decider func(laneStop) (decide.Decision, decide.Need)

// laneHost is a host of lanes whose agents do what the numbers say.
type laneHost struct {
	*rand.Rand
	decide decider
	state  decide.State
	passed []bool
	lanes  int
	works  map[int]string // by lane, the feature that its session works on
	given  map[int]string // by iteration, the feature that got it
	ended  map[int]bool   // the iterations that a session has ended
	orders bool           // some features are to come later
}

// play plays a run to its end, and returns an error if two lanes ever have one feature, a feature is begun before what
// it needs has passed, an iteration is given twice, or the run ends too early or never.
func play(decides decider, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 3))
	h := laneHost{
		Rand: random, decide: decides, lanes: 1 + random.IntN(5), passed: make([]bool, 3+random.IntN(12)),
		works: map[int]string{}, given: map[int]string{}, ended: map[int]bool{}, orders: seed%2 == 0,
	}
	h.state = decide.State{
		Schema:  decide.SchemaVersion,
		Ending:  decide.Ending{Status: decide.InProgress},
		Counted: decide.Counted{Iteration: 1},
		Owner:   decide.Owner{Session: "run-1", LastSession: "run-1"},
	}
	for range 5000 {
		if h.IntN(40) == 0 { // the run is killed, and goes on
			h.works, h.state.Status = map[int]string{}, decide.Interrupted
			s := h.stop(0)
			s.Event, s.Marked, s.OthersWork = decide.EventPrompt, true, false
			d, _ := decide.Decide(s.Snapshot)
			h.state = d.Next
		}
		if over, err := h.step(1 + h.IntN(h.lanes)); over || err != nil {
			return err
		}
	}
	return errors.New("it never ends")
}

// stop returns a stop of a lane.
func (h *laneHost) stop(lane int) (s laneStop) {
	s.lane, s.lanes, s.OthersWork = lane, h.lanes, len(h.works) > 0
	s.Event, s.Session, s.OwnerAlive, s.OwnerKnown, s.Now, s.State = decide.EventStop, "run-1", true, true, now, h.state
	s.Limits = decide.Limits{MaxIterations: 40, Stagnation: 4, Attempts: 9, CheckFailures: 4, Trusted: true}
	s.List.List, s.FreshSession = needing(h.passed), true
	return s
}

// step has a session of a lane end, or a lane that has none begin.
func (h *laneHost) step(lane int) (over bool, err error) {
	feature, works := h.works[lane]
	delete(h.works, lane)
	if works {
		h.ended[h.state.Lanes[lane-1].Iteration] = true
	}
	refused, newWork, at := false, false, -1
	if _, err := fmt.Sscanf(feature, "f%d", &at); works && err == nil {
		switch h.IntN(4) {
		case 0, 1:
			h.passed[at] = true
		case 2:
			refused, newWork = h.IntN(2) == 0, true
		}
	}
	s := h.stop(lane)
	s.NoSession, s.Refused, s.newWork = !works, refused, newWork
	if h.orders && h.IntN(8) == 0 {
		s.later = map[string]bool{fmt.Sprintf("f%02d", h.IntN(len(h.passed))): true}
	}
	d, need := h.decide(s)
	if need.Kind != decide.NeedNothing {
		return false, fmt.Errorf("asks for %s", need.Kind)
	}
	if d.Commits() {
		h.state = d.Next
	}
	if err := apart(h.state.Lanes); err != nil {
		return false, err
	}
	switch d.Verdict {
	case decide.Pass:
		if works || len(h.works) == 0 {
			return false, errors.New("a lane without a session is left alone")
		}
	case decide.Continue:
		return false, h.give(lane, d, s)
	case decide.End:
		early := []string{decide.AllFeaturesPass, decide.MaxIterations, decide.AllBlocked}
		open := slices.Contains(h.passed, false)
		if len(h.works) > 0 && slices.Contains(early, d.Next.ExitReason) || d.Next.Status == decide.Complete && open {
			return true, fmt.Errorf("%s while %d others work", d.Next.ExitReason, len(h.works))
		}
		for iteration, feature := range h.given { // a lane whose feature is to come later begins another one
			if d.Next.Status == decide.Complete && !h.ended[iteration] && !h.orders {
				return true, fmt.Errorf("no session has ended iteration %d, which %s had", iteration, feature)
			}
		}
		return true, nil
	}
	return false, nil
}

// apart returns an error if two lanes have one feature.
func apart(lanes []decide.Lane) error {
	seen := map[string]bool{}
	for _, one := range lanes {
		if seen[one.Feature] && one.Feature != "" {
			return fmt.Errorf("two lanes have %s", one.Feature)
		}
		seen[one.Feature] = true
	}
	return nil
}

// give gives a lane what it is to work on.
func (h *laneHost) give(lane int, d decide.Decision, s laneStop) error {
	got := d.Next.Lanes[lane-1]
	for other, feature := range h.works {
		if feature == got.Feature {
			return fmt.Errorf("lanes %d and %d both have %s", lane, other, feature)
		}
	}
	item, _ := s.List.Find(got.Feature)
	if got.Feature != d.Feature.ID || !item.Workable() || s.later[got.Feature] && len(h.works) > 0 {
		return fmt.Errorf("%s is given as %s, and nobody can work on it now", got.Feature, d.Feature.ID)
	}
	to := got.Feature // an interrupted iteration moves with its feature
	if before, twice := h.given[got.Iteration]; twice && before != to {
		return fmt.Errorf("iteration %d is given to %s and %s", got.Iteration, before, to)
	}
	if len(d.Next.Lanes) != h.lanes {
		return fmt.Errorf("%d lanes of %d", len(d.Next.Lanes), h.lanes)
	}
	if got.Iteration > d.Limit || got.Iteration < 1 {
		return fmt.Errorf("iteration %d of %d", got.Iteration, d.Limit)
	}
	h.works[lane], h.given[got.Iteration] = got.Feature, to
	return nil
}

// TestLanesEnd plays whole runs.
func TestLanesEnd(t *testing.T) {
	const runs = 500
	for seed := range uint64(runs) {
		if err := play(laneStop.decide, seed); err != nil {
			t.Fatalf("run %d: %v", seed, err)
		}
	}
	for name, broken := range map[string]decider{
		"gives what another lane has": func(s laneStop) (decide.Decision, decide.Need) {
			s.State.Lanes = slices.Clone(s.State.Lanes)
			for i := range s.State.Lanes {
				if i != s.lane-1 {
					s.State.Lanes[i].Feature = ""
				}
			}
			return s.decide()
		},
		"does not know that others work": func(s laneStop) (decide.Decision, decide.Need) {
			s.OthersWork = false
			return s.decide()
		},
		"never ends": func(s laneStop) (decide.Decision, decide.Need) {
			d, need := s.decide()
			if d.Verdict == decide.End && s.Event == decide.EventStop {
				d.Verdict, d.Next = decide.Wait, s.State
			}
			return d, need
		},
		"gives an iteration twice": func(s laneStop) (decide.Decision, decide.Need) {
			d, need := s.decide()
			if d.Verdict == decide.Continue {
				d.Next.Lanes[s.lane-1].Iteration = max(1, d.Next.Iteration/2)
			}
			return d, need
		},
		"does not hear what comes later": func(s laneStop) (decide.Decision, decide.Need) {
			s.later = nil
			return s.decide()
		},
	} {
		caught := false
		for seed := range uint64(runs) {
			caught = caught || play(broken, seed) != nil
		}
		if !caught {
			t.Errorf("control: one that %s was not caught", name)
		}
	}
}
