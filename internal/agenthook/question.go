package agenthook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// MaxAnswer bounds the answer of an evaluator's command, in bytes.
const MaxAnswer = 64 << 10

const (
	maxReason  = 500  // characters of the answer's reason
	maxRequest = 2000 // characters of the prompt that it asks for
)

// Question is what an evaluator is asked. A command gets it on standard input, as JSON.
type Question struct {
	TaskID            string         `json:"taskId"` // the loop's name
	Iteration         int            `json:"iteration"`
	ExecutionPhase    string         `json:"executionPhase"`    // working while features are open, else complete
	FilesModified     []string       `json:"filesModified"`     // since the last stop or prompt
	ValidationResults []Result       `json:"validationResults"` // of checks that ran at this stop or still count
	Promises          []PromiseFound `json:"completionPromises"`
	AgentOutput       string         `json:"agentOutput"` // its last message
	Features          decide.Counts  `json:"features"`
	DraftContent      string         `json:"draftContent,omitempty"` // as the agent gave it to hook_evaluate
	DraftType         string         `json:"draftType,omitempty"`

	// For hooks alone: what an agent's own rules say could look like a check's result.
	Rules   []Result `json:"-"`
	Settled bool     `json:"-"` // the loop's own evaluators would complete it
}

// Result is what a check or a rule says.
type Result struct {
	Name    string `json:"ruleName"`
	Passed  bool   `json:"passed"`
	Message string `json:"message"`
}

// Draft is what an agent shows its evaluators when it asks them.
type Draft struct {
	Files   []string // that it has modified, by its own word
	Content string
	Type    string
}

// PromiseFound says whether the agent gave a promise.
type PromiseFound struct {
	Type     string `json:"type"`
	Detected bool   `json:"detected"`
	Content  string `json:"content"` // the line with the promise
}

// NewQuestion returns what a decision knows of a loop so far. A promise that ends a loop by itself never gets here.
func NewQuestion(loop string, s *decide.Snapshot, d *decide.Decision, message string) Question {
	q := Question{
		TaskID: loop, Iteration: d.Next.Iteration, ExecutionPhase: "working", AgentOutput: message,
		Features: s.Counts(d.Next), ValidationResults: []Result{},
		Promises: []PromiseFound{{Type: "COMPLETE", Detected: d.Promised}, {Type: "BLOCKED"}, {Type: "ESCALATE"}},
	}
	if d.Promised {
		q.Promises[0].Content = message[strings.LastIndexByte(strings.TrimSpace(message), '\n')+1:]
		if s.Claim != nil {
			q.Promises[0].Content = s.Claim.Tag()
		}
	}
	if len(q.Features.Open) == 0 && (d.Promised || !s.NoList) {
		q.ExecutionPhase = "complete"
	}
	for _, r := range Latest(s) {
		rule := strings.TrimSpace(r.Name + " " + r.Feature)
		q.ValidationResults = append(q.ValidationResults, Result{rule, r.Passed, r.Tail})
	}
	return q
}

// Latest returns what each check has said last of each feature, the newest first. A result of the whole tree is about
// all features.
func Latest(s *decide.Snapshot) []decide.Receipt {
	ranAgain := func(old decide.Receipt) bool {
		return slices.ContainsFunc(s.Results, func(r decide.Receipt) bool {
			return r.Check == old.Check && (r.Feature == old.Feature || r.Feature == "")
		})
	}
	return slices.Concat(s.Results, slices.DeleteFunc(slices.Clone(s.Receipts), ranAgain))
}

// ReadAnswer reads the answer of the evaluator of that name.
func ReadAnswer(name string, text []byte) (a decide.Answer, err error) {
	text, err = jsontext.Check(text)
	if err != nil {
		return a, fmt.Errorf("its answer is no JSON: %w", err)
	}
	if key := jsontext.DuplicateKey(jsontext.String(text)); key != "" {
		return a, fmt.Errorf("its answer has the key %q twice; want it once", plain.Line(key, 80))
	}
	v := gjson.ParseBytes(text)
	a = decide.Answer{
		By:     name,
		Action: v.Get("action").Str,
		Reason: plain.Line(v.Get("reason").Str, maxReason),
		Prompt: plain.Text(v.Get("nextPrompt").Str, maxRequest), Checkpoint: v.Get("checkpointData").Raw,
	}
	if metadata := v.Get("metadata"); metadata.IsObject() && len(metadata.Raw) <= MaxMetadata {
		a.Metadata = metadata.Raw
	}
	switch a.Action {
	case decide.AnswerComplete, decide.AnswerContinue:
	case decide.AnswerEscalate:
		a.Reason = cmp.Or(a.Reason, "the evaluator "+plain.Line(name, 80)+" wants a person and does not say why")
	default:
		return a, fmt.Errorf(`its answer has the action %q; want "complete", "continue" or "escalate"`,
			plain.Line(a.Action, 80))
	}
	return a, nil
}
