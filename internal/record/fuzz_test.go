package record

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

const sample = `{"schema":3,"id":"k3v7m2q9xa","loop":"/p/.claude/data/ralph-loops/demo","name":"demo","options":` +
	`{"agent":"claude","asked":{"model":"opus"},"maxIterations":3,"maxCostUsd":1.5,` +
	`"sessionTimeout":3600000000000,"hooks":[` +
	`{"event":"on-complete","line":"true"}],"completeOn":["file:DONE"]},"pid":7,"start":"x","startedAt":` +
	`"2026-01-01T00:00:00Z","status":"IN_PROGRESS","sessions":2,"spent":{"inputTokens":5,"costUsd":0.5},"work":[` +
	`{"feature":"a","attempts":1,"took":5}],"current":{"session":2,"iteration":2,"outcome":"done"},"chain":` +
	`{"definition":"a:1 -> b:2","at":1,"steps":[{"agent":"a","limit":1,"job":true},{"agent":"b","limit":2,"loop":true}]}}`

// FuzzRun reads any bytes as the record of a run. The result is an error, or a record that a run can go on from: its
// id is part of the names of files, each limit is one, and the step that works is there. What is saved is read again.
func FuzzRun(f *testing.F) {
	f.Add([]byte(sample))
	for _, text := range []string{
		"", "null", `{"schema":4}`, `{"schema":3,"id":"../x"}`, `{"schema":2,"id":"r1"}`, strings.Repeat("[", 5000),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse(data)
		if err != nil {
			return
		}
		if strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || r.ID == "" || r.Options.SessionTimeout <= 0 {
			t.Fatalf("%q: %+v", data, r)
		}
		_, _ = r.PreviousStep()
		if r.Chain != nil {
			_, _ = r.Chain.Agents()
			if r.Chain.Limits() < 1 {
				t.Fatalf("%q: the steps have no iterations", data)
			}
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(again); err != nil {
			t.Fatalf("%q: %v", again, err)
		}
	})
}

// FuzzLine reads any bytes as a line of iterations.jsonl, which an agent can write. What is shown of it is clean, and
// its numbers are within their bounds.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"runId":"r","session":1,"agent":"claude","model":"m","feature":"a","outcome":"done",` +
		`"signals":["marker"],"tokens":{"input":1,"output":2},"costUsd":0.5,` +
		`"checks":[{"name":"c","feature":"a","passed":true}]}`))
	f.Add([]byte(`{"runId":"\u001b[2J","costUsd":1e308,"tokens":{"input":-1},"why":"\u202e","signals":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, is := parseLine(data)
		if !is {
			return
		}
		texts := []string{l.Agent, l.Model, l.Feature, l.Outcome, l.Problem, l.Why}
		for _, c := range l.Checks {
			texts = append(texts, c.Name, c.Feature)
		}
		for _, text := range append(texts, l.Signals...) {
			if text != plain.Line(text, 300) {
				t.Fatalf("%q is not clean", text)
			}
		}
		if c := l.CostUSD; c != nil && (!(*c >= 0) || math.IsInf(*c, 0)) {
			t.Fatalf("a cost of %v", *c)
		}
		if min(l.Tokens.Input, l.Tokens.Output, l.Tokens.CacheRead, l.Tokens.CacheWrite) < 0 {
			t.Fatalf("%+v", l.Tokens)
		}
	})
}
