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

// Answer is what an evaluator's command said.
type Answer struct {
	Action string // AnswerComplete, AnswerContinue or AnswerEscalate
	Reason string
	Prompt string // the next prompt of the agent; empty: the usual one

	Checkpoint string // what it wants to be kept for the agent, as JSON; empty: nothing
	Metadata   string // what it says beside, as JSON, for whoever asked; empty: nothing
}

// HookAnswer is what a hook says that the agent registered.
type HookAnswer struct {
	Hook string // its id
	Answer
}

// Actions of an Answer.
const (
	AnswerComplete = "complete" // only a claim: the loop continues if a feature is open or a check fails
	AnswerContinue = "continue"
	AnswerEscalate = "escalate" // also if the command fails, hangs or prints nonsense
)

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
	case slices.ContainsFunc(s.Results, failed), !s.wholeTree():
		return s.Proof().Proven
	case slices.ContainsFunc(s.Results, aboutTree):
		return s.Provable()
	}
	return s.State.Proven
}
