package report

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// percent reads a part of a drawing.
func percent(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStrip draws 200 lanes of 60 sessions each, of which one works and has fallen silent. What is drawn is bounded,
// has that lane, and ends now.
func TestStrip(t *testing.T) {
	d := &watch.Detail{}
	d.Phase, d.Run = verb.Working, &watch.Run{ID: "r1", Works: true}
	for i := range 60 {
		for lane := 1; lane <= 200; lane++ {
			at := began.Add(time.Duration(i) * time.Minute)
			d.Iterations = append(d.Iterations, record.Session{
				Number: i*200 + lane, Lane: lane, Feature: fmt.Sprint("f", i), Outcome: "done", Counted: true,
				StartedAt: at, EndedAt: at.Add(time.Minute), Merge: []string{record.Merged, record.GivenBack}[lane%2],
			})
		}
	}
	now := began.Add(2 * time.Hour)
	works := watch.Session{Number: 12_001, Lane: 150, Feature: "f99", StartedAt: began.Add(70 * time.Minute)}
	d.Run.Session, d.Run.Lanes = &works, []watch.Session{works}
	d.Silent = []verb.Sign{{Lane: 150, LastSign: began.Add(90 * time.Minute)}}
	s := StripOf(d, now)
	if len(s.Lanes) != maxLanes || s.More != 188 || s.Count() != "200 lanes" || s.Earlier != maxLanes*20+1 {
		t.Fatalf("%d lanes are drawn, %d more, %q, %d earlier sessions", len(s.Lanes), s.More, s.Count(), s.Earlier)
	}
	last := s.Lanes[maxLanes-1]
	if last.Name != "Lane 150" || last.Glyph != "stuck" || last.Feature != "f99" || last.Session != 12_001 {
		t.Errorf("the lane that works is %q, and now %+v", last.Name, last.Present)
	}
	text := ""
	for _, b := range last.Blocks {
		text += b.Class
		x, width := percent(t, b.X), percent(t, b.Width)
		if x < 0 || width <= 0 || x+width > 100.01 {
			t.Errorf("%q is at %s and %s wide", b.Text, b.X, b.Width)
		}
	}
	if !strings.HasSuffix(text, "pws") {
		t.Errorf("the sessions of the lane are %q", text)
	}
	if end := last.Blocks[len(last.Blocks)-1]; percent(t, end.X)+percent(t, end.Width) < 99 {
		t.Errorf("the strip ends at %s, %s wide", end.X, end.Width)
	}
	if first := s.Lanes[0].Blocks[0]; first.Class != "x" || s.Lanes[0].Word != "idle" {
		t.Errorf("lane 1 begins with %+v, and now is %+v", first, s.Lanes[0].Present)
	}
	if tick := s.Ticks[len(s.Ticks)-1]; !strings.HasPrefix(tick.Text, "now, ") || len(s.Ticks) > 6 {
		t.Errorf("the axis is %+v", s.Ticks)
	}
}

// TestStripOfStops draws what a session of the hook did between its stops, which name what comes next. A loop that asks
// says so.
func TestStripOfStops(t *testing.T) {
	d := &watch.Detail{Iterations: []record.Session{
		{Feature: "a", EndedAt: began.Add(time.Minute)}, {Feature: "a", EndedAt: began.Add(2 * time.Minute)},
		{Feature: "b", EndedAt: began.Add(3 * time.Minute)}, {EndedAt: began.Add(5 * time.Minute)},
	}}
	if s := StripOf(&watch.Detail{}, began); len(s.Lanes) != 0 {
		t.Errorf("control: a loop that has not begun has a strip: %+v", s)
	}
	d.StartedAt, d.Phase, d.ExitReason = began.Format(time.RFC3339), verb.NeedsYou, decide.Asks
	d.Items = []watch.Item{{Item: verb.Item{ID: "a", State: decide.FeatureProven}}}
	s := StripOf(d, began.Add(time.Hour))
	said := ""
	for _, b := range s.Lanes[0].Blocks {
		said += b.Text + ";"
	}
	if want := "○ work;✓ a;○ b;"; said != want || s.Lanes[0].Name != "Session" || s.Count() != "" {
		t.Errorf("%s did %q, want %q", s.Lanes[0].Name, said, want)
	}
	if s.Lanes[0].Word != "asks you" || strings.HasPrefix(s.Ticks[len(s.Ticks)-1].Text, "now") {
		t.Errorf("it is %+v, with the axis %+v", s.Lanes[0].Present, s.Ticks)
	}
}

// TestSpan says times as people do.
func TestSpan(t *testing.T) {
	for took, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", time.Hour: "1 h", 150 * time.Minute: "2 h 30 min",
		49 * time.Hour: "2 d 1 h",
	} {
		if got := Span(took); got != want {
			t.Errorf("%s is %q, want %q", took, got, want)
		}
	}
}
