package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// metric is a metric in the text format of Prometheus:
// https://prometheus.io/docs/instrumenting/exposition_formats/
type metric struct {
	name, help string
	lines      []string
}

func (m *metric) add(value float64, labels ...string) {
	var b strings.Builder
	for i := 0; i < len(labels); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s="%s"`, labels[i], strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(labels[i+1]))
	}
	m.lines = append(m.lines, fmt.Sprintf("%s{%s} %g\n", m.name, b.String(), value))
}

func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	for _, m := range metricsOf(s.Watcher.Picture()) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s", m.name, m.help, m.name, strings.Join(m.lines, ""))
	}
}

func metricsOf(p *watch.Picture) []*metric {
	loops := &metric{name: "ralph_loops", help: "Loops by status."}
	works := &metric{name: "ralph_loop_works", help: "1 if a session or a run works on the loop."}
	iterations := &metric{name: "ralph_loop_iterations", help: "The iteration of the loop."}
	features := &metric{name: "ralph_loop_features", help: "Features of the loop by state."}
	cost := &metric{name: "ralph_run_cost_usd", help: "Dollars that the last run of the loop has told."}
	tokens := &metric{name: "ralph_run_tokens", help: "Tokens that the last run of the loop has used."}
	checks := &metric{name: "ralph_check_duration_seconds", help: "How long the last run of a check took."}
	counts := map[string]int{}
	for _, l := range p.Loops {
		counts[string(l.Status.Status)]++
		of := []string{"loop", l.Name, "project", l.Project}
		at := 0.0
		if l.Works() {
			at = 1
		}
		works.add(at, of...)
		iterations.add(float64(l.Iteration), of...)
		for _, one := range []struct {
			state string
			n     int
		}{{"total", l.Features.Total}, {"claimed", l.Features.Passed}, {"proven", l.Features.Proven}} {
			features.add(float64(one.n), append(of, "state", one.state)...)
		}
		if l.Run != nil {
			if l.Run.CostKnown {
				cost.add(l.Run.CostUSD, append(of, "agent", l.Run.Agent)...)
			}
			tokens.add(float64(l.Run.Tokens), append(of, "agent", l.Run.Agent)...)
		}
		for _, c := range l.LastChecks {
			checks.add(float64(c.DurationMS)/1000, append(of, "check", c.Name)...)
		}
	}
	var statuses []string
	for status := range counts {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		loops.add(float64(counts[status]), "status", status)
	}
	return []*metric{loops, works, iterations, features, cost, tokens, checks}
}
