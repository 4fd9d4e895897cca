package decide

import (
	"cmp"
	"slices"
	"time"
)

// Limits are the values of "limits" in ralph.json, under a person's ceilings. 0 is off unless a
// field says otherwise.
type Limits struct {
	MaxIterations      int           // 0: ralph.json gives none
	Deadline           time.Duration // since the loop began
	Stagnation         int           // stops in a row at which list and work are the same
	Attempts           int           // attempts that may fail at one feature until it is set aside
	CheckFailures      int           // stops in a row at which a check failed and nothing was proven
	IterationsPerHour  int
	FeaturesPerSession int           // features that may pass in one session
	ContextTokens      int           // tokens of the session's conversation
	MaxWait            time.Duration // how long the loop waits for background work; 0: it does not wait

	Trusted bool // a person trusted ralph.json, so an edit cannot raise the limits

	// The ceilings of the two limits that `resume` can raise.
	CeilingIterations int
	CeilingDeadline   time.Duration
}

// The limits that hold when ralph.json does not give them.
const (
	DefaultIterations    = 15
	DefaultStagnation    = 3
	DefaultAttempts      = 3
	DefaultCheckFailures = 10
	DefaultMaxWait       = time.Hour
)

// The largest values that ralph.json may give.
const (
	MaxByHand = 100 // iterations of a loop that no person trusted

	MaxCount = 1_000_000
	MaxTime  = 366 * 24 * time.Hour

	maxPerHour = 1000 // the record keeps the time of each iteration of the last hour
	maxTokens  = 1_000_000_000
)

// Limit describes one key of "limits" in ralph.json.
type Limit struct {
	Name     string // the key
	Unit     string // iterations, seconds, stops, attempts, features or tokens
	Min, Max int    // what ralph.json may give, in Unit

	About   string // what it does, for the schema and the documents
	Example string // in JSON

	// Exactly one of these is set. It returns the field of Limits that has the value.
	Count func(*Limits) *int
	Time  func(*Limits) *time.Duration

	used func(State, time.Time) int // how much of the limit the loop has used so far, in Unit
}

// LimitTable has every limit, in the order in which people see them. The parser
// of ralph.json, its schema, the ceilings and the status all read it.
var LimitTable = []Limit{
	{
		Name: "max_iterations", Unit: "iterations", Min: 1, Max: MaxCount,
		Example: `40`,
		About:   "How many iterations the loop may have, including the first.",
		Count:   func(l *Limits) *int { return &l.MaxIterations },
		used:    func(s State, _ time.Time) int { return s.Iteration },
	}, {
		Name: "deadline", Unit: "seconds", Max: int(MaxTime / time.Second),
		Example: `"8h"`,
		About:   "How long the loop may take from its first prompt or stop, including pauses.",
		Time:    func(l *Limits) *time.Duration { return &l.Deadline },
		used:    func(s State, now time.Time) int { return secondsSince(s.StartedAt, now) },
	}, {
		Name: "stagnation", Unit: "stops", Max: MaxCount,
		Example: `5`,
		About:   "The loop ends when its list and work stay the same at this many stops in a row.",
		Count:   func(l *Limits) *int { return &l.Stagnation },
		used:    func(s State, _ time.Time) int { return s.Unchanged },
	}, {
		Name: "attempts", Unit: "attempts", Max: MaxCount,
		Example: `5`,
		About:   "A feature is set aside after this many failed attempts; see docs/endings.md#features-set-aside.",
		Count:   func(l *Limits) *int { return &l.Attempts },
		used:    func(s State, _ time.Time) int { return s.Failures[s.Feature].Attempts },
	}, {
		Name: "check_failures", Unit: "stops", Max: MaxCount,
		Example: `3`,
		About:   "The loop ends after this many stops in a row at which a check failed and nothing was proven.",
		Count:   func(l *Limits) *int { return &l.CheckFailures },
		used:    func(s State, _ time.Time) int { return s.CheckFailures },
	}, {
		Name: "iterations_per_hour", Unit: "iterations", Max: maxPerHour,
		Example: `10`,
		About:   "How many iterations may start within an hour before a handover.",
		Count:   func(l *Limits) *int { return &l.IterationsPerHour },
		used:    func(s State, now time.Time) int { return len(s.LastHour(now)) },
	}, {
		Name: "features_per_session", Unit: "features", Max: MaxCount,
		Example: `2`,
		About:   "How many features may pass before a handover to a fresh session.",
		Count:   func(l *Limits) *int { return &l.FeaturesPerSession },
		used:    func(s State, _ time.Time) int { return s.SessionPassed },
	}, {
		Name: "context_tokens", Unit: "tokens", Max: maxTokens,
		Example: `150000`,
		About:   "How many tokens a conversation may have before a handover.",
		Count:   func(l *Limits) *int { return &l.ContextTokens },
		used:    func(s State, _ time.Time) int { return s.Context },
	}, {
		Name: "max_wait", Unit: "seconds", Max: int(MaxTime / time.Second),
		Example: `"20m"`,
		About:   "How long the loop waits for background work. 0s: it does not wait.",
		Time:    func(l *Limits) *time.Duration { return &l.MaxWait },
		used:    func(s State, now time.Time) int { return secondsSince(s.WaitingSince, now) },
	},
}

// secondsSince returns the whole seconds from a time to now, 0 if the time is not set.
func secondsSince(at, now time.Time) int {
	if at.IsZero() {
		return 0
	}
	return int(now.Sub(at).Seconds())
}

// Standing is a limit that is on, and what is left of it.
type Standing struct {
	Name  string `json:"name"`  // the key in ralph.json
	Limit int64  `json:"limit"` // in the unit
	Left  int64  `json:"left"`  // in the unit
	Unit  string `json:"unit"`  // iterations, seconds, stops, attempts, features or tokens
}

// InForce returns the limits that are on for a loop, in the order of LimitTable.
// The slice is not nil, so that it is an array in JSON.
func InForce(s State, l Limits, now time.Time) []Standing {
	l = l.forLanes(len(s.Lanes))
	l.MaxIterations, l.Deadline = s.Limit(l), s.Deadline(l)
	on := []Standing{}
	for _, row := range LimitTable {
		var limit int
		if row.Time != nil {
			limit = int(row.Time(&l).Seconds())
		} else {
			limit = *row.Count(&l)
		}
		if limit > 0 {
			left := max(0, limit-row.used(s, now))
			on = append(on, Standing{Name: row.Name, Limit: int64(limit), Left: int64(left), Unit: row.Unit})
		}
	}
	return on
}

// least returns the smallest of the limits that are on, 0 if none is.
func least[T int | time.Duration](limits ...T) (min T) {
	for _, l := range limits {
		if l > 0 && (min == 0 || l < min) {
			min = l
		}
	}
	return min
}

// CappedBy returns the limits, lowered to the person's own ceilings. A ceiling also switches on a
// limit that is off.
func (l Limits) CappedBy(ceilings Limits) Limits {
	lowered := l
	for _, row := range LimitTable {
		if row.Time != nil {
			*row.Time(&lowered) = least(*row.Time(&l), *row.Time(&ceilings))
		} else {
			*row.Count(&lowered) = least(*row.Count(&l), *row.Count(&ceilings))
		}
	}
	// `resume` can raise these two later, so their ceilings are kept too.
	lowered.MaxIterations, lowered.CeilingIterations = l.MaxIterations, ceilings.MaxIterations
	lowered.Deadline, lowered.CeilingDeadline = l.Deadline, ceilings.Deadline
	lowered.MaxWait = min(l.MaxWait, ceilings.MaxWait) // 0 is the strictest value here, not off
	return lowered
}

// Limit returns how many iterations the loop may have. It is the number that a person set for this loop, else the one
// in ralph.json, else the one with which it began, else DefaultIterations. The person's ceiling always holds. If nobody
// has trusted ralph.json, an edit of it cannot give the loop more than it began with, nor anything more than MaxByHand.
func (s State) Limit(l Limits) int {
	limit := cmp.Or(max(0, s.MaxIterations), l.MaxIterations, max(0, s.Allowed), DefaultIterations)
	if !l.Trusted && s.MaxIterations <= 0 {
		limit = least(limit, s.Allowed, MaxByHand)
	}
	return least(limit, l.CeilingIterations)
}

// Deadline returns how long the loop may take from its beginning, 0 if there is no
// deadline.
func (s State) Deadline(l Limits) time.Duration {
	if s.ExtendedDeadline > 0 {
		return least(s.ExtendedDeadline, l.CeilingDeadline)
	}
	return least(l.Deadline, l.CeilingDeadline)
}

// PastDeadline reports whether the deadline has passed.
func (s State) PastDeadline(l Limits, now time.Time) bool {
	deadline := s.Deadline(l)
	return deadline > 0 && !s.StartedAt.IsZero() && now.Sub(s.StartedAt) >= deadline
}

// LastHour returns the times of s.Hour that are in the hour before now. Later times stay too: if
// somebody sets the clock back, that must not allow more iterations.
func (s State) LastHour(now time.Time) []int64 {
	return slices.DeleteFunc(slices.Clone(s.Hour), func(at int64) bool { return now.Unix()-at >= 3600 })
}
