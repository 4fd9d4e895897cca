package screen

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// Lines prints a line for each loop, and another one each time that a loop changes, until ctx ends: for screen readers,
// logs and pipes.
func Lines(ctx context.Context, o Options, w io.Writer) error {
	last := map[string]string{}
	for {
		there := map[string]bool{}
		for _, l := range o.Watcher.Picture().Loops {
			if o.Only != nil && !o.Only(&l) {
				continue
			}
			there[l.Key] = true
			text := news(&l)
			if text == last[l.Key] {
				continue
			}
			last[l.Key] = text
			if _, err := fmt.Fprintf(w, "%s %s\n", time.Now().Format("15:04:05"), sentence(&l)); err != nil {
				return err
			}
		}
		for key := range last {
			if !there[key] {
				name, _, _ := strings.Cut(last[key], ":")
				if _, err := fmt.Fprintf(w, "%s %s: gone\n", time.Now().Format("15:04:05"), name); err != nil {
					return err
				}
				delete(last, key)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-o.Watcher.Changes:
		}
	}
}

// news is a sentence without what changes all the time: how long a session has been silent.
func news(l *watch.Loop) string {
	text := sentence(l)
	for _, one := range l.Silent {
		text = strings.Replace(text, one.String(), "silent", 1)
	}
	return text
}

// sentence says how a loop stands, in words alone.
func sentence(l *watch.Loop) string {
	parts := []string{l.Word()}
	if l.Features.Total > 0 {
		parts = append(parts, l.Progress())
	}
	if l.MaxIterations > 0 {
		parts = append(parts, fmt.Sprintf("iteration %d of %d", l.Iteration, l.MaxIterations))
	}
	parts = append(parts, present(l.Spent.Cost(), l.Wrong(), cmp.Or(l.Doing(), l.Then))...)
	return l.Name + ": " + strings.Join(parts, ", ")
}
