package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

const (
	maxAnswer  = 64 << 10 // bytes of an evaluator's answer
	maxReason  = 500      // characters of its reason
	maxRequest = 2000     // characters of the prompt that it asks for
)

// question is what an evaluator gets on standard input.
type question struct {
	TaskID            string         `json:"taskId"` // the loop's name
	Iteration         int            `json:"iteration"`
	ExecutionPhase    string         `json:"executionPhase"` // working while features are open, else complete
	FilesModified     []string       `json:"filesModified"`  // since the last stop or prompt
	ValidationResults []validation   `json:"validationResults"`
	Promises          []promiseFound `json:"completionPromises"`
	AgentOutput       string         `json:"agentOutput"` // its last message
	Features          decide.Counts  `json:"features"`
}

// validation is the result of a check that ran at this stop, or of an earlier one that still
// counts.
type validation struct {
	RuleName string `json:"ruleName"`
	Passed   bool   `json:"passed"`
	Message  string `json:"message"`
}

type promiseFound struct {
	Type     string `json:"type"`
	Detected bool   `json:"detected"`
	Content  string `json:"content"`
}

// newQuestion returns what a decision knows so far. A promise that ends a loop by itself never
// gets here.
func newQuestion(ctx context.Context, p *Picture, d decide.Decision, message string) question {
	q := question{
		TaskID: p.Loop.At.Name, Iteration: d.Next.Iteration, ExecutionPhase: "working", AgentOutput: message,
		Features: p.Snapshot.List.Count(d.Next.Proven), ValidationResults: []validation{},
		FilesModified: p.tree().Modified(ctx, p.Snapshot.State.Seen),
		Promises:      []promiseFound{{Type: "COMPLETE", Detected: d.Promised}, {Type: "BLOCKED"}, {Type: "ESCALATE"}},
	}
	if d.Promised {
		q.Promises[0].Content = message[strings.LastIndexByte(strings.TrimSpace(message), '\n')+1:]
	}
	if len(q.Features.Open) == 0 && (d.Promised || !p.Snapshot.NoList) {
		q.ExecutionPhase = "complete"
	}
	seen := map[[2]string]bool{}
	for _, r := range append(p.Snapshot.Results, p.Snapshot.Receipts...) {
		if key := [2]string{r.Check, r.Feature}; !seen[key] {
			seen[key] = true
			rule := strings.TrimSpace(r.Name + " " + r.Feature)
			q.ValidationResults = append(q.ValidationResults, validation{rule, r.Passed, r.Tail})
		}
	}
	return q
}

// ask asks an evaluator. If it fails, hangs or makes no sense, a person must look at it.
func (r *checker) ask(ctx context.Context, e config.Evaluator, q question) decide.Answer {
	ctx, cancel := r.watched(ctx)
	defer cancel()
	begin, before := time.Now(), r.stamps()
	got, err := r.answer(ctx, e, q)
	r.touched = r.touchedSince(before)
	outcome := strings.TrimSpace(got.Action + " " + got.Reason)
	if err != nil {
		outcome = "the evaluator " + e.Name + ": " + err.Error()
		got = decide.Answer{Action: decide.AnswerEscalate, Reason: plain.Line(outcome, maxReason)}
	}
	r.Loop.Store.LogChecks(logAnswer(begin, "evaluator "+e.Name, outcome))
	return got
}

func (r *checker) answer(ctx context.Context, e config.Evaluator, q question) (a decide.Answer, err error) {
	in, _ := json.Marshal(q) // cannot fail: texts and numbers only
	text, err := r.output(ctx, e.Command, in, maxAnswer)
	if err != nil {
		return a, err
	}
	if text, err = jsontext.Check(text); err != nil {
		return a, fmt.Errorf("its answer is no JSON: %w", err)
	}
	if key := jsontext.Twice(jsontext.String(text)); key != "" {
		return a, fmt.Errorf("its answer has the key %q twice; want it once", plain.Line(key, 80))
	}
	v := gjson.ParseBytes(text)
	a = decide.Answer{
		Action: v.Get("action").Str,
		Reason: plain.Line(v.Get("reason").Str, maxReason),
		Prompt: plain.Text(v.Get("nextPrompt").Str, maxRequest), Checkpoint: v.Get("checkpointData").Raw,
	}
	switch a.Action {
	case decide.AnswerComplete, decide.AnswerContinue:
	case decide.AnswerEscalate:
		a.Reason = cmp.Or(a.Reason, "the evaluator "+plain.Line(e.Name, 80)+" wants a person and does not say why")
	default:
		return a, fmt.Errorf(`its answer has the action %q; want "complete", "continue" or "escalate"`,
			plain.Line(a.Action, 80))
	}
	return a, nil
}
