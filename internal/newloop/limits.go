package newloop

import (
	"github.com/spf13/pflag"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// LimitFlags defines the flags for two limits of ralph.json. What limits has already are the defaults.
func LimitFlags(f *pflag.FlagSet, limits *decide.Limits) {
	f.IntVar(&limits.MaxIterations, "max-iterations", limits.MaxIterations,
		"end after `N` iterations; otherwise three for each open feature, at least 15")
	f.Lookup("max-iterations").DefValue = "0" // help would show a default
	f.DurationVar(&limits.Deadline, "deadline", limits.Deadline, "end `TIME` after the first prompt, such as 8h")
}

// limitsJSON returns "limits" of ralph.json: max_iterations, and the deadline if its flag is given.
func (m *Maker) limitsJSON() map[string]any {
	limits := map[string]any{"max_iterations": m.Limits.MaxIterations}
	if m.HasFlag("deadline") {
		limits["deadline"] = plain.Duration(m.Limits.Deadline)
	}
	return limits
}

// otherLimits reports whether a given flag has a limit that is not the one in there.
func (m *Maker) otherLimits(there decide.Limits) bool {
	return m.HasFlag("max-iterations") && m.Limits.MaxIterations != there.MaxIterations ||
		m.HasFlag("deadline") && m.Limits.Deadline != there.Deadline
}
