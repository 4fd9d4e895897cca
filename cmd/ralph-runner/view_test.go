package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// shows returns what a view shows of a run and its summary.
func shows(r record.Run, e agent.Ended, h agent.Heard) string {
	var out bytes.Buffer
	v := &view{
		out: &out, screen: cli.Screen{Writer: &out}, verbose: true, heard: map[int]agent.Heard{}, lanes: map[int]now{},
	}
	v.Begin(r)
	v.Leg(r)
	v.Check(r.Leg().Checks[0])
	for lane := range 2 {
		r.Current.Lane = lane
		v.Session(r, 3, r.Current.Feature)
		v.Heard(lane, h)
		out.WriteString(v.line(time.Now()) + "\n")
		v.Ended(r, e)
	}
	v.Judged(r, *r.Current.Ended.Own)
	v.Merged(1, r.Current.Feature, "", r.Waiting.Why)
	v.Wait(r.Waiting.Until, r.Waiting.Why)
	out.WriteString(v.line(time.Now()) + "\n")
	v.Warn(r.Waiting.Why)
	s := record.Summarise(&r, &loop.Step{
		Picture: &loop.Picture{Loop: &loop.Loop{At: &loopdir.Loop{Name: "demo"}}},
		Decision: decide.Decision{
			Verdict: decide.Pass,
			Next:    decide.State{Ending: decide.Ending{Status: decide.InProgress}},
		},
	})
	s.Ending = ""
	v.End(s)
	return out.String() + s.Markdown()
}

// TestViewIsClean shows a run of which each text is foreign. The control: with clean texts all of them are there.
func TestViewIsClean(t *testing.T) {
	for _, text := range []string{hostile.Foreign, "clean"} {
		var r record.Run
		var e agent.Ended
		var h agent.Heard
		for _, v := range []any{&r, &e, &h} {
			hostile.Fill(v, text)
		}
		r.Chain.At, r.ID = 0, "abc"
		shown := shows(r, e, h)
		if bad := hostile.Dirty(shown); bad != "" {
			t.Errorf("it shows %q in:\n%q", bad, shown)
		}
		if n := strings.Count(shown, "clean"); text == "clean" && n < 30 {
			t.Errorf("control: only %d texts are shown:\n%s", n, shown)
		}
	}
}

// TestLanesLine shows how far the run is, and what each lane does.
func TestLanesLine(t *testing.T) {
	at := time.Now()
	v := &view{
		now: now{agent: "claude", iteration: 7, limit: 90}, far: "33/60",
		lanes: map[int]now{1: {feature: "f33", began: at.Add(-6 * time.Second)}, 2: {feature: "f34", began: at}},
		heard: map[int]agent.Heard{1: {Tool: "Bash: go test"}},
	}
	if got := v.line(at); got != "[claude] 33/60 · iteration 7/90 · 1: f33 6s Bash: go test · 2: f34 0s" {
		t.Errorf("the line is %q", got)
	}
}
