package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hostile"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// shows returns what a view shows of a run and its summary.
func shows(r record.Run, e agent.Result, h agent.Activity) string {
	var out bytes.Buffer
	v := &view{
		out: &out, screen: cli.Screen{Writer: &out}, verbose: true,
		activities: map[int]agent.Activity{}, lanes: map[int]now{},
	}
	v.Begin(r)
	v.Step(r)
	v.Check(r.Step().Checks[0])
	for lane := range 2 {
		r.Current.Lane = lane
		v.Session(r, r.Current, step(0, 2), r.Current.Feature)
		v.ShowActivity(lane, h)
		out.WriteString(v.line(time.Now()) + "\n")
		v.ShowEnd(r, r.Current, e)
	}
	v.ShowJudgement(r, *r.Current.Part)
	v.ShowMerge(1, r.Current.Feature, "", r.Waiting.Why)
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
		var e agent.Result
		var h agent.Activity
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

// step is a step of a loop in whose list some features pass.
func step(passed, all int) *loop.Step {
	s := &loop.Step{Picture: &loop.Picture{}, Decision: decide.Decision{Limit: 3}}
	for i := range all {
		s.Picture.Snapshot.List.Items = append(s.Picture.Snapshot.List.Items, features.Item{Passes: i < passed})
	}
	return s
}

// TestLine shows how far the run is from its first session on, and how long a feature takes.
func TestLine(t *testing.T) {
	v := &view{out: io.Discard, activities: map[int]agent.Activity{}, lanes: map[int]now{}}
	r := record.Run{Options: record.Options{Agent: "claude"}, Current: &record.Current{
		Session: record.Session{Iteration: 4, Feature: "f1"},
	}}
	v.Session(r, r.Current, step(1, 2), "")
	began := v.now.began
	if got := v.line(began); got != "[claude] 1/2 · iteration 4/3 · f1 · 0s" {
		t.Errorf("at first the line is %q", got)
	}
	v.ShowActivity(0, agent.Activity{Tool: "Bash: go test", Usage: agent.Usage{Output: 500}})
	const want = "[claude] 1/2 · iteration 4/3 · f1 · 10s · Bash: go test"
	if got := v.line(began.Add(10 * time.Second)); got != want {
		t.Errorf("after some output the line is %q", got)
	}
	v.since = v.since.Add(-8 * time.Minute)
	v.Session(r, r.Current, step(3, 5), "")
	if got := v.line(v.now.began); got != "[claude] 3/5, 4m each · iteration 4/3 · f1 · 0s" {
		t.Errorf("after two more features the line is %q", got)
	}
}

// TestLanesLine shows how far the run is, and what each lane does.
func TestLanesLine(t *testing.T) {
	at := time.Now()
	v := &view{
		now: now{agent: "claude", iteration: 7, limit: 90}, far: "33/60",
		lanes:      map[int]now{1: {feature: "f33", began: at.Add(-6 * time.Second)}, 2: {feature: "f34", began: at}},
		activities: map[int]agent.Activity{1: {Tool: "Bash: go test"}},
	}
	if got := v.line(at); got != "[claude] 33/60 · iteration 7/90 · 1: f33 6s Bash: go test · 2: f34 0s" {
		t.Errorf("the line is %q", got)
	}
}
