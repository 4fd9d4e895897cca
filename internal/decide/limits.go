package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Limits are ralph.json's limits; 0 is off where nothing else is said.
type Limits struct {
	MaxIterations      int           // 0: not said
	Deadline           time.Duration // since the loop began
	Stagnation         int           // stops in a row without a change
	FeatureAttempts    int           // iterations in a row given to one feature
	CheckFailures      int           // stops in a row at which a check failed
	IterationsPerHour  int
	FeaturesPerSession int           // that come to pass while one session works
	ContextTokens      int           // of the session's conversation
	MaxWait            time.Duration // for what runs in the background; 0: do not wait

	Held bool // a person has trusted them, so that no edit raises them

	// A person's own ceilings for all loops, which not even `extend` lifts.
	CeilingIterations int
	CeilingDeadline   time.Duration
}

// The limits where ralph.json names none.
const (
	DefaultIterations = 15
	DefaultStagnation = 3

	DefaultCheckFailures = 5
	DefaultMaxWait       = time.Hour
)

// least returns the smallest of the limits that are on, 0 where none is.
func least[T int | time.Duration](limits ...T) (min T) {
	for _, l := range limits {
		if l > 0 && (min == 0 || l < min) {
			min = l
		}
	}
	return min
}

// Under returns the limits as a person's ceilings allow them.
func (l Limits) Under(c Limits) Limits {
	l.CeilingIterations, l.CeilingDeadline = c.MaxIterations, c.Deadline
	l.Stagnation = least(l.Stagnation, c.Stagnation)
	l.FeatureAttempts = least(l.FeatureAttempts, c.FeatureAttempts)
	l.CheckFailures = least(l.CheckFailures, c.CheckFailures)
	l.IterationsPerHour = least(l.IterationsPerHour, c.IterationsPerHour)
	l.FeaturesPerSession = least(l.FeaturesPerSession, c.FeaturesPerSession)
	l.ContextTokens = least(l.ContextTokens, c.ContextTokens)
	l.MaxWait = min(l.MaxWait, c.MaxWait)
	return l
}

// Limit returns the number of iterations in force: what `extend` set, else
// ralph.json, else the header the loop began with, else DefaultIterations; the
// header may have lowered it since, and the ceiling holds over all of them. Where
// nobody has trusted ralph.json, an edit of it cannot raise what the loop began with.
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
	if !l.Held && s.Extended == 0 {
		limit = least(limit, s.Allowed)
	}
	return least(limit, s.Lowered, l.CeilingIterations)
}

// Deadline returns how long the loop may take from its beginning, 0: for ever.
func (s State) Deadline(l Limits) time.Duration {
	if s.ExtendedDeadline > 0 {
		return least(s.ExtendedDeadline, l.CeilingDeadline)
	}
	return least(l.Deadline, l.CeilingDeadline)
}

// Late tells whether the deadline has passed.
func (s State) Late(l Limits, now time.Time) bool {
	deadline := s.Deadline(l)
	return deadline > 0 && !s.StartedAt.IsZero() && now.Sub(s.StartedAt) >= deadline
}

// LastHour returns the iterations that began in the hour before now, and those of
// a clock that was set back since: they must not make room for more.
func (s State) LastHour(now time.Time) []int64 {
	return slices.DeleteFunc(slices.Clone(s.Hour), func(at int64) bool { return now.Unix()-at >= 3600 })
}

// limits ends the loop if a limit is reached, in the order of the design. It asks
// for what it has to know first.
func (d *Decision) limits(s *Snapshot, next string) Need {
	if d.Next.Iteration >= d.Limit {
		d.end(s, ReachedLimit, MaxIterations)
		return Need{}
	}
	if s.Limits.Stagnation > 0 {
		if !d.fingerprint(s) {
			return Need{Kind: NeedTree}
		}
		if d.Next.Unchanged >= s.Limits.Stagnation {
			d.end(s, Stagnated, NoProgress)
			return Need{}
		}
	}
	most := min(max(1, s.BlockCap-1), maxBlocks)
	idle := s.BlockCap > 0 && len(d.Next.Blocks) >= most
	if (idle || s.Limits.ContextTokens > 0) && s.Tail == nil {
		return Need{Kind: NeedTail}
	}
	if idle {
		d.Next.Blocks = slices.DeleteFunc(slices.Clone(d.Next.Blocks), func(at int64) bool {
			return at < s.Tail.ToolCall.UnixMilli() || at > s.Now.UnixMilli()
		})
		if len(d.Next.Blocks) >= most {
			d.end(s, Stagnated, NoToolUse)
			return Need{}
		}
	}
	if l := s.Limits.FeatureAttempts; l > 0 && s.List.Err == nil && next == d.Next.Feature && d.Next.Attempts >= l {
		d.Next.Needs = fmt.Sprintf("feature %s did not pass in %d attempts", plain.Line(next, 80), d.Next.Attempts)
		d.end(s, ReachedLimit, FeatureAttempts)
		return Need{}
	}
	if l := s.Limits.CheckFailures; l > 0 && d.Next.CheckFailures >= l {
		which := "a check"
		if d.Failure != nil {
			which = "the check " + plain.Line(d.Failure.Name, 80)
		}
		d.Next.Needs = fmt.Sprintf("%s failed at %d stops in a row", which, d.Next.CheckFailures)
		d.end(s, ReachedLimit, CheckFailures)
		return Need{}
	}
	if l := s.Limits.IterationsPerHour; l > 0 {
		if hour := s.State.LastHour(s.Now); len(hour) >= l {
			d.Next.RetryAt = time.Unix(hour[len(hour)-l], 0).Add(time.Hour).UTC()
			d.end(s, Handover, IterationsPerHour)
			return Need{}
		}
	}
	if l := s.Limits.FeaturesPerSession; l > 0 && d.Next.SessionPassed >= l {
		d.end(s, Handover, FeaturesPerSession)
		return Need{}
	}
	if l := s.Limits.ContextTokens; l > 0 {
		if s.Tail.Context >= 0 {
			d.Next.Context = s.Tail.Context
		}
		if d.Next.Context >= l {
			d.end(s, Handover, ContextTokens)
			return Need{}
		}
	}
	return Need{}
}

// fingerprint counts the stops in a row at which nothing changed. The list's
// states are looked at first; only if those did not change is the tree asked
// for, and false returned until it is there.
func (d *Decision) fingerprint(s *Snapshot) bool {
	list := s.List.Digest()
	if s.List.Err != nil {
		list = "broken: " + s.List.Err.Error()
	}
	before := d.Next.ListDigest
	if before != "" && before != list {
		d.Next.ListDigest, d.Next.TreeDigest, d.Next.Unchanged = list, "", 1
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
