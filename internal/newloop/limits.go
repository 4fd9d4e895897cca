package newloop

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// LimitFlags defines a flag for each limit of ralph.json. What limits has already are the defaults.
func LimitFlags(f *pflag.FlagSet, limits *decide.Limits) {
	for _, row := range decide.LimitTable {
		if row.Time != nil {
			f.DurationVar(row.Time(limits), limitFlag(row.Name), *row.Time(limits), row.Usage)
		} else {
			f.IntVar(row.Count(limits), limitFlag(row.Name), *row.Count(limits), row.Usage)
		}
	}
}

// limitFlag returns the name of the flag for a limit, such as feature-attempts.
func limitFlag(name string) string { return strings.ReplaceAll(name, "_", "-") }

// limitsJSON returns "limits" of ralph.json: max_iterations, and the limits whose flags are given.
func (m *Maker) limitsJSON() map[string]any {
	limits := map[string]any{"max_iterations": m.Limits.MaxIterations}
	for _, row := range decide.LimitTable {
		switch {
		case !m.Given(limitFlag(row.Name)) || row.Name == "max_iterations":
		case row.Time != nil:
			limits[row.Name] = plain.Duration(*row.Time(&m.Limits))
		default:
			limits[row.Name] = *row.Count(&m.Limits)
		}
	}
	return limits
}

// otherLimits reports whether a given flag has a limit that is not the one in there.
func (m *Maker) otherLimits(there decide.Limits) bool {
	for _, row := range decide.LimitTable {
		switch {
		case !m.Given(limitFlag(row.Name)):
		case row.Time != nil && *row.Time(&m.Limits) != *row.Time(&there),
			row.Time == nil && *row.Count(&m.Limits) != *row.Count(&there):
			return true
		}
	}
	return false
}
