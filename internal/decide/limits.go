package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Limits are the values of "limits" in ralph.json, under a person's ceilings. 0 is off unless a
// field says otherwise.
type Limits struct {
	MaxIterations      int           // 0: ralph.json gives none
	Deadline           time.Duration // since the loop began
	Stagnation         int           // stops in a row at which list and work are the same
	FeatureAttempts    int           // iterations in a row given to one feature
	CheckFailures      int           // stops in a row at which a check failed
	IterationsPerHour  int
	FeaturesPerSession int           // features that may pass in one session
	ContextTokens      int           // tokens of the session's conversation
	MaxWait            time.Duration // how long the loop waits for background work; 0: it does not wait

	Trusted bool // a person trusted ralph.json, so an edit cannot raise the limits

	// The ceilings of the two limits that `extend` can raise.
	CeilingIterations int
	CeilingDeadline   time.Duration
}

// The limits that hold when ralph.json does not give them.
const (
	DefaultIterations    = 15
	DefaultStagnation    = 3
	DefaultCheckFailures = 5
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
	Usage   string // the help of its flag, with the value's name in backquotes
	Example string // in JSON

	// Exactly one of these is set. It returns the field of Limits that has the value.
	Count func(*Limits) *int
	Time  func(*Limits) *time.Duration

	used func(State, time.Time) int // how much of the limit the loop has used so far, in Unit
}

// LimitTable has every limit, in the order in which people see them. The parser
// of ralph.json, its schema, the flags, the ceilings and the status all read it.
var LimitTable = []Limit{
	{
		Name: "max_iterations", Unit: "iterations", Min: 1, Max: MaxCount,
		Example: `40`,
		About:   "How many iterations the loop may have, the first one included.",
		Usage:   "end after `N` iterations",
		Count:   func(l *Limits) *int { return &l.MaxIterations },
		used:    func(s State, _ time.Time) int { return s.Iteration },
	}, {
		Name: "deadline", Unit: "seconds", Max: int(MaxTime / time.Second),
		Example: `"8h"`,
		About:   "How long the loop may take from its first prompt or stop, pauses included.",
		Usage:   "end `TIME` after the first prompt, such as 8h",
		Time:    func(l *Limits) *time.Duration { return &l.Deadline },
		used:    func(s State, now time.Time) int { return secondsSince(s.StartedAt, now) },
	}, {
		Name: "stagnation", Unit: "stops", Max: MaxCount,
		Example: `5`,
		About:   "The loop ends when list and work are the same at this many stops in a row.",
		Usage:   "end after `N` stops in a row that change nothing (default 3)",
		Count:   func(l *Limits) *int { return &l.Stagnation },
		used:    func(s State, _ time.Time) int { return s.Unchanged },
	}, {
		Name: "feature_attempts", Unit: "attempts", Max: MaxCount,
		Example: `5`,
		About:   "How many iterations in a row may go to one feature.",
		Usage:   "end after `N` iterations in a row at one feature",
		Count:   func(l *Limits) *int { return &l.FeatureAttempts },
		used:    func(s State, _ time.Time) int { return s.mostAttempts() },
	}, {
		Name: "check_failures", Unit: "stops", Max: MaxCount,
		Example: `3`,
		About:   "The loop ends after this many stops in a row with a failed check.",
		Usage:   "end after `N` stops in a row with a failing check (default 5)",
		Count:   func(l *Limits) *int { return &l.CheckFailures },
		used:    func(s State, _ time.Time) int { return s.CheckFailures },
	}, {
		Name: "iterations_per_hour", Unit: "iterations", Max: maxPerHour,
		Example: `10`,
		About:   "How many iterations may begin within an hour before a handover.",
		Usage:   "hand over after `N` iterations within an hour",
		Count:   func(l *Limits) *int { return &l.IterationsPerHour },
		used:    func(s State, now time.Time) int { return len(s.LastHour(now)) },
	}, {
		Name: "features_per_session", Unit: "features", Max: MaxCount,
		Example: `2`,
		About:   "How many features may pass before a handover to a fresh session.",
		Usage:   "hand over after `N` passed features",
		Count:   func(l *Limits) *int { return &l.FeaturesPerSession },
		used:    func(s State, _ time.Time) int { return s.SessionPassed },
	}, {
		Name: "context_tokens", Unit: "tokens", Max: maxTokens,
		Example: `150000`,
		About:   "At how many tokens of conversation the loop is handed over to a fresh session.",
		Usage:   "hand over to a fresh session at `N` tokens of conversation",
		Count:   func(l *Limits) *int { return &l.ContextTokens },
		used:    func(s State, _ time.Time) int { return s.Context },
	}, {
		Name: "max_wait", Unit: "seconds", Max: int(MaxTime / time.Second),
		Example: `"20m"`,
		About:   "How long the loop waits for background work. Waiting costs no iteration. 0s: it does not wait.",
		Usage:   "wait at most `TIME` for background work (default 1h)",
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
	// `extend` can raise these two later, so their ceilings are kept too.
	lowered.MaxIterations, lowered.CeilingIterations = l.MaxIterations, ceilings.MaxIterations
	lowered.Deadline, lowered.CeilingDeadline = l.Deadline, ceilings.Deadline
	lowered.MaxWait = min(l.MaxWait, ceilings.MaxWait) // 0 is the strictest value here, not off
	return lowered
}

// Limit returns how many iterations the loop may have. It is the number that `extend` set, else
// the one in ralph.json, else the one in the header when the loop began, else DefaultIterations. A
// later edit of the header can only lower it, and the person's ceiling always holds. If nobody has
// trusted ralph.json, an edit of it cannot give the loop more than it began with, nor anything more than MaxByHand.
func (s State) Limit(l Limits) int {
	limit := DefaultIterations
	switch {
	case s.Extended > 0:
		limit = s.Extended
	case l.MaxIterations > 0:
		limit = l.MaxIterations
	case s.HeaderLimit > 0:
		limit = s.HeaderLimit
	}
	if !l.Trusted && s.Extended == 0 {
		limit = least(limit, s.Allowed, MaxByHand)
	}
	return least(limit, s.Lowered, l.CeilingIterations)
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

// limits ends the loop if a limit is reached, in the order of the design. It first asks for what
// it needs to know. next is the feature that comes next.
func (d *Decision) limits(s *Snapshot, next string) Need {
	again := d.continues(s, next)
	if d.usedUp(s, again) {
		return Need{}
	}
	if !s.Begins { // else no session has ended, which could have got nowhere
		if need := d.stuck(s, next); need.Kind != NeedNothing || d.Verdict != "" {
			return need
		}
	}
	return d.paced(s, again)
}

// usedUp ends the loop if its iterations are used up, or what its host may spend. again: the iteration was given
// before. While other lanes work, that is not the end: a lane that gets no session waits for what they have done.
func (d *Decision) usedUp(s *Snapshot, again bool) bool {
	begun := again && (s.Begins || d.Next.Iteration <= d.Limit) // a limit that was lowered ends the loop at a stop
	over := d.Next.Iteration >= d.Limit && !begun
	legOver := s.Leg.Done && (s.Leg.Job || d.Next.Complete)
	spent := s.Spent != "" && !(legOver && s.Spent == MaxIterations)
	switch {
	case !over && !spent:
		return false
	case s.othersWork():
		d.idle(s)
	case over:
		d.end(s, ReachedLimit, MaxIterations)
	default:
		d.Next.Needs = s.Bill
		d.Next.Raise = s.Raise
		d.end(s, ReachedLimit, Budget)
	}
	return true
}

// stuck ends a loop that gets nowhere.
func (d *Decision) stuck(s *Snapshot, next string) Need {
	limits := s.Limits.forLanes(s.workers())
	if limits.Stagnation > 0 && !d.fingerprint(s) {
		return Need{Kind: NeedTree}
	}
	d.guard(s)
	if d.Verdict != "" {
		return Need{}
	}
	if l := limits.Stagnation; l > 0 && d.Next.Unchanged >= l {
		if s.Trees == nil && s.Lane == 0 { // lanes work in trees of their own
			return Need{Kind: NeedTrees}
		}
		if len(s.Trees) == 0 || d.Next.Unchanged > l { // else the agent hears of them, once
			d.stagnated(s)
			return Need{}
		}
	}
	most := min(max(1, s.BlockCap-1), maxBlocks) // after these, the next block is the last that the host honours
	if s.BlockCap > 0 && len(d.Next.Blocks) >= most {
		if s.Tail == nil {
			return Need{Kind: NeedTail}
		}
		d.Next.Blocks = slices.DeleteFunc(slices.Clone(d.Next.Blocks), func(at int64) bool {
			return at < s.Tail.ToolCall.UnixMilli() || at > s.Now.UnixMilli()
		})
		if len(d.Next.Blocks) >= most {
			d.Next.Needs = fmt.Sprintf("the agent was sent on %s without a tool call in its transcript, and most "+
				"versions of Claude Code would soon end the turn in silence", plain.Count(len(d.Next.Blocks), "time"))
			d.end(s, Stagnated, NoProgress)
			return Need{}
		}
	}
	feature, attempts := d.attempts(s)
	if l := limits.FeatureAttempts; l > 0 && s.List.Err == nil && next == feature && attempts >= l {
		d.Next.Needs = fmt.Sprintf("feature %s did not pass in %d attempts", plain.Line(next, 80), attempts)
		d.end(s, ReachedLimit, Attempts)
		return Need{}
	}
	if l := limits.CheckFailures; l > 0 && d.Next.CheckFailures >= l {
		what := "a check failed"
		switch {
		case d.Failure != nil:
			what = "the " + d.Failure.Called() + " " + d.Failure.Outcome()
		case len(d.Next.Lanes) > 0:
			what = "a check failed, or work was in conflict,"
		}
		d.Next.Needs = fmt.Sprintf("%s at %d stops in a row", what, d.Next.CheckFailures)
		d.end(s, ReachedLimit, Attempts)
	}
	return Need{}
}

func (d *Decision) stagnated(s *Snapshot) {
	when := "at %d stops in a row"
	if d.Next.Run() != "" {
		when = "after %d iterations in a row"
	}
	d.Next.Needs = fmt.Sprintf("list and work were the same "+when, d.Next.Unchanged)
	if len(s.Trees) > 0 {
		d.Next.Needs += ", but files changed in other work trees: " + Names(s.Trees)
	}
	d.end(s, Stagnated, NoProgress)
}

// paced waits for the next hour, or hands the loop over to another session, if this hour or this session had enough.
// An iteration that continues was counted before.
func (d *Decision) paced(s *Snapshot, again bool) Need {
	if l := s.Limits.IterationsPerHour; l > 0 && !again {
		if hour := d.Next.LastHour(s.Now); len(hour) >= l {
			d.Next.RetryAt = time.Unix(hour[len(hour)-l], 0).Add(time.Hour).UTC()
			if d.Next.PastDeadline(s.Limits, d.Next.RetryAt) && !s.othersWork() {
				d.end(s, ReachedLimit, Deadline)
				return Need{}
			}
			if s.Lane > 0 {
				d.rest(s)
				return Need{}
			}
			d.Next.Habits = d.From.Habits // this stop comes again
			d.Verdict = Wait
			if !s.Fresh {
				d.end(s, Handover, IterationsPerHour)
			}
			return Need{}
		}
	}
	if l := s.Limits.FeaturesPerSession; l > 0 && d.Next.SessionPassed >= l {
		d.Next.Needs = "this session has done its " + plain.Count(d.Next.SessionPassed, "feature")
		d.end(s, Handover, SessionFull)
		return Need{}
	}
	if l := s.Limits.ContextTokens; l > 0 {
		if s.Tail == nil {
			return Need{Kind: NeedTail}
		}
		if s.Tail.Context >= 0 {
			d.Next.Context = s.Tail.Context
		}
		if d.Next.Context >= l {
			d.Next.Needs = fmt.Sprintf("the conversation has grown to %d tokens", d.Next.Context)
			d.end(s, Handover, SessionFull)
		}
	}
	return Need{}
}

// fingerprint counts the stops in a row without a change. It looks at the list first, and only if
// that did not change at the work tree, which is slower to read. It returns false if it needs
// Snapshot.Tree and that is empty.
func (d *Decision) fingerprint(s *Snapshot) bool {
	list := s.List.Digest()
	if s.List.Err != nil {
		list = "broken: " + s.List.Err.Error()
	}
	before := d.Next.ListDigest
	if s.Lane > 0 { // lanes work in trees of their own
		d.Next.Unchanged++
		if s.Moved || before != list || d.lanePassed(s) {
			d.Next.Unchanged = 1
		}
		d.Next.ListDigest, d.Next.TreeDigest = list, ""
		return true
	}
	if before != "" && before != list {
		d.Next.ListDigest = list
		d.Next.TreeDigest = ""
		d.Next.Unchanged = 1
		d.Next.Blocks = nil // the agent must have used a tool to change the list
		return true
	}
	if s.Tree == "" {
		return false
	}
	if before == list && d.Next.TreeDigest == s.Tree {
		d.Next.Unchanged++
	} else {
		d.Next.Unchanged = 1
	}
	d.Next.ListDigest, d.Next.TreeDigest = list, s.Tree
	return true
}
