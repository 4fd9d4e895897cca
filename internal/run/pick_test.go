package run

import (
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// TestFree plays limits of three agents that stand in for each other.
func TestFree(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	r := record.Run{Options: record.Options{Agent: "a", Fallback: []string{"b", "a", "c"}}}
	for _, tc := range []struct {
		minute int
		cools  string // this agent meets a limit
		until  int    // its minute of reset; 0: nobody says
		warms  string // this agent has worked
		name   string // the one that is free then
		free   int    // the minute at which one is
	}{
		{0, "", 0, "", "a", 0},
		{0, "a", 60, "", "b", 0},
		{1, "b", 0, "", "c", 1},
		{2, "c", 90, "", "", 6},
		{6, "", 0, "", "b", 6},
		{6, "b", 0, "", "", 21}, // the second time in a row
		{21, "b", 0, "", "", 60},
		{60, "", 0, "", "a", 60},
		{60, "", 0, "a", "a", 60},
		{61, "a", 0, "", "", 66}, // the first time again
		{90, "c", 100, "", "a", 90},
	} {
		if tc.cools != "" {
			until := time.Time{}
			if tc.until > 0 {
				until = at(tc.until)
			}
			r.CoolDown(tc.cools, until, "limit", at(tc.minute))
		}
		if tc.warms != "" {
			r.Warm(tc.warms)
		}
		if name, free := r.Free(at(tc.minute)); name != tc.name || !free.Equal(at(tc.free)) {
			t.Errorf("minute %d, %q cools: %q at %v; want %q at %v", tc.minute, tc.cools, name, free, tc.name, at(tc.free))
		}
	}
}

// TestRetryFallback judges a limit where other agents stand in.
func TestRetryFallback(t *testing.T) {
	hour := agent.Result{Outcome: agent.Outcome{Class: agent.Limit, Until: time.Now().Add(time.Hour)}}
	r := Run{Record: record.Run{Options: record.Options{Agent: "a", Fallback: []string{"b"}, Wait: 0}}}
	until, _, class := r.retry(&record.Current{}, hour, 0)
	if class != decide.RateLimit || until.IsZero() || until.After(time.Now()) {
		t.Errorf("b is free, and the run goes on at %v (%s)", until, class)
	}
	r.Record.Current = &record.Current{Session: record.Session{Agent: "b"}}
	if until, _, _ := r.retry(r.Record.Current, hour, 0); !until.IsZero() {
		t.Errorf("nobody is free, the run does not wait, and it goes on at %v", until)
	}
	r.Record.Options.Wait = 2 * time.Hour
	if until, _, _ := r.retry(r.Record.Current, hour, 0); time.Until(until) < 50*time.Minute {
		t.Errorf("nobody is free, and the run goes on at %v", until)
	}
}

// TestModel orders what names the model of a session.
func TestModel(t *testing.T) {
	own := features.Item{ID: "a"}
	list, err := features.Parse([]byte(`[{"id": "b", "model": "haiku", "passes": false}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		asked    string
		escalate []string
		feature  features.Item
		attempts int // before
		model    string
		why      string
	}{
		{"nothing is said", "", nil, own, 0, "", ""},
		{"the first attempt", "", []string{"sonnet", "opus"}, own, 0, "sonnet", "attempt 1"},
		{"the second one", "", []string{"sonnet", "opus"}, own, 1, "opus", "attempt 2"},
		{"the ninth one", "", []string{"sonnet", "opus"}, own, 8, "opus", "attempt 9"},
		{"the feature's own", "", []string{"sonnet"}, list.Items[0], 1, "haiku", "the feature asks for it"},
		{"the command line's", "best", []string{"sonnet"}, list.Items[0], 1, "best", ""},
		{"no feature is worked on", "", []string{"sonnet"}, features.Item{}, 0, "", ""},
	} {
		r := Run{Rows: Rows{"x": {Name: "x", ModelFlag: "--model"}}}
		r.Record.Options = record.Options{Agent: "x", AgentOptions: agent.Options{Model: tc.asked}, Escalate: tc.escalate}
		c := &record.Current{Session: record.Session{Number: 1, Feature: tc.feature.ID}}
		r.Record.Current = c
		if tc.attempts > 0 {
			r.Record.WorkOn(c.Feature).Attempts = tc.attempts
		}
		asked := r.pick(c, tc.feature)
		if asked.Model != tc.model || c.Model != tc.model || c.Why != tc.why {
			t.Errorf("%s: %q, because %q; want %q, because %q", tc.name, asked.Model, c.Why, tc.model, tc.why)
		}
		if changed := len(r.Record.Switches) > 0; changed != (tc.why != "") {
			t.Errorf("%s: %v", tc.name, r.Record.Switches)
		}
	}
	r := Run{Rows: Rows{"x": {Name: "x"}}} // it takes no model
	r.Record.Options = record.Options{Agent: "x", Escalate: []string{"sonnet"}}
	if asked := r.pick(&record.Current{Session: record.Session{Feature: "a"}}, own); asked.Model != "" {
		t.Errorf("an agent that takes no model is asked for %s", asked.Model)
	}
}

// TestSwitchedBack says why an agent works: in a later round of a chain, its step has had sessions before.
func TestSwitchedBack(t *testing.T) {
	r := Run{Rows: Rows{"a": {Name: "a"}, "b": {Name: "b"}}}
	r.Record.Chain = newChain(t, "a:9 <-> b:9", true, nil)
	r.Record.Switches = []record.Switch{{Agent: "a", Why: "the usual one again"}}
	for i, why := range []string{"step 2", "step 1", "step 2", "step 1"} {
		r.Record.Chain.At = (i + 1) % 2
		step := r.Record.Step()
		step.Sessions++
		r.Record.Options.Agent = step.Agent
		r.pick(&record.Current{}, features.Item{})
		if r.Record.Switches[i+1].Why != why {
			t.Errorf("session %d: %q, want %q", i, r.Record.Switches[i+1].Why, why)
		}
		step.Iterations++
		step.Status = decide.Complete
	}
}
