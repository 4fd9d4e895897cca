package decide

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLimitTable holds the table and the fields of Limits together: each limit is in one row.
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
		MaxIterations: 1, Deadline: 2, Stagnation: 3, FeatureAttempts: 4, CheckFailures: 5, IterationsPerHour: 6,
		FeaturesPerSession: 7, ContextTokens: 8, MaxWait: 9,
	}
	if got != want {
		t.Errorf("the rows set %+v, want %+v", got, want)
	}
	beside := []string{"Held", "CeilingIterations", "CeilingDeadline"} // no keys of ralph.json
	for field, value := range reflect.ValueOf(got).Fields() {
		if value.IsZero() != slices.Contains(beside, field.Name) {
			t.Errorf("no row, or a row too many, has the field %s", field.Name)
		}
	}
}

func TestInForce(t *testing.T) {
	at := func(ago time.Duration) time.Time { return now.Add(-ago) }
	all := Limits{
		MaxIterations: 40, Deadline: 8 * time.Hour, Stagnation: 3, FeatureAttempts: 4, CheckFailures: 5,
		IterationsPerHour: 6, FeaturesPerSession: 7, ContextTokens: 1000, MaxWait: time.Hour, Held: true,
	}
	busy := State{
		Iteration: 9, StartedAt: at(time.Hour), Unchanged: 1, Attempts: 2, CheckFailures: 1, SessionPassed: 3,
		Hour: []int64{at(2 * time.Hour).Unix(), at(time.Minute).Unix()}, Context: 600, WaitingSince: at(90 * time.Second),
	}
	for _, tc := range []struct {
		name  string
		state State
		l     Limits
		want  string // name limit left unit
	}{
		{"nothing is set", State{}, Limits{}, "max_iterations 15 15 iterations"},
		{"all of them", busy, all, "max_iterations 40 31 iterations, deadline 28800 25200 seconds, stagnation 3 2 stops, " +
			"feature_attempts 4 2 attempts, check_failures 5 4 stops, iterations_per_hour 6 5 iterations, " +
			"features_per_session 7 4 features, context_tokens 1000 400 tokens, max_wait 3600 3510 seconds"},
		{"a loop that has not begun, and does not wait", State{}, Limits{Deadline: time.Minute, MaxWait: time.Hour},
			"max_iterations 15 15 iterations, deadline 60 60 seconds, max_wait 3600 3600 seconds"},
		{"more used than there is", State{Iteration: 20, StartedAt: at(time.Hour)}, Limits{Deadline: time.Minute},
			"max_iterations 15 0 iterations, deadline 60 0 seconds"},
		{"extended", State{Iteration: 20, Extended: 30, ExtendedDeadline: time.Hour}, Limits{MaxIterations: 15, Deadline: 1},
			"max_iterations 30 10 iterations, deadline 3600 3600 seconds"},
		{"extended over the ceilings", State{Extended: 30, ExtendedDeadline: time.Hour},
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
		MaxIterations: 90, Deadline: 90, Stagnation: 90, FeatureAttempts: 90, CheckFailures: 90, IterationsPerHour: 90,
		FeaturesPerSession: 90, ContextTokens: 90, MaxWait: 90,
	}
	low := Limits{
		MaxIterations: 1, Deadline: 2, Stagnation: 3, FeatureAttempts: 4, CheckFailures: 5, IterationsPerHour: 6,
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
			Stagnation: 90, FeatureAttempts: 90, CheckFailures: 90, IterationsPerHour: 90, FeaturesPerSession: 90,
			ContextTokens: 90,
		}, high, Limits{})},
	} {
		if got := tc.l.Under(tc.ceilings); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
	if l := (Limits{Held: true}).Under(low); !l.Held {
		t.Error("limits that a person trusted are not held any more")
	}
}
