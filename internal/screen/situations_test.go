package screen

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// TestSituations asks of a terminal of 80 by 24: does it work, how far is it, what does it cost, what went wrong, what
// do I do? What is too long for a row is in the loop's detail.
func TestSituations(t *testing.T) {
	w := watchtest.New(t)
	all := w.Situations()
	watcher, err := watch.New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(Options{Env: w.Env, Watcher: watcher})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	list := text(m)
	for _, one := range all {
		row := ""
		for line := range strings.SplitSeq(list, "\n") {
			if len(line) > 6 && strings.HasPrefix(line[len("> ▲ "):], one.Name+" ") {
				row = line
			}
		}
		for _, want := range []string{one.Works, one.Far, one.Cost} {
			if !strings.Contains(row, want) {
				t.Errorf("%s: there is no %q in the row %q of\n%s", one.Name, want, row, list)
			}
		}
		m.key = watcher.Picture().Find(one.Name).Key
		m.open = true
		detail := text(m)
		m.open = false
		for _, want := range []string{one.Works, one.Wrong, one.Do} {
			if !strings.Contains(strings.ReplaceAll(detail, "\n", ""), want) {
				t.Errorf("%s: there is no %q in\n%s", one.Name, want, detail)
			}
		}
	}
	rows := strings.Split(list, "\n")
	if !strings.Contains(rows[1], "▲") || !strings.Contains(rows[10], "✓ complete") {
		t.Errorf("the loops that need somebody are not the first:\n%s", list)
	}
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 24})
	if foot := m.bottom(); strings.Contains(foot, "…") || !strings.Contains(foot, "q quit") {
		t.Errorf("at 60 columns the last line is %q", foot)
	}
}
