package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// words is a text without what breaks its lines.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

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
		for _, want := range []string{one.Works, one.Progress, one.Cost, "/" + one.Name + " "} {
			if !strings.Contains(row, want) {
				t.Errorf("%s: there is no %q in the row %q of\n%s", one.Name, want, row, list)
			}
		}
		if !strings.Contains(words(list), one.Wrong) {
			t.Errorf("%s: there is no %q in\n%s", one.Name, one.Wrong, list)
		}
		m.key = watcher.Picture().Find(one.Name).Key
		m.open = true
		detail := text(m)
		m.open = false
		for _, want := range []string{one.Works, one.Wrong, one.Do} {
			if !strings.Contains(words(detail), want) {
				t.Errorf("%s: there is no %q in\n%s", one.Name, want, detail)
			}
		}
	}
	first, last := strings.Index(list, "▲ limit"), strings.Index(list, "✓ complete")
	if first < 0 || last < strings.Index(list, "◷ provider") || strings.Index(list, "● working") < first {
		t.Errorf("the loops that need somebody are not the first:\n%s", list)
	}
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 24})
	if foot := m.bottom(); strings.Contains(foot, "…") || !strings.Contains(foot, "q quit") {
		t.Errorf("at 60 columns the last line is %q", foot)
	}
}

// TestNarrow shows what is long in a terminal of 80 columns: the end of a project's name, a cost, a reason, and a
// command that is broken between words alone.
func TestNarrow(t *testing.T) {
	w := watchtest.New(t)
	const reason = "an API key of the search provider, which only the owner of the account can make, and its secret"
	name := "a-project-with-a-long-name"
	at := w.Loop(name)
	w.Commit(at, func(s *decide.State) {
		s.Status, s.ExitReason, s.Needs = decide.Blocked, decide.Asks, reason
	})
	r := record.Run{ID: "run1", StartedAt: time.Now(), Sessions: 1}
	r.Spent.CostUSD, r.Spent.CostKnown = 1234.5, true
	w.Run(at, r)
	watcher, err := watch.New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(Options{Env: w.Env, Watcher: watcher})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	list := text(m)
	for _, want := range []string{"1 needs you", reason, " $1234.50 ", " a-pro…-name "} {
		if !strings.Contains(words(list), want) {
			t.Errorf("there is no %q in\n%s", want, list)
		}
	}
	m.open = true
	for width := 60; width < 130; width++ {
		m.Update(tea.WindowSizeMsg{Width: width, Height: 24})
		detail := text(m)
		for _, want := range []string{reason, "ralph-runner note " + name + " ANSWER", "$1234.50"} {
			if !strings.Contains(words(detail), want) {
				t.Errorf("at %d columns there is no %q in\n%s", width, want, detail)
			}
		}
	}
}

// TestTop scrolls a list whose rows have one line or more. The chosen loop is always seen.
func TestTop(t *testing.T) {
	w := watchtest.New(t)
	for i := range 12 {
		at := w.Loop(fmt.Sprint("loop", i))
		if i%2 == 0 {
			w.Commit(at, func(s *decide.State) {
				s.Status, s.ExitReason, s.Needs = decide.Blocked, decide.Asks, strings.Repeat("a long reason ", 9)
			})
		}
	}
	watcher, err := watch.New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(Options{Env: w.Env, Watcher: watcher})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 10})
	for _, way := range []string{"down", "up"} {
		for range 12 {
			if list := text(m); !strings.Contains(list, "\n> ") {
				t.Errorf("going %s, the chosen loop is not seen:\n%s", way, list)
			}
			m.press(way, "")
		}
	}
	if m.top != 0 {
		t.Errorf("at the first loop the list begins with the loop %d", m.top)
	}
}

// TestStuck shows a loop whose lanes are all silent, and one of which a lane is. That the silence goes on is no news.
func TestStuck(t *testing.T) {
	w := watchtest.New(t)
	w.Silent("stuck", 22*time.Minute, time.Hour)
	w.Silent("half", time.Minute, 22*time.Minute)
	watcher, err := watch.New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(Options{Env: w.Env, Watcher: watcher})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 24})
	list := text(m)
	if !strings.Contains(list, "■ stuck") || !strings.Contains(list, "● half") ||
		strings.Count(list, " left") != 1 || strings.Index(list, "stuck") > strings.Index(list, "half") {
		t.Errorf("the loop that is stuck is not the first, or has a time that is left:\n%s", list)
	}
	for name, want := range map[string][]string{
		"stuck": {
			"STUCK", "lane 1 silent 22 min, log: ", "now: look at its log; ",
			"── lane 2: f4, 1h", ", silent 60 min",
		},
		"half": {
			"RUNNING", "lane 2 silent 22 min, log: ", "claude · 1: f3 · 2: f4",
			"── lane 2: f4, 1h", ", silent 22 min",
		},
	} {
		m.key, m.open, m.section = watcher.Picture().Find(name).Key, true, 1
		m.detail, err = watch.Open(w.Env, m.chosen().Status.Loop)
		if err != nil {
			t.Fatal(err)
		}
		detail := text(m)
		for _, one := range want {
			if !strings.Contains(words(detail), one) {
				t.Errorf("%s: there is no %q in\n%s", name, one, detail)
			}
		}
	}
	l := watcher.Picture().Find("stuck")
	before := news(l)
	l.Silent[0].LastSign = l.Silent[0].LastSign.Add(-time.Hour)
	if after := news(l); after != before || !strings.Contains(sentence(l), "lane 1 silent 82 min") {
		t.Errorf("the silence goes on, and that is news: %s; was %s", after, before)
	}
}
