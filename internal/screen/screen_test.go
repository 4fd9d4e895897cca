package screen

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// hostile is a text that wants to break the screen.
var hostile = "\x1b[2J\x1b]0;x\a界界\u202e🎉" + strings.Repeat("long ", 300)

// newScreen returns a model over some loops, which are in one project.
func newScreen(t *testing.T, names ...string) (*model, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		folder := filepath.Join(dir, loopdir.Below, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		list, _ := json.Marshal([]map[string]any{
			{"id": "a", "title": hostile, "passes": false}, {"id": "b", "title": "Second", "passes": true},
		})
		if err := os.WriteFile(filepath.Join(folder, loopdir.ListFile), list, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env := loop.Env{
		Catch:   context.WithCancel,
		Program: "ralph-runner", Cwd: dir, StateDir: filepath.Join(dir, "state"),
		Clients: func(string) (ask, resume []string) { return []string{"client"}, []string{"client", "--resume"} },
	}
	w, err := watch.New(env)
	if err != nil {
		t.Fatal(err)
	}
	return newModel(Options{Env: env, Watcher: w}), filepath.Join(dir, loopdir.Below)
}

// press presses keys and does what follows from them.
func press(m *model, keys ...string) {
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "down": tea.KeyDown}
	for _, key := range keys {
		k := tea.KeyPressMsg{Code: special[key]}
		if k.Code == 0 {
			k = tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
		}
		_, cmd := m.Update(k)
		if cmd == nil {
			continue
		}
		if msg := cmd(); msg != nil {
			m.Update(msg)
		}
	}
}

func text(m *model) string { return strings.Join(m.lines(), "\n") }

// TestSizes shows every part of the screen at every size. No line is too wide, and there are as many as fit.
func TestSizes(t *testing.T) {
	m, _ := newScreen(t, "demo", "other", "界界界界界界界界界界界界")
	codes := regexp.MustCompile(`\x1b\[\d+m`)
	for _, colour := range []bool{false, true} {
		m.paint.Colour = colour
		for _, keys := range [][]string{{}, {"enter"}, {"tab"}, {"tab"}, {"tab"}, {"tab"}, {"?"}, {"esc"}, {"c"}, {"n"}} {
			press(m, keys...)
			for width := 1; width <= 300; width += 7 {
				for _, height := range []int{3, 20, 60} {
					m.Update(tea.WindowSizeMsg{Width: width, Height: height})
					lines := m.lines()
					if len(lines) != height {
						t.Fatalf("%d lines on a screen of %d", len(lines), height)
					}
					for _, line := range lines {
						bare := line
						if colour {
							bare = codes.ReplaceAllString(line, "")
						}
						if strings.ContainsAny(bare, "\x1b\a\t\r\n\u202e") {
							t.Fatalf("a line has characters that the terminal obeys: %q", line)
						}
						if n := ansi.StringWidth(bare); n > width && width >= 40 {
							t.Fatalf("at %d columns after %q a line has %d: %q", width, keys, n, line)
						}
					}
				}
			}
		}
	}
}

// TestKeys goes through the list and into a loop.
func TestKeys(t *testing.T) {
	m, _ := newScreen(t, "one", "three", "two")
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 20})
	shows := func(what, want string) {
		t.Helper()
		if !strings.Contains(text(m), want) {
			t.Errorf("%s: there is no %q on\n%s", what, want, text(m))
		}
	}
	first := m.key
	shows("at first", "3 loops · 0 running · 0 need you")
	press(m, "down")
	if m.key == first {
		t.Error("down chooses no other loop")
	}
	press(m, "k", "k", "G", "g")
	if m.key != first {
		t.Error("up, end and begin do not lead back")
	}
	press(m, "/", "T", "W", "O", "enter")
	shows("the filter", "> ○ two")
	if strings.Contains(text(m), "three") {
		t.Error("the filter shows other loops")
	}
	press(m, "enter")
	shows("a loop", "[features]")
	shows("a loop", "claimed  b Second")
	press(m, "2")
	shows("the agent", "[agent]")
	press(m, "tab", "tab", "tab")
	shows("the log", "[log]")
	press(m, "?")
	shows("help", "filter the list")
	press(m, "x", "esc", "esc")
	shows("back", "3 loops")
}

// TestHelp shows what each key does, whole, on a small screen, page by page.
func TestHelp(t *testing.T) {
	m, _ := newScreen(t, "demo")
	m.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	press(m, "?")
	var seen []string
	first := text(m)
	for page := first; len(seen) == 0 || page != first; page = text(m) {
		if !strings.HasSuffix(page, "\nspace next page · other keys go back") {
			t.Fatalf("a page does not say how it goes on:\n%s", page)
		}
		lines := m.lines()
		seen = append(seen, lines[:len(lines)-1]...)
		press(m, " ")
	}
	shown := strings.Join(strings.Fields(strings.Join(seen, " ")), " ")
	for _, row := range helpRows {
		if !strings.Contains(shown, row[0]+" "+row[1]) {
			t.Errorf("%q is not shown whole in\n%s", row, strings.Join(seen, "\n"))
		}
	}
	press(m, "x")
	if !strings.Contains(text(m), "1 loop ·") {
		t.Errorf("another key does not go back:\n%s", text(m))
	}
}

// TestActions does an action after a yes alone.
func TestActions(t *testing.T) {
	m, _ := newScreen(t, "demo")
	status := func() decide.Status {
		p, err := watch.Look(m.Env)
		if err != nil {
			t.Fatal(err)
		}
		return p.Loops[0].Status.Status
	}
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 20})
	press(m, "p")
	if !strings.Contains(text(m), "Pause demo after this turn? [y/N]") {
		t.Errorf("no question: %s", text(m))
	}
	press(m, "n")
	if status() != decide.InProgress || !strings.Contains(text(m), "nothing was done") {
		t.Errorf("after a no the loop is %s", status())
	}
	press(m, "p", "y")
	if status() != decide.Paused || !strings.Contains(text(m), "demo: paused at iteration 1") {
		t.Errorf("after a yes the loop is %s: %s", status(), text(m))
	}
	if p, err := watch.New(m.Env); err == nil {
		m.Watcher = p
	}
	m.Update(changed{})
	press(m, "p")
	if !strings.Contains(text(m), "pause makes no sense now: the loop is PAUSED") {
		t.Errorf("a pause of a paused loop: %s", text(m))
	}
	press(m, "r", "y")
	if status() != decide.InProgress {
		t.Errorf("after resume the loop is %s", status())
	}
}

// TestScroll follows what grows, and stays where a person has scrolled to.
func TestScroll(t *testing.T) {
	m, _ := newScreen(t, "demo")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 15})
	press(m, "enter", "2")
	m.detail.NotUsed = "Makefile"
	if !strings.Contains(text(m), "not counted: Makefile") {
		t.Errorf("what the checks do not use is not seen: %s", text(m))
	}
	m.detail.NotUsed = ""
	grow := func(n int) {
		one := watch.Live{}
		for i := range n {
			one.Lines = append(one.Lines, fmt.Sprint("line ", i))
		}
		m.detail.Live = []watch.Live{one}
	}
	grow(50)
	if !strings.Contains(text(m), "line 49\n") {
		t.Errorf("the end is not seen: %s", text(m))
	}
	press(m, "k")
	_ = text(m)
	grow(60)
	if strings.Contains(text(m), "line 59\n") {
		t.Error("the screen moves although a person has scrolled")
	}
	press(m, "G")
	if !strings.Contains(text(m), "line 59\n") {
		t.Error("the end key does not lead to the end")
	}
}

// TestLines prints a line for each change, and none without one.
func TestLines(t *testing.T) {
	m, loops := newScreen(t, "demo")
	ctx, stop := context.WithCancel(t.Context())
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go m.Watcher.Run(ctx)
	ended := make(chan error)
	go func() { ended <- Lines(ctx, m.Options, w) }()
	read := func(want string) {
		t.Helper()
		var got bytes.Buffer
		buffer := make([]byte, 4096)
		_ = r.SetReadDeadline(time.Now().Add(20 * time.Second))
		for !strings.Contains(got.String(), want) {
			n, err := r.Read(buffer)
			if err != nil {
				t.Fatalf("%v after %q", err, got.String())
			}
			got.Write(buffer[:n])
		}
		if strings.ContainsAny(got.String(), "\x1b\a") {
			t.Errorf("codes in %q", got.String())
		}
	}
	read("demo: NOT STARTED, 1 of 2 features claimed, none checked, iteration 1 of 15")
	list := filepath.Join(loops, "demo", loopdir.ListFile)
	if err := os.WriteFile(list, []byte(`[{"id": "a", "passes": true}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	read("1 of 1 features claimed")
	if err := os.RemoveAll(filepath.Join(loops, "demo")); err != nil {
		t.Fatal(err)
	}
	read("demo: gone")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
