package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Hook is a command of the command line that runs at an event of a run.
type Hook struct {
	Event string `json:"event"`
	Line  string `json:"line"` // for the shell
}

// Events are the events at which hooks run.
var Events = []string{
	config.PreIteration, config.PostIteration, config.OnComplete, config.OnStagnation, config.OnFailure,
	config.OnIteration,
}

// ParseHook reads EVENT:COMMAND.
func ParseHook(text string) (Hook, error) {
	event, line, is := strings.Cut(text, ":")
	switch {
	case !is || strings.TrimSpace(line) == "":
		return Hook{}, fmt.Errorf("the hook %q; want EVENT:COMMAND, such as post-iteration:./count.sh",
			plain.Line(text, 200))
	case !slices.Contains(Events, event):
		return Hook{}, fmt.Errorf("unknown hook event %q; there are %s", plain.Line(event, 80),
			strings.Join(Events, ", "))
	}
	return Hook{Event: event, Line: strings.TrimSpace(line)}, nil
}
