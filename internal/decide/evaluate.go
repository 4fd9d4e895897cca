package decide

import (
	"slices"
)

// Evaluator decides whether a loop is complete. A loop asks its evaluators in order.
type Evaluator struct {
	Name   string
	Preset string // one of the presets below; empty: a command of the person

	Refused bool // it is a command that nobody has trusted, so it does not run
}

// The presets, and when the loop is complete for each.
const (
	EvaluateDefault    = "default"    // every feature is claimed, or the loop without a list; every check passes
	EvaluateValidation = "validation" // every check passes, for all features that it is for
	EvaluatePromise    = "promise"    // the agent says so, and every check in the list passes
)

// Presets has the names of all presets.
var Presets = []string{EvaluateDefault, EvaluateValidation, EvaluatePromise}

// Answer is what an evaluator's command said, or a hook that the agent registered.
type Answer struct {
	By     string // the name of the evaluator, or the id of the hook
	Action string // AnswerComplete, AnswerContinue or AnswerEscalate
	Reason string
	Prompt string // the next prompt of the agent; empty: the usual one

	Checkpoint string // what it wants to be kept for the agent, as JSON; empty: nothing
	Metadata   string // what it says beside, as JSON, for whoever asked; empty: nothing
}

// Actions of an Answer.
const (
	AnswerComplete = "complete" // only a claim: the loop continues if a feature is open or a check fails
	AnswerContinue = "continue"
	AnswerEscalate = "escalate" // also if the command fails, hangs or prints nonsense
)

// Decisive returns the answer of several hooks that counts: the first that wants a person, else the first that holds
// the loop back and says what to do, else the last that holds it back, else the first; nil if there is none.
func Decisive(answers []Answer) (counts *Answer) {
	for i := range answers {
		a := &answers[i]
		switch {
		case counts == nil, a.Action == AnswerEscalate && counts.Action != AnswerEscalate,
			a.Action == AnswerContinue && counts.Action != AnswerEscalate && counts.Prompt == "":
			counts = a
		}
	}
	return counts
}

// wholeTree reports whether a check is about the whole tree.
func (s *Snapshot) wholeTree() bool {
	return slices.ContainsFunc(s.Checks, func(c Check) bool { return !c.PerClaim })
}

// Provable is how many of the claimed features are proven if every check passes. The checks of the whole tree prove
// every feature that a person trusted.
func (s *Snapshot) Provable() int {
	if !s.wholeTree() {
		return len(s.Proofs())
	}
	n := 0
	for i := range s.List.Items {
		item := &s.List.Items[i]
		if item.Passes && s.Holds(item.ID) {
			n++
		}
	}
	return n
}

// StillProven is how many features of a complete loop are proven after a person had checks run.
func (s *Snapshot) StillProven() int {
	aboutTree := func(r Receipt) bool { return r.Feature == "" }
	switch {
	case slices.ContainsFunc(s.Results, hasFailed), !s.wholeTree():
		return s.Proven()
	case slices.ContainsFunc(s.Results, aboutTree):
		return s.Provable()
	}
	return s.State.Proven
}
