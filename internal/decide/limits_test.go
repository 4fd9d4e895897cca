package decide

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLimitTable checks that each field of Limits has one row in the table of limits.
func TestLimitTable(t *testing.T) {
	var got Limits
	for i, row := range LimitTable {
		if (row.Count == nil) == (row.Time == nil) || row.used == nil || row.Unit == "" || row.Min < 0 || row.Max < 1 {
			t.Errorf("%s is not whole: %+v", row.Name, row)
		} else if row.Time != nil {
			*row.Time(&got) = time.Duration(i + 1)
		} else {
			*row.Count(&got) = i + 1
		}
	}
	want := Limits{
		MaxIterations: 1, Deadline: 2, Stagnation: 3, Attempts: 4, CheckFailures: 5, IterationsPerHour: 6,
		FeaturesPerSession: 7, ContextTokens: 8, MaxWait: 9,
	}
	if got != want {
		t.Errorf("the rows set %+v, want %+v", got, want)
	}
	beside := []string{"Trusted", "CeilingIterations", "CeilingDeadline"} // no keys of ralph.json
	for field, value := range reflect.ValueOf(got).Fields() {
		if value.IsZero() != slices.Contains(beside, field.Name) {
			t.Errorf("no row, or a row too many, has the field %s", field.Name)
		}
	}
}

func TestInForce(t *testing.T) {
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	all := Limits{
		MaxIterations: 40, Deadline: 8 * time.Hour, Stagnation: 3, Attempts: 4, CheckFailures: 5,
		IterationsPerHour: 6, FeaturesPerSession: 7, ContextTokens: 1000, MaxWait: time.Hour, Trusted: true,
	}
	busy := State{
		Counted: Counted{
			Iteration: 9, Unchanged: 1, CheckFailures: 1, SessionPassed: 3, Context: 600,
			Hour: []int64{at(2 * time.Hour).Unix(), at(time.Minute).Unix()},
		},
		Ending: Ending{StartedAt: at(time.Hour)},
		Work:   Work{Feature: "a", Failures: map[string]Failure{"a": {Attempts: 2}}},
		Owner:  Owner{WaitingSince: at(90 * time.Second)},
	}
	for _, tc := range []struct {
		name  string
		state State
		l     Limits
		want  string // name limit left unit
	}{
		{"nothing is set", State{}, Limits{}, "max_iterations 15 15 iterations"},
		{"all of them", busy, all,
			"max_iterations 40 31 iterations, deadline 28800 25200 seconds, stagnation 3 2 stops, " +
				"attempts 4 2 attempts, check_failures 5 4 stops, iterations_per_hour 6 5 iterations, " +
				"features_per_session 7 4 features, context_tokens 1000 400 tokens, max_wait 3600 3510 seconds"},
		{"a loop that has not started, and does not wait", State{}, Limits{Deadline: time.Minute, MaxWait: time.Hour},
			"max_iterations 15 15 iterations, deadline 60 60 seconds, max_wait 3600 3600 seconds"},
		{"more used than there is", State{
			Counted: Counted{Iteration: 20},
			Ending:  Ending{StartedAt: at(time.Hour)},
		}, Limits{Deadline: time.Minute},
			"max_iterations 15 0 iterations, deadline 60 0 seconds"},
		{"extended", State{
			Counted:   Counted{Iteration: 20},
			Allowance: Allowance{MaxIterations: 30, ExtendedDeadline: time.Hour},
		},
			Limits{MaxIterations: 15, Deadline: 1},
			"max_iterations 30 10 iterations, deadline 3600 3600 seconds"},
		{"extended over the ceilings", State{Allowance: Allowance{MaxIterations: 30, ExtendedDeadline: time.Hour}},
			Limits{CeilingIterations: 5, CeilingDeadline: time.Minute},
			"max_iterations 5 5 iterations, deadline 60 60 seconds"},
		{"less than a second", State{}, Limits{Deadline: time.Millisecond}, "max_iterations 15 15 iterations"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			on := InForce(tc.state, tc.l, now)
			if on == nil {
				t.Fatal("nil is not an array in JSON")
			}
			var got []string
			for _, s := range on {
				got = append(got, fmt.Sprintf("%s %d %d %s", s.Name, s.Limit, s.Left, s.Unit))
			}
			if strings.Join(got, ", ") != tc.want {
				t.Errorf("got\n%s, want\n%s", strings.Join(got, ", "), tc.want)
			}
		})
	}
}

func TestUnder(t *testing.T) {
	high := Limits{
		MaxIterations: 90, Deadline: 90, Stagnation: 90, Attempts: 90, CheckFailures: 90, IterationsPerHour: 90,
		FeaturesPerSession: 90, ContextTokens: 90, MaxWait: 90,
	}
	low := Limits{
		MaxIterations: 1, Deadline: 2, Stagnation: 3, Attempts: 4, CheckFailures: 5, IterationsPerHour: 6,
		FeaturesPerSession: 7, ContextTokens: 8, MaxWait: 9,
	}
	extendable := func(l, kept, ceiling Limits) Limits {
		l.MaxIterations, l.Deadline = kept.MaxIterations, kept.Deadline
		l.CeilingIterations, l.CeilingDeadline = ceiling.MaxIterations, ceiling.Deadline
		return l
	}
	never := low // switched on by the ceilings, but for the wait, which is off at its strictest
	never.MaxWait = 0
	for _, tc := range []struct {
		name              string
		l, ceilings, want Limits
	}{
		{"ceilings below", high, low, extendable(low, high, low)},
		{"ceilings above", low, high, extendable(low, low, high)},
		{"limits that are off", Limits{}, low, extendable(never, Limits{}, low)},
		{"no ceilings, but no waiting", high, Limits{}, extendable(Limits{
			Stagnation: 90, Attempts: 90, CheckFailures: 90, IterationsPerHour: 90, FeaturesPerSession: 90,
			ContextTokens: 90,
		}, high, Limits{})},
	} {
		if got := tc.l.CappedBy(tc.ceilings); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
	if l := (Limits{Trusted: true}).CappedBy(low); !l.Trusted {
		t.Error("limits that a person trusted are not held any more")
	}
}

// failedAt gives a snapshot a list, and so many failed attempts of 5 at its feature.
func failedAt(s *Snapshot, attempts int, states string) {
	s.List, s.Tree, s.Limits.Attempts = list(states), "t", 5
	s.State.Failures = map[string]Failure{"b": {Attempts: attempts, Why: "no"}}
}

// limitRows are decisions that depend on limits.
var limitRows = []row{
	{"at the limit", func(s *Snapshot) { s.State.Iteration = 15 }, "end REACHED_LIMIT max_iterations"},
	{"one below the limit", func(s *Snapshot) { s.State.Iteration = 14 }, "continue 15 c"},
	{"at the limit with a broken list", func(s *Snapshot) {
		s.State.Iteration = 15
		s.List = List{Err: broken}
	}, "end REACHED_LIMIT max_iterations"},
	{"ralph.json's limit", func(s *Snapshot) { s.Limits.MaxIterations = 4 }, "end REACHED_LIMIT max_iterations"},
	{"ralph.json's limit over the header's", func(s *Snapshot) {
		s.Limits.MaxIterations, s.Limits.Trusted = 40, true
		s.State.Iteration = 20
	}, "continue 21 c"},
	{"header lowers the limit", func(s *Snapshot) { s.Header.MaxIterations = 4 }, "end REACHED_LIMIT max_iterations"},
	{"header raises the limit", func(s *Snapshot) {
		s.Header.MaxIterations = 99
		s.State.Iteration = 15
	}, "end REACHED_LIMIT max_iterations"},
	{"extended", func(s *Snapshot) {
		s.State.MaxIterations = 20
		s.State.Iteration = 15
		s.Limits.MaxIterations = 15
	}, "continue 16 c"},
	{"header lowers what was extended", func(s *Snapshot) {
		s.State.MaxIterations = 20
		s.Header.MaxIterations = 4
	}, "end REACHED_LIMIT max_iterations"},
	{"iteration of the header", func(s *Snapshot) { s.Header.Iteration = 15 }, "continue 5 c"},
	{"an older header", func(s *Snapshot) { s.Header.Iteration = 1 }, "continue 5 c"},
	{"iteration of the log", func(s *Snapshot) { s.LogIteration = 8 }, "continue 5 c"},

	{"before the deadline", func(s *Snapshot) {
		s.Limits.Deadline, s.State.StartedAt = time.Hour, now.Add(-59*time.Minute)
	}, "continue 5 c"},
	{"after the deadline", func(s *Snapshot) {
		s.Limits.Deadline, s.State.StartedAt = time.Hour, now.Add(-time.Hour)
	}, "end REACHED_LIMIT deadline"},
	{"after the deadline, waiting", func(s *Snapshot) {
		s.Limits.Deadline, s.State.StartedAt, s.Running = time.Hour, now.Add(-time.Hour), []string{"1 subagent"}
	}, "end REACHED_LIMIT deadline"},
	{"after the deadline, which was extended", func(s *Snapshot) {
		s.Limits.Deadline, s.State.StartedAt, s.State.ExtendedDeadline = time.Hour, now.Add(-time.Hour), 2*time.Hour
	}, "continue 5 c"},
	{"after the person's own ceiling, extended or not", func(s *Snapshot) {
		s.Limits.CeilingDeadline, s.State.StartedAt, s.State.ExtendedDeadline = time.Hour, now.Add(-time.Hour),
			2*time.Hour
	}, "end REACHED_LIMIT deadline"},
	{"the person's own ceiling of iterations, extended or not", func(s *Snapshot) {
		s.Limits.CeilingIterations, s.State.MaxIterations = 4, 99
	}, "end REACHED_LIMIT max_iterations"},
	{"a session without a claim is no failed attempt", func(s *Snapshot) { failedAt(s, 4, "x..") }, "continue 5 b"},
	{"a fresh session without one is", func(s *Snapshot) {
		failedAt(s, 4, "x..")
		s.FreshSession = true
	}, "continue 5 c"},
	{"a fresh session, and it is not the last attempt", func(s *Snapshot) {
		failedAt(s, 3, "x..")
		s.FreshSession = true
	}, "continue 5 b"},
	{"set aside", func(s *Snapshot) { failedAt(s, 5, "x..") }, "continue 5 c"},
	{"only what is set aside is left", func(s *Snapshot) { failedAt(s, 5, "x.x") }, "end BLOCKED set_aside"},
	{"the limit is off", func(s *Snapshot) {
		failedAt(s, 5, "x.x")
		s.Limits.Attempts = 0
	}, "continue 5 b"},
	{"a claim of what was set aside", func(s *Snapshot) { failedAt(s, 5, "xxx") }, "end COMPLETE all_features_pass"},
	{"many attempts at a broken list", func(s *Snapshot) {
		failedAt(s, 5, "x..")
		s.List, s.State.Feature = List{Err: broken}, ""
	}, "continue 5 "},
	{"the last iteration of the hour", func(s *Snapshot) {
		s.Limits.IterationsPerHour, s.State.Hour = 2,
			[]int64{now.Add(-time.Hour).Unix(), now.Add(-50 * time.Minute).Unix()}
	}, "continue 5 c"},
	{"one too many in the hour", func(s *Snapshot) {
		s.Limits.IterationsPerHour = 2
		s.State.Hour = []int64{now.Add(-50 * time.Minute).Unix(), now.Add(-time.Minute).Unix()}
	}, "end HANDOVER iterations_per_hour 03:10"},
	{"iterations of an hour to come: the clock was set back", func(s *Snapshot) {
		s.Limits.IterationsPerHour, s.State.Hour = 1, []int64{now.Add(time.Minute).Unix()}
	}, "end HANDOVER iterations_per_hour 04:01"},
	{"the session's last feature", func(s *Snapshot) {
		s.Limits.FeaturesPerSession, s.State.SessionPassed, s.State.Passed = 3, 2, 1
	}, "end HANDOVER session_full"},
	{"one before the session's last feature", func(s *Snapshot) {
		s.Limits.FeaturesPerSession, s.State.SessionPassed, s.State.Passed = 3, 1, 1
	}, "continue 5 c"},
	{"features that passed before", func(s *Snapshot) {
		s.Limits.FeaturesPerSession, s.State.SessionPassed, s.State.Passed = 3, 2, 2
	}, "continue 5 c"},
	{"the context: the transcript is asked for", func(s *Snapshot) { s.Limits.ContextTokens = 1000 }, "tail"},
	{"room in the context", func(s *Snapshot) {
		s.Limits.ContextTokens, s.Tail = 1000, &Tail{Context: 999}
	}, "continue 5 c"},
	{"the transcript does not tell of the context", func(s *Snapshot) {
		s.Limits.ContextTokens, s.State.Context, s.Tail = 1000, 1000, &Tail{Context: -1}
	}, "end HANDOVER session_full"},
	{"no room in the context", func(s *Snapshot) {
		s.Limits.ContextTokens, s.Tail = 1000, &Tail{Context: 1000}
	}, "end HANDOVER session_full"},

	// The host's cap on blocks in a row without a tool call.
	{"two before the cap", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks = true, 8, blocked(6)
	}, "continue 5 c"},
	{"one before the cap: the transcript is asked for", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks, s.Limits.Stagnation = true, 8, blocked(7), 0
	}, "tail"},
	{"one before the cap", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks, s.Tail, s.Limits.Stagnation = true, 8, blocked(7), &Tail{}, 0
	}, "end STAGNATED no_progress"},
	{"one before the cap, and a tool call before the turn", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks = true, 8, blocked(7)
		s.Tail, s.Limits.Stagnation = &Tail{ToolCall: now.Add(-8 * time.Minute)}, 0
	}, "end STAGNATED no_progress"},
	{"one before the cap, and a tool call since", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks = true, 8, blocked(7)
		s.Tail, s.Limits.Stagnation = &Tail{ToolCall: now.Add(-6*time.Minute - time.Second)}, 0
	}, "continue 5 c"},
	{"one before the cap, and a feature came to pass", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks, s.State.Passed, s.Limits.Stagnation = true, 8, blocked(7), 1, 0
	}, "continue 5 c"},
	{"one before the cap, and the list has changed", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks, s.Tail = true, 8, blocked(7), &Tail{}
	}, "continue 5 c"},
	{"one before the cap, by a clock that was set back", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks, s.Now = true, 8, blocked(7), now.Add(-time.Hour)
		s.Tail, s.Limits.Stagnation = &Tail{}, 0
	}, "continue 5 c"},
	{"one before the cap, in another turn", func(s *Snapshot) {
		s.BlockCap, s.State.Blocks = 8, blocked(7)
	}, "continue 5 c"},
	{"a cap of one", func(s *Snapshot) { s.BlockCap = 1 }, "continue 5 c"},
	{"a cap of one, and one block", func(s *Snapshot) {
		s.Active, s.BlockCap, s.State.Blocks, s.Tail, s.Limits.Stagnation = true, 1, blocked(1), &Tail{}, 0
	}, "end STAGNATED no_progress"},
	{"no cap", func(s *Snapshot) { s.Active, s.State.Blocks = true, blocked(99) }, "continue 5 c"},

	// Stagnation.
	{"nothing in the list: the tree is asked for", func(s *Snapshot) { s.List = list("x..") }, "tree"},
	{"the first sample of the tree", func(s *Snapshot) { s.List = list("x.."); s.Tree = "t" }, "continue 5 b"},
	{"the tree moved", func(s *Snapshot) {
		s.List = list("x..")
		s.Tree = "t"
		s.State.TreeDigest, s.State.Unchanged = "u", 2
	}, "continue 5 b"},
	{"the second sample", func(s *Snapshot) {
		s.List = list("x..")
		s.Tree = "t"
		s.State.TreeDigest, s.State.Unchanged = "t", 1
	}, "continue 5 b"},
	{"the third sample", func(s *Snapshot) {
		s.List = list("x..")
		s.Tree = "t"
		s.State.TreeDigest, s.State.Unchanged = "t", 2
	}, "end STAGNATED no_progress"},
	{"before the end other trees are asked for", func(s *Snapshot) {
		s.List = list("x..")
		s.Tree, s.Trees = "t", nil
		s.State.TreeDigest, s.State.Unchanged = "t", 2
	}, "trees"},
	{"there is work in one", func(s *Snapshot) {
		s.List = list("x..")
		s.Tree, s.Trees = "t", []string{"/w"}
		s.State.TreeDigest, s.State.Unchanged = "t", 2
	}, "continue 5 b"},
	{"the agent has heard of it", func(s *Snapshot) {
		s.List = list("x..")
		s.Tree, s.Trees = "t", []string{"/w"}
		s.State.TreeDigest, s.State.Unchanged = "t", 3
	}, "end STAGNATED no_progress"},
	{"off", func(s *Snapshot) { s.List = list("x.."); s.Limits.Stagnation = 0; s.State.Unchanged = 99 },
		"continue 5 b"},
	{"at the limit no tree is needed", func(s *Snapshot) {
		s.List = list("x..")
		s.State.Iteration = 15
	}, "end REACHED_LIMIT max_iterations"},
}

func TestLimits(t *testing.T) { testRows(t, limitRows) }
