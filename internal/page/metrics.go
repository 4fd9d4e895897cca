package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
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

// maxTimed is how many checks of a loop have a metric.
const maxTimed = 10

func metricsOf(p *watch.Picture) []*metric {
	states := &metric{name: "ralph_loop_state", help: "1 for the state that the loop is in; if stuck, it needs you, too."}
	status := &metric{name: "ralph_loop_status", help: "1 for the status that the loop has."}
	works := &metric{name: "ralph_loop_works", help: "1 if a session or a run works on the loop."}
	sign := &metric{name: "ralph_loop_last_activity_seconds", help: "The loop's last sign of life, as a Unix time."}
	iterations := &metric{name: "ralph_loop_iterations", help: "The iteration of the loop."}
	features := &metric{name: "ralph_loop_features", help: "Features of the loop by state."}
	cost := &metric{name: "ralph_run_cost_usd", help: "Dollars that the last run of the loop has told."}
	tokens := &metric{name: "ralph_run_tokens", help: "Tokens that the last run of the loop has used."}
	checks := &metric{name: "ralph_check_duration_seconds", help: "How long the last run of a check took."}
	is := map[bool]float64{true: 1}
	for _, l := range p.Loops {
		of := []string{"loop", l.Name, "project", l.Project}
		add := func(m *metric, value float64, more ...string) { m.add(value, slices.Concat(of, more)...) }
		for rank, state := range []string{"needs you", "stuck", "working", "waiting", "never begun", "ended"} {
			needs := rank == verb.RankNeedsYou && l.Rank() == verb.RankStuck // which needs you, too
			add(states, is[l.Rank() == rank || needs], "state", state)
		}
		add(status, 1, "status", string(l.Status.Status))
		add(works, is[l.Works()])
		add(sign, float64(l.LastSign.Unix()))
		add(iterations, float64(l.Iteration))
		add(features, float64(l.Features.Total), "state", "total")
		for _, one := range []struct {
			state string
			n     int
		}{
			{decide.FeatureOpen, l.Features.Remaining()}, {decide.FeatureClaimed, l.Features.Claimed},
			{decide.FeatureProven, l.Features.Proven}, {decide.FeatureSetAside, l.Features.SetAside},
			{"added", l.Features.Added},
		} {
			add(features, float64(one.n), "state", one.state)
		}
		if l.Spent != nil && l.Run != nil {
			if l.Spent.CostKnown {
				add(cost, l.Spent.CostUSD, "agent", l.Run.Agent)
			}
			add(tokens, float64(l.Spent.Tokens()), "agent", l.Run.Agent)
		}
		told := map[string]bool{}
		for _, c := range l.Status.Checked {
			name := plain.Line(c.Of, 80) // without the feature: a list may have thousands, and a file any name
			if name != "" && !told[name] && len(told) < maxTimed {
				told[name] = true
				add(checks, float64(c.DurationMS)/1000, "check", name)
			}
		}
	}
	return []*metric{states, status, works, sign, iterations, features, cost, tokens, checks}
}
