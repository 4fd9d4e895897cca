// Package agenthook has what an agent asks of the loop that it works on: hooks, rules and words with which it claims to
// be done. Hooks get the question that the loop's own evaluators get, which is here, too, and give the same answer.
// They are asked last, and can hold a loop back. They never complete one: the evaluators do that.
package agenthook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Record is what an agent has asked of one loop. It is kept beside the loop's record.
type Record struct {
	Hooks     []Hook       `json:"hooks,omitempty"`    // in the order in which they were registered
	Rules     []Rule       `json:"rules,omitempty"`    // of the last iteration_start
	Promises  []string     `json:"promises,omitempty"` // words with which the agent ends; none: decide.Words
	Lowered   Lowered      `json:"lowered,omitzero"`
	Started   time.Time    `json:"started,omitzero"` // when iteration_start was called first
	Rates     decide.Rates `json:"rates,omitempty"`  // of the last iterations that were validated
	HandedOut bool         `json:"handed,omitempty"` // iteration_next has handed out a feature since iteration_start
}

// Bounds of a record.
const (
	MaxHooks    = 64
	MaxMetadata = 2 << 10 // bytes
)

// When a hook is asked, if not at each evaluation.
const (
	Working  = "working"  // while the loop's own evaluators let it go on
	Complete = "complete" // when they would complete it
)

// Hook is a hook that an agent registered. Its type is a preset of evaluators: "validation" asks for the rules,
// "promise" for a promise, and "default" for both.
type Hook struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Off      bool            `json:"off,omitempty"`
	When     string          `json:"when,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Decided  Tally           `json:"decided,omitzero"`
}

// Tally counts what a hook has decided.
type Tally struct {
	Complete int `json:"complete"`
	Continue int `json:"continue"`
	Escalate int `json:"escalate"`
}

// Count adds one decision.
func (t *Tally) Count(action string) {
	switch action {
	case decide.AnswerComplete:
		t.Complete++
	case decide.AnswerContinue:
		t.Continue++
	case decide.AnswerEscalate:
		t.Escalate++
	}
}

// Parse reads a record; nil is an empty one.
func Parse(data []byte) (r Record, err error) {
	if data != nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// Lowered are limits that an agent lowered. They hold for its session: as long as its client, or the run that starts
// its sessions, works on the loop without an ending.
type Lowered struct {
	Iterations  int    `json:"iterations,omitempty"`    // 0: as they are
	Failures    int    `json:"checkFailures,omitempty"` // 0: as they are
	Endings     int    `json:"endings,omitempty"`       // of the loop, when it was asked for
	PID         int    `json:"pid,omitempty"`           // of the client or the run
	ClientStart string `json:"clientStart,omitempty"`   // when that process began
}

// For returns what holds for a record.
func (w Lowered) For(s decide.State) Lowered {
	if w.Endings != s.Endings || w.PID != s.SessionPID || w.ClientStart != s.ClientStart {
		return Lowered{}
	}
	return w
}

// Lower lowers the limits of a loop to what its agent asked for.
func (r Record) Lower(l *decide.Limits, s decide.State) {
	w := r.Lowered.For(s)
	l.CheckFailures = lower(l.CheckFailures, w.Failures)
	l.CeilingIterations = lower(l.CeilingIterations, w.Iterations)
}

// lower returns the lower one of two limits; 0 is none.
func lower(limit, asked int) int {
	if asked > 0 && (limit == 0 || asked < limit) {
		return asked
	}
	return limit
}

// String says what was lowered, "" for nothing.
func (w Lowered) String() string {
	var parts []string
	if w.Iterations > 0 {
		parts = append(parts, fmt.Sprintf("iterations to %d", w.Iterations))
	}
	if w.Failures > 0 {
		parts = append(parts, fmt.Sprintf("check failures to %d", w.Failures))
	}
	return strings.Join(parts, " and ")
}

// Words returns the words of the promises that the agent may give.
func (r Record) Words() []string {
	if len(r.Promises) == 0 {
		return decide.Words
	}
	return r.Promises
}

// Ask asks the hooks that are on, in their order. The answers of hooks that have nothing to say now are left out.
func (r Record) Ask(q Question) []decide.Answer {
	answers := []decide.Answer{}
	claim, _ := decide.Claims(q.AgentOutput, r.Promises)
	for _, h := range r.Hooks {
		if !h.Off && !(h.When == Working && q.Settled) && !(h.When == Complete && !q.Settled) {
			a := h.answer(q, claim)
			a.By, a.Metadata = h.ID, string(h.Metadata)
			answers = append(answers, a)
		}
	}
	return answers
}

func (h Hook) answer(q Question, claim decide.Claim) decide.Answer {
	promises, validates := h.Type != decide.EvaluateValidation, h.Type != decide.EvaluatePromise
	if promises && claim.AsksForPerson() && !q.Settled { // else it only quotes it: one that counts ends the loop before
		state := "blocked state"
		if claim.Status == decide.Escalated {
			state = "escalation"
		}
		return decide.Answer{
			Action: decide.AnswerEscalate,
			Reason: plain.Line(fmt.Sprintf("Agent signaled %s via %s %s", state, claim.Tag(), claim.Why), 500),
		}
	}
	results := slices.Concat(q.ValidationResults, q.Rules)
	failed := failures(results)
	switch {
	case validates && len(failed) > 0:
		return decide.Answer{
			Action: decide.AnswerContinue, Reason: fmt.Sprintf("%d validation rule(s) failed", len(failed)),
			Prompt: plain.Text("These conditions do not hold yet:\n"+strings.Join(failed, "\n"), 2000),
		}
	case promises && claim.Status == decide.Complete:
		return decide.Answer{Action: decide.AnswerComplete, Reason: "Agent signaled completion via " + claim.Tag()}
	case validates && len(results) > 0:
		return decide.Answer{Action: decide.AnswerComplete, Reason: "All validation rules passed"}
	case validates && q.Settled:
		return decide.Answer{Action: decide.AnswerComplete, Reason: "nothing is left to validate"}
	case !validates:
		return decide.Answer{Action: decide.AnswerContinue, Reason: "No completion promise detected"}
	case !promises:
		return decide.Answer{Action: decide.AnswerContinue, Reason: "nothing to validate"}
	}
	return decide.Answer{Action: decide.AnswerContinue, Reason: "Iteration in progress"}
}

func failures(results []Result) (lines []string) {
	for _, r := range results {
		if !r.Passed {
			lines = append(lines, fmt.Sprintf("- %s: %s", plain.Line(r.Name, 100), plain.Line(r.Message, 300)))
		}
	}
	return lines
}

// Put adds a hook. One with the same id is replaced where it stands.
func (r *Record) Put(h Hook) error {
	for i := range r.Hooks {
		if r.Hooks[i].ID == h.ID {
			h.Decided = r.Hooks[i].Decided
			r.Hooks[i] = h
			return nil
		}
	}
	if len(r.Hooks) >= MaxHooks {
		return fmt.Errorf("the loop has %d hooks of yours, the most there may be; hook_clear removes them", MaxHooks)
	}
	r.Hooks = append(r.Hooks, h)
	return nil
}
