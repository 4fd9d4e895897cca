package view

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// Limit is one limit and what is left of it.
type Limit struct {
	Name  string `json:"name"` // as ralph.json has it
	Limit int64  `json:"limit"`
	Left  int64  `json:"left"`
	Unit  string `json:"unit"` // iterations, seconds, stops, attempts, features or tokens
}

// limits returns the limits in force, with what is left of each.
func limits(s decide.State, l decide.Limits, checks int, now time.Time) []Limit {
	if checks == 0 {
		l.CheckFailures = 0
	}
	on := []Limit{}
	add := func(name, unit string, limit, used int) {
		if limit > 0 {
			on = append(on, Limit{name, int64(limit), int64(max(0, limit-used)), unit})
		}
	}
	addTime := func(name string, limit time.Duration, since time.Time) {
		if since.IsZero() {
			since = now
		}
		add(name, "seconds", int(limit.Seconds()), int(now.Sub(since).Seconds()))
	}
	add("max_iterations", "iterations", s.Limit(l), s.Iteration)
	addTime("deadline", s.Deadline(l), s.StartedAt)
	add("stagnation", "stops", l.Stagnation, s.Unchanged)
	add("feature_attempts", "attempts", l.FeatureAttempts, s.Attempts)
	add("check_failures", "stops", l.CheckFailures, s.CheckFailures)
	add("iterations_per_hour", "iterations", l.IterationsPerHour, len(s.LastHour(now)))
	add("features_per_session", "features", l.FeaturesPerSession, s.SessionPassed)
	add("context_tokens", "tokens", l.ContextTokens, s.Context)
	addTime("max_wait", l.MaxWait, s.WaitingSince)
	return on
}
