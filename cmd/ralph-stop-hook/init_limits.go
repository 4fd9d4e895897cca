package main

import (
	"errors"
	"flag"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// limitFlags defines a flag for each limit of ralph.json but max_iterations.
func (i *initialiser) limitFlags(f *flag.FlagSet) {
	for name, usage := range map[string]string{
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
			f.DurationVar(row.Time(&i.limits), limitFlag(name), 0, usage)
		} else {
			f.IntVar(row.Count(&i.limits), limitFlag(name), 0, usage)
		}
	}
}

func limitFlag(name string) string { return strings.ReplaceAll(name, "_", "-") }

func limitRow(name string) (found decide.Limit) {
	for _, row := range decide.LimitTable {
		if row.Name == name {
			found = row
		}
	}
	return found
}

// limitsJSON returns "limits" of ralph.json, as the flags have them.
func (i *initialiser) limitsJSON() map[string]any {
	limits := map[string]any{"max_iterations": i.iterations}
	for _, row := range decide.LimitTable {
		switch {
		case !i.given(limitFlag(row.Name)) || row.Name == "max_iterations":
		case row.Time != nil:
			limits[row.Name] = plain.Duration(*row.Time(&i.limits))
		default:
			limits[row.Name] = *row.Count(&i.limits)
		}
	}
	return limits
}

// checkLimits refuses limits that ralph.json could not have.
func checkLimits(text []byte) error {
	_, err := config.Parse(text)
	if wrong := (*jsontext.Error)(nil); errors.As(err, &wrong) {
		return cli.Usagef("%s", wrong.Problem)
	}
	return err
}

// otherLimits reports whether a flag gives a limit that is not the one of a ralph.json.
func (i *initialiser) otherLimits(there decide.Limits) bool {
	for _, row := range decide.LimitTable {
		switch {
		case !i.given(limitFlag(row.Name)):
		case row.Name == "max_iterations":
			if i.iterations != there.MaxIterations {
				return true
			}
		case row.Time != nil && *row.Time(&i.limits) != *row.Time(&there),
			row.Time == nil && *row.Count(&i.limits) != *row.Count(&there):
			return true
		}
	}
	return false
}
