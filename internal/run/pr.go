package run

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// tellsLater reports whether the notifiers hear of an ending only after a command has opened a pull request. If the run
// is killed before, another process lets them know without it.
func (r *Run) tellsLater(s *loop.Step) bool {
	ends := r.Record.Options.Workers > 0 && s.Decision.Verdict == decide.End
	return ends && len(r.commands(s.Picture, config.OpenPR)) > 0
}

// openPR runs the commands for the run's branch, if it has new work. If one fails, the run says so when it has ended,
// and all of them run again when it goes on. A run that is killed before they are noted runs them again, too.
func (l *lanes) openPR(s *loop.Step) {
	m := &l.Record.Merges
	p, done, err := l.look()
	if err != nil {
		return
	}
	defer done()
	commands := l.commands(p, config.OpenPR)
	m.Failed = ""
	if m.Behind == "" || m.PRCommit == m.Commit || len(commands) == 0 {
		return
	}
	t := l.inputOf(s, s.Decision.Next, nil)
	t.Event = config.OpenPR
	t.Branch = l.Record.Branch()
	t.Base = m.Into
	var titles []string
	for _, w := range l.Record.Work {
		if item, has := p.Snapshot.List.Find(w.Feature); has && m.Done[w.Feature] != "" {
			titles = append(titles, strings.TrimSpace(w.Feature+" "+item.Title()))
		}
	}
	vars := append(t.vars(), "RALPH_TITLE="+plain.Line(strings.Join(titles, ", "), 200), "RALPH_BRANCH="+t.Branch,
		"RALPH_BASE="+t.Base)
	address := regexp.MustCompile(`https?://[^\s"'<>\x00-\x1f]+`)
	for _, c := range commands {
		output, err := p.RunHook(context.Background(), c, t, vars)
		if err != nil {
			m.Failed = fmt.Sprintf("the command for the branch %s failed: %s: %v", t.Branch,
				plain.Line(c.String(), 100), err)
			return
		}
		if found := address.FindAllString(string(output), -1); len(found) > 0 { // gh prints that of the pull request last
			m.PR = plain.Line(found[len(found)-1], 500)
		}
	}
	m.PRCommit = m.Commit
	_ = l.save() // the end of the run saves it again
}
