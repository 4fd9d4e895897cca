package client

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// shortTime is how long a hook may take at an event of Short: the client gives it three seconds or less.
const shortTime = time.Second

// Entry returns our entry for an event. program is its bare name, if the settings may be read where it is missing, else
// its path.
func (c *Client) Entry(event, scope, program string, bare bool, timeout time.Duration) Entry {
	given := timeout
	if slices.Contains(c.Short, event) {
		timeout, given = shortTime, 3*shortTime
	}
	return Entry{
		Type: "command", Command: program, Timeout: int(given / c.Unit), Quiet: bare, Line: !bare,
		Args: []string{
			"hook", "--client", c.Name, "--entry", scope, "--timeout", fmt.Sprintf("%ds", int(timeout.Seconds())),
		},
	}
}

// Place is a settings file of a client that has the hook.
type Place struct {
	Client *Client
	Scope  string
	Path   string
	Hooks  []*Hook // our entries in it
}

// Places returns the places of the hook for a project.
func Places(project, home string, get func(name string) string) (places []Place) {
	for i := range Others {
		c := &Others[i]
		for _, scope := range OtherScopes {
			path := c.Path(scope, project, home, get)
			if text, err := loopdir.ReadAny(path, MaxBytes); err == nil {
				if hooks := Ours(text); len(hooks) > 0 {
					places = append(places, Place{c, scope, path, hooks})
				}
			}
		}
	}
	return places
}

// Missing returns the events for which a place has no entry.
func (p Place) Missing() (events []string) {
	for _, event := range p.Client.Events {
		if !slices.ContainsFunc(p.Hooks, func(h *Hook) bool { return h.Event == event }) {
			events = append(events, event)
		}
	}
	return events
}

// Installed reports whether a settings file has our entry for the event of a stop.
func (c *Client) Installed(path string) bool {
	text, err := loopdir.ReadAny(path, MaxBytes)
	return err == nil && slices.ContainsFunc(Ours(text), func(h *Hook) bool { return h.Event == c.Events[0] })
}
