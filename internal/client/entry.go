package client

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// shortTime is how long a hook may take at an event of Short: the client gives it three seconds or less.
const shortTime = time.Second

// Entry returns our entry for an event. name is the program's bare name or, where PATH does not find that, its path.
// Settings that go with the repository are read where the program may be missing, so a bare name does nothing there. On
// Windows there may be no shell for that. The entry is the same in all settings: Claude Code runs equal ones once.
func (c *Client) Entry(event, name string, timeout time.Duration) Entry {
	given := timeout
	if slices.Contains(c.Short, event) {
		timeout, given = shortTime, 3*shortTime
	}
	args := []string{"hook"}
	if c.Name != Usual {
		args = append(args, "--client", c.Name)
	}
	return Entry{
		Command: name, Timeout: int(given / c.Unit), Quiet: name == program && runtime.GOOS != "windows", Line: !c.Exec,
		Args: append(args, "--timeout", fmt.Sprintf("%ds", int(timeout.Seconds()))),
	}
}

// EntryName returns how settings name a program of ours, whose own path is self: by its bare name if path, a PATH,
// finds it. It is an error if that cannot be seen now, or shared settings would get the path of one machine.
func EntryName(name, self, path string) (string, error) {
	ours, err := os.Stat(self)
	if err != nil {
		return "", fmt.Errorf("this program is not where it was started (%w); write the entry yourself", err)
	}
	found, err := proc.LookPath(name, path)
	if errors.Is(err, exec.ErrNotFound) {
		return self, nil
	}
	var its os.FileInfo
	if err == nil {
		its, err = os.Stat(found)
	}
	if err != nil {
		return "", fmt.Errorf("whether PATH finds %s cannot be seen: %w; try again, or take that folder out of PATH",
			name, err)
	}
	if !os.SameFile(its, ours) {
		return self, nil
	}
	return name, nil
}

// Missing returns the events for which hooks have no entry of ours.
func (c *Client) Missing(hooks []*Hook) (events []string) {
	for _, event := range c.Events {
		if !slices.ContainsFunc(hooks, func(h *Hook) bool { return h.Event == event && h.Ours }) {
			events = append(events, event)
		}
	}
	return events
}
