package verb

import (
	"flag"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// LimitFlags defines a flag for each limit of ralph.json. What limits has already are the defaults.
func LimitFlags(f *flag.FlagSet, limits *decide.Limits) {
	for name, usage := range map[string]string{
		"max_iterations":       "how many iterations, `N`, the loop may have",
		"deadline":             "the `TIME` that the loop may take from its first prompt, such as 8h",
		"stagnation":           "how many stops in a row, `N`, may change nothing (default 3)",
		"feature_attempts":     "how many iterations in a row, `N`, one feature may take",
		"check_failures":       "at how many stops in a row, `N`, a check may fail (default 5)",
		"iterations_per_hour":  "how many iterations, `N`, may begin in an hour",
		"features_per_session": "after how many features, `N`, the loop asks for a fresh session",
		"context_tokens":       "at how many tokens, `N`, of the conversation the loop asks for a fresh session",
		"max_wait":             "the `TIME` that the loop waits for work in the background (default 1h)",
	} {
		row := limitRow(name)
		if row.Time != nil {
			f.DurationVar(row.Time(limits), LimitFlag(name), *row.Time(limits), usage)
		} else {
			f.IntVar(row.Count(limits), LimitFlag(name), *row.Count(limits), usage)
		}
	}
}

// LimitFlag returns the name of the flag for a limit, such as feature-attempts.
func LimitFlag(name string) string { return strings.ReplaceAll(name, "_", "-") }

func limitRow(name string) (found decide.Limit) {
	for _, row := range decide.LimitTable {
		if row.Name == name {
			found = row
		}
	}
	return found
}

// LimitsJSON returns "limits" of ralph.json: max_iterations, and the limits whose flags are given.
func LimitsJSON(l decide.Limits, given func(flag string) bool) map[string]any {
	limits := map[string]any{"max_iterations": l.MaxIterations}
	for _, row := range decide.LimitTable {
		switch {
		case !given(LimitFlag(row.Name)) || row.Name == "max_iterations":
		case row.Time != nil:
			limits[row.Name] = plain.Duration(*row.Time(&l))
		default:
			limits[row.Name] = *row.Count(&l)
		}
	}
	return limits
}

// OtherLimits reports whether a given flag has a limit that is not the one in there.
func OtherLimits(l, there decide.Limits, given func(flag string) bool) bool {
	for _, row := range decide.LimitTable {
		switch {
		case !given(LimitFlag(row.Name)):
		case row.Time != nil && *row.Time(&l) != *row.Time(&there),
			row.Time == nil && *row.Count(&l) != *row.Count(&there):
			return true
		}
	}
	return false
}
