package fleet

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
)

// Health is what a platform asks of a worker. The zero Health is that of one that has not started.
type Health struct {
	joined                                  atomic.Pointer[jobs.Worker]
	busy, handedIn, givenBack, lostSessions atomic.Int64
}

// Handler answers /livez while the process works, /readyz if it is connected to an engine, and /metrics for Prometheus.
func (h *Health) Handler(lanes int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !h.ready() {
			http.Error(w, "there is no connection to the engine", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		connected := int64(0)
		if h.ready() {
			connected = 1
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		for _, m := range []struct {
			name, kind, help string
			value            int64
		}{
			{"connected", "gauge", "1 if the worker is connected to an engine.", connected},
			{"lanes", "gauge", "Lanes of the worker.", int64(lanes)},
			{"busy_lanes", "gauge", "Lanes with a session.", h.busy.Load()},
			{"handed_in_total", "counter", "Sessions that were handed in.", h.handedIn.Load()},
			{"given_back_total", "counter", "Sessions that were given back.", h.givenBack.Load()},
			{"lost_total", "counter", "Sessions that were lost to another worker.", h.lostSessions.Load()},
		} {
			name := "ralph_worker_" + m.name
			fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", name, m.help, name, m.kind, name, m.value)
		}
	})
	return mux
}

func (h *Health) ready() bool {
	joined := h.joined.Load()
	return joined != nil && joined.Connected()
}
