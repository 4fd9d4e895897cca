package page

import (
	"fmt"
	"net/http"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

const (
	// atMost is how often a browser is told that something has changed.
	atMost = 2 * time.Second
	// still is how often it is told that the server lives.
	still = 15 * time.Second
)

// events tells a browser each time that the picture has changed, as server-sent events. It sends no more than that: the
// browser asks for what it shows.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many browsers follow")
		return
	}
	changes, stop := s.Watcher.Changes()
	defer stop()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(still))
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	alive := time.NewTicker(still)
	defer alive.Stop()
	for open := send(": hello\n\n"); open; {
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
			open = send(": still there\n\n")
		case <-changes:
			open = send("event: change\ndata: " + s.Watcher.Picture().At.UTC().Format(time.RFC3339Nano) + "\n\n")
			select {
			case <-r.Context().Done():
			case <-time.After(atMost):
			}
		}
	}
}

// elapsed says how long a loop, or its run, takes or took.
func elapsed(l watch.Loop) string {
	from, _ := time.Parse(time.RFC3339, l.StartedAt)
	to := time.Now()
	if ended, err := time.Parse(time.RFC3339, l.EndedAt); err == nil && !l.Works() {
		to = ended
	}
	if from.IsZero() || to.Before(from) { // a clock was set back
		return ""
	}
	return plain.Duration(to.Sub(from).Round(time.Second))
}

// bar is how far a loop is.
type bar struct {
	Proven, Claimed, Total int
}

func newBar(l watch.Loop) bar {
	return bar{l.Features.Proven, l.Features.Passed, l.Features.Total}
}
