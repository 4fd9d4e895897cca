package agenthook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

func TestReadAnswer(t *testing.T) {
	const (
		silent  = "the evaluator e wants a person and does not say why"
		twice   = `its answer has the key "action" twice; want it once`
		unknown = `its answer has the action "stop"; want "complete", "continue" or "escalate"`
	)
	for text, want := range map[string]string{
		`{"action": "complete"}`: "complete||||",
		`{"action": "continue", "reason": "a\u001bb", "nextPrompt": "c\nd"}`: "continue|ab|c\nd||",
		`{"action": "continue", "checkpointData": {"a": 1}}`:                 `continue|||{"a": 1}|`,
		`{"action": "escalate"}`:                                             "escalate|" + silent + "|||",
		`{"action": "escalate", "reason": "why"}`:                            "escalate|why|||",
		`{"action": "stop"}`:                                                 "stop||||" + unknown,
		`{"action": "complete", "action": "continue"}`:                       "||||" + twice,
		`complete`: "||||its answer is no JSON",
		``:         "||||its answer is no JSON",
	} {
		a, err := ReadAnswer("e", []byte(text))
		got := strings.Join([]string{a.Action, a.Reason, a.Prompt, a.Checkpoint, ""}, "|")
		if err != nil {
			got += err.Error()
		}
		if !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestNewQuestion(t *testing.T) {
	s := decide.Snapshot{}
	s.List.Items = []features.Item{{ID: "a", Passes: true}, {ID: "b"}}
	s.Results = []decide.Receipt{{Check: "1", Name: "vet", Feature: "a", Tail: "no"}}
	s.Receipts = []decide.Receipt{{Check: "1", Name: "vet", Feature: "a", Passed: true}, {Check: "2", Passed: true}}
	s.Results = append(s.Results, decide.Receipt{Check: "3", Name: "suite", Passed: true})
	s.Receipts = append(s.Receipts, decide.Receipt{Check: "3", Name: "suite", Feature: "a", Failed: true})
	d := decide.Decision{Promised: true, Next: decide.State{Counted: decide.Counted{Iteration: 3}}}
	for _, tc := range []struct {
		passes bool
		phase  string
	}{{false, "working"}, {true, "complete"}} {
		s.List.Items[1].Passes = tc.passes
		q := NewQuestion("demo", &s, &d, "Done.\n<promise>COMPLETE</promise>\n")
		q.FilesModified = []string{"x"}
		text, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`"taskId":"demo","iteration":3,"executionPhase":"` + tc.phase + `","filesModified":["x"]`,
			`"validationResults":[{"ruleName":"vet a","passed":false,"message":"no"},` +
				`{"ruleName":"suite","passed":true,"message":""},{"ruleName":"","passed":true,"message":""}]`,
			`{"type":"COMPLETE","detected":true,"content":"\u003cpromise\u003eCOMPLETE\u003c/promise\u003e\n"}`,
		} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s lacks %s", text, want)
			}
		}
	}
}
