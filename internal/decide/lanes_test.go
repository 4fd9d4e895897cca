package decide

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// inLanes returns a run with two lanes at iteration 5 of 15. Lane 1 works on a in iteration 4, lane 2 on b in iteration
// 5. The stop is that of lane 1.
func inLanes() Snapshot {
	s := base()
	s.Session, s.State.Session, s.State.LastSession = "run-1", "run-1", "run-1"
	s.List = list(".....")
	s.State.ListDigest, s.State.Unchanged, s.State.Passed = s.List.Digest(), 1, 0
	s.State.Schema, s.State.Iteration, s.State.Feature, s.State.Attempts = SchemaVersion, 5, "b", 1
	s.State.Lanes = []Lane{{"a", 1, 4}, {"b", 1, 5}}
	s.State.Header = s.Header
	s.Round = Round{Fresh: true, Lane: 1, Lanes: 2, Busy: 1, Moved: true}
	return s
}

// shownLanes shows a decision about a lane, and what the lanes have then: the feature, the attempts and the iteration.
func shownLanes(d Decision, need Need) string {
	text := inWords(d, need)
	for i, l := range d.Next.Lanes {
		text += fmt.Sprintf(" | %d:", i+1)
		if l != (Lane{}) {
			text += fmt.Sprintf(" %s %d %d", l.Feature, l.Attempts, l.Iteration)
		}
	}
	return text
}

var laneRows = []row{
	{"it did not pass: the lane keeps it", func(*Snapshot) {}, "continue 6 a | 1: a 2 6 | 2: b 1 5"},
	{"it passed: the next one that no lane has", func(s *Snapshot) { s.List = list("x....") },
		"continue 6 c | 1: c 1 6 | 2: b 1 5"},
	{"the next one is to come later", func(s *Snapshot) {
		s.List, s.Later = list("x...."), map[string]bool{"c": true, "d": false}
	}, "continue 6 d | 1: d 1 6 | 2: b 1 5"},
	{"its own is to come later", func(s *Snapshot) { s.Later = map[string]bool{"a": true} },
		"continue 6 c | 1: c 1 6 | 2: b 1 5"},
	{"its work waits for a person", func(s *Snapshot) { s.Left = map[string]string{"a": "r/a"} },
		"continue 6 c | 1: c 1 6 | 2: b 1 5"},
	{"all that is left waits for a person, and another lane works", func(s *Snapshot) {
		s.List, s.Left = list("..x"), map[string]string{"a": "r/a"}
	}, "wait 5 | 1: | 2: b 1 5"},
	{"all that is left waits for a person", func(s *Snapshot) {
		s.List, s.Left = list("..x"), map[string]string{"a": "r/a", "b": "r/b"}
		s.Round.Busy, s.State.Lanes[1] = 0, Lane{}
	}, "end BLOCKED all_blocked"},
	{"the work for the loop as a whole waits for a person", func(s *Snapshot) {
		s.List, s.Left = list("xx"), map[string]string{"": "r/loop"}
		s.Round.Busy, s.State.Lanes[1] = 0, Lane{}
		s.Checks, s.Results = []Check{ofEach}, []Receipt{failure("i", "")}
	}, "end BLOCKED all_blocked"},
	{"nothing is free", func(s *Snapshot) { s.List = list("x.") }, "wait 5 | 1: | 2: b 1 5"},
	{"nothing is free but what comes later", func(s *Snapshot) {
		s.List, s.Later = list("x.."), map[string]bool{"c": true}
	}, "wait 5 | 1: | 2: b 1 5"},
	{"what comes later, and nobody else works", func(s *Snapshot) {
		s.List, s.Later, s.Round.Busy, s.State.Lanes[1] = list("xx."), map[string]bool{"c": true}, 0, Lane{}
	}, "continue 6 c | 1: c 1 6 | 2:"},
	{"what is left is another lane's, which does not work", func(s *Snapshot) {
		s.List, s.Round.Busy, s.State.Lanes[1].Iteration = list("x."), 0, 0
	}, "continue 6 b | 1: b 1 6 | 2:"},
	{"all that is left is blocked, and another lane works", func(s *Snapshot) { s.List = list("x.!") },
		"wait 5 | 1: | 2: b 1 5"},
	{"all that is left is blocked, and nobody works", func(s *Snapshot) {
		s.List, s.Round.Busy, s.State.Lanes[1] = list("xx!"), 0, Lane{}
	}, "end BLOCKED all_blocked"},
	{"all pass, and another lane works", func(s *Snapshot) { s.List = list("xx") }, "wait 5 | 1: | 2: b 1 5"},
	{"all pass", func(s *Snapshot) { s.List, s.Round.Busy = list("xx"), 0 }, "end COMPLETE all_features_pass"},
	{"its feature is gone from the list", func(s *Snapshot) { s.List = list("...."); s.State.Lanes[0].Feature = "z" },
		"continue 6 a | 1: a 1 6 | 2: b 1 5"},
	{"there are fewer lanes now", func(s *Snapshot) {
		s.State.Lanes, s.List = append(s.State.Lanes, Lane{"c", 1, 3}), list("x..")
	}, "continue 6 c | 1: c 1 6 | 2: b 1 5"},
	{"there are more lanes now", func(s *Snapshot) { s.Round.Lane, s.Lanes, s.Begins = 4, 4, true },
		"continue 6 c | 1: a 1 4 | 2: b 1 5 | 3: | 4: c 1 6"},
	{"there are no lanes any more", func(s *Snapshot) { s.Round, s.Tree = Round{Fresh: true}, "t" }, "continue 6 a"},

	// The limits.
	{"no iteration is left, and another lane works", func(s *Snapshot) { s.State.Iteration = 15 },
		"wait 15 | 1: a 1 0 | 2: b 1 5"},
	{"no iteration is left", func(s *Snapshot) { s.State.Iteration, s.Round.Busy = 15, 0 },
		"end REACHED_LIMIT max_iterations"},
	{"the run's own limit, and another lane works", func(s *Snapshot) { s.Spent = MaxIterations },
		"wait 5 | 1: a 1 0 | 2: b 1 5"},
	{"the money is spent, and another lane works", func(s *Snapshot) { s.Spent = Budget },
		"wait 5 | 1: a 1 0 | 2: b 1 5"},
	{"the money is spent with the last iteration", func(s *Snapshot) { s.Spent, s.State.Iteration = Budget, 15 },
		"wait 15 | 1: a 1 0 | 2: b 1 5"},
	{"the money is spent", func(s *Snapshot) { s.Spent, s.Round.Busy = Budget, 0 }, "end REACHED_LIMIT budget"},
	{"the deadline, and another lane works", func(s *Snapshot) {
		s.Limits.Deadline, s.State.StartedAt = time.Hour, now.Add(-2*time.Hour)
	}, "end REACHED_LIMIT deadline"},
	{"the iterations of this hour", func(s *Snapshot) {
		s.Limits.IterationsPerHour, s.State.Hour = 1, []int64{now.Unix()}
	}, "wait 5 | 1: a 1 0 | 2: b 1 5"},
	{"attempts of its own feature", func(s *Snapshot) {
		s.Limits.FeatureAttempts, s.State.Lanes[0].Attempts = 3, 3
	}, "end REACHED_LIMIT attempts"},
	{"attempts of another lane's feature", func(s *Snapshot) {
		s.Limits.FeatureAttempts, s.State.Lanes[1].Attempts, s.State.Attempts = 3, 3, 3
	}, "continue 6 a | 1: a 2 6 | 2: b 3 5"},
	{"stops without a change, as many as one agent may have", func(s *Snapshot) {
		s.Moved, s.State.Unchanged = false, 3
	}, "continue 6 a | 1: a 2 6 | 2: b 1 5"},
	{"as many as two may have", func(s *Snapshot) { s.Moved, s.State.Unchanged = false, 5 },
		"end STAGNATED no_progress"},
	{"as many, and the work tree changed", func(s *Snapshot) { s.State.Unchanged = 5 },
		"continue 6 a | 1: a 2 6 | 2: b 1 5"},
	{"as many, and another lane's feature passed", func(s *Snapshot) {
		s.Moved, s.State.Unchanged, s.List = false, 5, list(".x...")
	}, "continue 6 a | 1: a 2 6 | 2: b 1 5"},
	{"it was not merged too often for one agent", func(s *Snapshot) {
		s.Refused, s.State.CheckFailures, s.Limits.CheckFailures = true, 2, 3
	}, "continue 6 a | 1: a 2 6 | 2: b 1 5"},
	{"it was not merged too often for two", func(s *Snapshot) {
		s.Refused, s.State.CheckFailures, s.Limits.CheckFailures = true, 5, 3
	}, "end REACHED_LIMIT attempts"},
	{"it is merged at last", func(s *Snapshot) {
		s.List, s.State.CheckFailures, s.Limits.CheckFailures = list("x...."), 6, 3
	}, "continue 6 c | 1: c 1 6 | 2: b 1 5"},

	// What an agent or a person says.
	{"an agent needs a person", func(s *Snapshot) { s.Message = "<promise>BLOCKED: why</promise>" },
		"end BLOCKED asks"},
	{"a person cancels", func(s *Snapshot) { s.CancelFile = true }, "end CANCELLED by_person"},
	{"a person has paused it", func(s *Snapshot) { s.State.Status = Paused }, "pass | 1: a 1 4 | 2: b 1 5"},
	{"a locked file has changed", func(s *Snapshot) { s.Changed = []string{"x"} }, "end BLOCKED config_changed"},
	{"the list is broken: no agent in a lane repairs it", func(s *Snapshot) { s.List = List{Err: broken} },
		"end FAILED unusable"},
	{"features are gone: no agent in a lane puts them back", func(s *Snapshot) { s.Lost = []string{"z"} },
		"end BLOCKED list_changed"},
	{"an evaluator completes it, and another lane works", func(s *Snapshot) {
		s.Evaluators, s.Message = []Evaluator{{Preset: EvaluatePromise}}, "<promise>COMPLETE</promise>"
	}, "continue 6 a | 1: a 2 6 | 2: b 1 5"},
	{"the checks of the whole tree wait for the other lane", func(s *Snapshot) {
		s.List, s.Checks = list("x."), []Check{ofAll}
	}, "wait 5 | 1: | 2: b 1 5"},
	{"all pass: the checks of the whole tree", func(s *Snapshot) {
		s.List, s.Checks, s.Round.Busy = list("xx"), []Check{ofAll}, 0
	}, "checks c: | 1: a 1 4 | 2: b 1 5"},
	{"one of them fails: the lane works on that", func(s *Snapshot) {
		s.List, s.Checks, s.Round.Busy = list("xx"), []Check{ofAll}, 0
		s.Results = []Receipt{failure("c", "")}
	}, "continue 6  failed c | 1:  1 6 | 2: b 1 5"},
	{"a feature fails its check again", func(s *Snapshot) {
		s.List, s.Checks, s.Round.Busy, s.State.Lanes[1] = list("x."), []Check{ofFeature}, 0, Lane{}
		s.List.Items[0].Passes, s.Results = false, []Receipt{failure("f", "a")}
	}, "continue 6 a failed f | 1: a 2 6 | 2:"},
	{"another lane's feature fails its check", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofFeature}, []Receipt{failure("f", "b")}
	}, "continue 6 a failed f | 1: a 2 6 | 2: b 1 5"},
}

// beginRows are those of lanes that ask for a feature.
var beginRows = []row{
	{"the first lane gets the iteration that there is", func(s *Snapshot) {
		s.State.Lanes, s.State.Iteration, s.Header.Iteration, s.Round.Busy = nil, 1, 1, 0
	}, "continue 1 a | 1: a 1 1 | 2:"},
	{"the first lane goes on where one agent was interrupted", func(s *Snapshot) {
		s.State.Lanes, s.State.Feature, s.State.Attempts, s.Round.Busy = nil, "a", 2, 0
	}, "continue 5 a | 1: a 2 5 | 2:"},
	{"the second lane gets the next one", func(s *Snapshot) {
		s.State.Lanes, s.State.Iteration, s.Header.Iteration, s.Round.Lane = []Lane{{"a", 1, 1}, {}}, 1, 1, 2
	}, "continue 2 b | 1: a 1 1 | 2: b 1 2"},
	{"a lane that was interrupted", func(s *Snapshot) {}, "continue 5 a | 1: a 1 4 | 2: b 1 5"},
	{"a lane that was interrupted in the last iteration", func(s *Snapshot) {
		s.State.Iteration, s.State.Lanes[0].Iteration = 15, 15
	}, "continue 15 a | 1: a 1 15 | 2: b 1 5"},
	{"a lane that waited", func(s *Snapshot) { s.State.Lanes[0].Iteration = 0 }, "continue 6 a | 1: a 2 6 | 2: b 1 5"},
	{"a lane whose feature has passed meanwhile", func(s *Snapshot) { s.List = list("x..") },
		"continue 6 c | 1: c 1 6 | 2: b 1 5"},
	{"what is left was interrupted in another lane", func(s *Snapshot) {
		s.List, s.Round.Busy, s.State.Lanes[0] = list("x."), 0, Lane{}
	}, "continue 5 b | 1: b 1 5 | 2:"},
	{"nothing is free", func(s *Snapshot) { s.List = list("x.") }, "pass | 1: a 1 4 | 2: b 1 5"},
	{"nothing is free, and nobody works", func(s *Snapshot) { s.List, s.Round.Busy = list("xx!"), 0 },
		"end BLOCKED all_blocked"},
	{"all pass", func(s *Snapshot) { s.List, s.Round.Busy = list("xx"), 0 }, "end COMPLETE all_features_pass"},
	{"all pass, and there is a check", func(s *Snapshot) {
		s.List, s.Checks, s.Round.Busy = list("xx"), []Check{ofAll}, 0
	}, "checks c: | 1: a 1 4 | 2: b 1 5"},
	{"a check is due, and a feature is free", func(s *Snapshot) {
		s.List, s.Checks, s.Round.Busy = list("x.."), []Check{ofFeature, ofEach}, 0
	}, "continue 6 c | 1: c 1 6 | 2: b 1 5"},
	{"no iteration is left", func(s *Snapshot) {
		s.State.Iteration, s.State.Lanes[0].Iteration = 15, 0
	}, "pass | 1: a 1 0 | 2: b 1 5"},
	{"no iteration is left, and nobody works", func(s *Snapshot) {
		s.State.Iteration, s.State.Lanes[0].Iteration, s.Round.Busy = 15, 0, 0
	}, "end REACHED_LIMIT max_iterations"},
	{"the money is spent, and another lane works", func(s *Snapshot) { s.Spent = Budget },
		"pass | 1: a 1 4 | 2: b 1 5"},
	{"the money is spent", func(s *Snapshot) { s.Spent, s.Round.Busy = Budget, 0 }, "end REACHED_LIMIT budget"},
	{"nobody has stood still", func(s *Snapshot) {
		s.Moved, s.State.Unchanged, s.State.CheckFailures, s.Limits.CheckFailures = false, 99, 99, 3
	}, "continue 5 a | 1: a 1 4 | 2: b 1 5"},
	{"the iterations of this hour", func(s *Snapshot) {
		s.Limits.IterationsPerHour, s.State.Hour, s.State.Lanes[0].Iteration = 1, []int64{now.Unix()}, 0
	}, "wait 5 | 1: a 1 0 | 2: b 1 5"},
	{"an old message says nothing", func(s *Snapshot) { s.Message = "<promise>BLOCKED: why</promise>" },
		"continue 5 a | 1: a 1 4 | 2: b 1 5"},
}

func TestLanes(t *testing.T) {
	begins := func(edit func(*Snapshot)) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Begins = true
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
		d, need := Decide(s)
		if got := shownLanes(d, need); got != r.want {
			t.Errorf("%s:\n%s, want\n%s", r.name, got, r.want)
		}
	}
}

// TestLanesPreview checks that whoever looks at a run with lanes sees no ending that the run would not come to.
func TestLanesPreview(t *testing.T) {
	for failures, want := range map[int]Verdict{5: Continue, 6: End} {
		s := inLanes()
		s.Round, s.Limits.CheckFailures, s.State.CheckFailures = Round{}, 3, failures
		d, _ := Preview(s)
		if d.Verdict == End && d.Next.Needs != "a check failed, or work was in conflict, at 6 stops in a row" {
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
		edit func(*Snapshot)
		want string
	}{
		{"files that all lanes have changed", func(s *Snapshot) {
			s.Changes, s.State.Rewritten, s.State.TestsOnly = []string{"a_test.go"}, map[string]int{"a_test.go": 9}, 9
		}, ""},
		{"three tools refused, in two lanes", func(s *Snapshot) { s.Denied, s.State.Denied = "Bash", 2 }, ""},
		{"six", func(s *Snapshot) { s.Denied, s.State.Denied = "Bash", 5 }, PermissionDenied},
		{"two questions, in two lanes", func(s *Snapshot) { s.Message, s.State.Asked, s.Moved = "Which?", 1, false }, ""},
		{"four", func(s *Snapshot) { s.Message, s.State.Asked, s.Moved = "Which?", 3, false }, Asks},
		{"four, beside work", func(s *Snapshot) { s.Message, s.State.Asked = "Which?", 3 }, ""},
		{"two falls", func(s *Snapshot) {
			s.State.Checked, s.State.Fell = 3, 4
			s.Checks = []Check{ofFeature}
		}, NoProgress},
	} {
		s := inLanes()
		tc.edit(&s)
		if d, _ := Decide(s); d.Next.ExitReason != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, d.Next.ExitReason, tc.want)
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

// laneHost is a host of lanes whose agents do what the numbers say.
type laneHost struct {
	*rand.Rand
	decide decider
	state  State
	passed []bool
	lanes  int
	works  map[int]string // by lane, the feature that its session works on
	given  map[int]string // by iteration, the feature that got it
	ended  map[int]bool   // the iterations that a session has ended
	orders bool           // some features are to come later
}

// play plays a run to its end, and returns an error if two lanes ever have one feature, a feature is begun before what
// it needs has passed, an iteration is given twice, or the run ends too early or never.
func play(decide decider, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 3))
	h := laneHost{
		Rand: random, decide: decide, lanes: 1 + random.IntN(5), passed: make([]bool, 3+random.IntN(12)),
		works: map[int]string{}, given: map[int]string{}, ended: map[int]bool{}, orders: seed%2 == 0,
	}
	h.state = State{
		Schema:  SchemaVersion,
		Ending:  Ending{Status: InProgress},
		Counted: Counted{Iteration: 1},
		Owner:   Owner{Session: "run-1", LastSession: "run-1"},
	}
	for range 5000 {
		if h.IntN(40) == 0 { // the run is killed, and goes on
			h.works, h.state.Status = map[int]string{}, Interrupted
			d, _ := Decide(h.snapshot(Snapshot{Heard: Heard{Event: EventPrompt, Marked: true}}))
			h.state = d.Next
		}
		if over, err := h.step(1 + h.IntN(h.lanes)); over || err != nil {
			return err
		}
	}
	return errors.New("it never ends")
}

func (h *laneHost) snapshot(s Snapshot) Snapshot {
	s.Session, s.OwnerAlive, s.OwnerKnown, s.Now, s.State = "run-1", true, true, now, h.state
	s.Limits = Limits{MaxIterations: 40, Stagnation: 4, FeatureAttempts: 9, CheckFailures: 4, Trusted: true}
	s.List.List, s.Fresh = needing(h.passed), true
	return s
}

// step has a session of a lane end, or a lane that has none begin.
func (h *laneHost) step(lane int) (over bool, err error) {
	feature, works := h.works[lane]
	delete(h.works, lane)
	if works {
		h.ended[h.state.Lanes[lane-1].Iteration] = true
	}
	round := Round{Lane: lane, Lanes: h.lanes, Begins: !works, Busy: len(h.works)}
	at := -1
	if _, err := fmt.Sscanf(feature, "f%d", &at); works && err == nil {
		switch h.IntN(4) {
		case 0, 1:
			h.passed[at] = true
		case 2:
			round.Refused, round.Moved = h.IntN(2) == 0, true
		}
	}
	if h.orders && h.IntN(8) == 0 {
		round.Later = map[string]bool{fmt.Sprintf("f%02d", h.IntN(len(h.passed))): true}
	}
	s := h.snapshot(Snapshot{Heard: Heard{Event: EventStop}, Round: round})
	d, need := h.decide(s)
	if need.Kind != NeedNothing {
		return false, fmt.Errorf("asks for %s", need.Kind)
	}
	if d.Commits() {
		h.state = d.Next
	}
	switch d.Verdict {
	case Pass:
		if works || len(h.works) == 0 {
			return false, errors.New("a lane without a session is left alone")
		}
	case Continue:
		return false, h.give(lane, d, s)
	case End:
		early := []string{AllFeaturesPass, MaxIterations, AllBlocked}
		open := slices.Contains(h.passed, false)
		if len(h.works) > 0 && slices.Contains(early, d.Next.ExitReason) || d.Next.Status == Complete && open {
			return true, fmt.Errorf("%s while %d others work", d.Next.ExitReason, len(h.works))
		}
		for iteration, feature := range h.given { // a lane whose feature is to come later begins another one
			if d.Next.Status == Complete && !h.ended[iteration] && !h.orders {
				return true, fmt.Errorf("no session has ended iteration %d, which %s had", iteration, feature)
			}
		}
		return true, nil
	}
	return false, nil
}

// give gives a lane what it is to work on.
func (h *laneHost) give(lane int, d Decision, s Snapshot) error {
	got := d.Next.Lanes[lane-1]
	for other, feature := range h.works {
		if feature == got.Feature {
			return fmt.Errorf("lanes %d and %d both have %s", lane, other, feature)
		}
	}
	item, _ := s.List.Find(got.Feature)
	if got.Feature != d.Feature.ID || !item.Workable() || s.Later[got.Feature] && len(h.works) > 0 {
		return fmt.Errorf("%s is given as %s, and nobody can work on it now", got.Feature, d.Feature.ID)
	}
	to := got.Feature // an interrupted iteration moves with its feature
	if before, twice := h.given[got.Iteration]; twice && before != to {
		return fmt.Errorf("iteration %d is given to %s and %s", got.Iteration, before, to)
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
		if err := play(Decide, seed); err != nil {
			t.Fatalf("run %d: %v", seed, err)
		}
	}
	for name, broken := range map[string]decider{
		"gives what another lane has": func(s Snapshot) (Decision, Need) {
			s.State.Lanes = slices.Clone(s.State.Lanes)
			for i := range s.State.Lanes {
				if i != s.Lane-1 {
					s.State.Lanes[i].Feature = ""
				}
			}
			return Decide(s)
		},
		"does not know that others work": func(s Snapshot) (Decision, Need) { s.Round.Busy = 0; return Decide(s) },
		"never ends": func(s Snapshot) (Decision, Need) {
			d, need := Decide(s)
			if d.Verdict == End && s.Event == EventStop {
				d.Verdict, d.Next = Wait, s.State
			}
			return d, need
		},
		"gives an iteration twice": func(s Snapshot) (Decision, Need) {
			d, need := Decide(s)
			if d.Verdict == Continue {
				d.Next.Lanes[s.Lane-1].Iteration = max(1, d.Next.Iteration/2)
			}
			return d, need
		},
		"does not hear what comes later": func(s Snapshot) (Decision, Need) { s.Later = nil; return Decide(s) },
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
