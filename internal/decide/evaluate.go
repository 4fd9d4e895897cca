package decide

import (
	"fmt"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
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

// evaluate asks to run the checks that are due, to reopen the features whose claim failed, and to
// ask the evaluators. If it ends the loop, it sets d.Verdict. If it neither ends the loop nor
// needs anything, the agent works on a feature; d.Failure is its failed check, if there is one.
func (d *Decision) evaluate(s *Snapshot) Need {
	e := s.evidence()
	open := s.List.Passed() < len(s.List.Items) || s.NoList && !d.claimed(s)
	evaluators := s.Evaluators
	if len(evaluators) == 0 {
		evaluators = []Evaluator{{Preset: EvaluateDefault}}
	}
	whole := !open || slices.ContainsFunc(evaluators, func(e Evaluator) bool {
		return e.Preset == EvaluateValidation || e.Preset == EvaluatePromise
	})
	if need := s.gather(e, whole); need.Kind != NeedNothing {
		return need
	}
	d.weigh(s, open)
	if d.cutAgain(s) {
		return Need{}
	}
	holds := d.Failure == nil && s.everyCheckRan(e)
	for i, by := range evaluators {
		switch {
		case by.Preset != "" || i < len(s.Answers):
		case slices.ContainsFunc(s.Results, func(r Receipt) bool { return r.Check == "" }):
			return Need{} // this stop has no time for more
		default:
			return Need{Kind: NeedAnswer, Evaluator: i}
		}
		d.ask(s, i, by, open, holds)
		if d.Verdict != "" || d.Next.Complete {
			break
		}
	}
	return Need{}
}

// claimed reports whether somebody claims that a loop without a list is complete: the agent, an
// evaluator's command, or the host. The host's claim needs checks, since an agent that gives up
// may end like one that is done.
func (d *Decision) claimed(s *Snapshot) bool {
	says := func(a Answer) bool { return a.Action == AnswerComplete }
	return d.Promised || slices.ContainsFunc(s.Answers, says) || s.Claimed && len(s.Checks) > 0
}

// complete ends the loop, unless other lanes work, a hook of the agent's own holds it back, or the host has more to do
// with it. reason is that of a loop with a list.
func (d *Decision) complete(s *Snapshot, reason string) {
	switch {
	case s.othersWork(), d.heldBack(s):
		return
	case s.Leg.Hold:
		d.Next.Complete = true
		d.handOn(s)
		return
	case !s.NoList:
	case len(s.Checks) > 0:
		reason = AllChecksPass
	case d.Promised:
		reason = ByPromise
	default:
		reason = ByEvaluator
	}
	d.end(s, Complete, reason)
}

// heldBack reports whether a hook that the agent registered holds back the loop, or ends it.
func (d *Decision) heldBack(s *Snapshot) bool {
	for i := range s.AgentHooks {
		switch a := &s.AgentHooks[i]; a.Action {
		case AnswerEscalate:
			d.Next.Needs = a.Reason
			d.end(s, Escalated, ByEvaluator)
			return true
		case AnswerContinue:
			d.Answer, d.AnsweredBy = &a.Answer, a.Hook
			return true
		}
	}
	return false
}

// ask asks one evaluator. open: features are open, or a loop without a list is not claimed. holds:
// every check ran and passed.
func (d *Decision) ask(s *Snapshot, i int, by Evaluator, open, holds bool) {
	switch by.Preset {
	case EvaluateDefault:
		if !open && d.Failure == nil {
			d.complete(s, AllFeaturesPass)
		}
	case EvaluateValidation:
		if len(s.Checks) > 0 && holds {
			reason := AllChecksPass
			if !open {
				reason = AllFeaturesPass
			}
			d.complete(s, reason)
		}
	case EvaluatePromise:
		if d.Promised && holds {
			d.complete(s, ByPromise)
		}
	default:
		a := &s.Answers[i]
		switch {
		case a.Action == AnswerComplete && !open && d.Failure == nil:
			d.complete(s, AllFeaturesPass)
		case a.Action != AnswerComplete && a.Action != AnswerContinue && by.Refused:
			d.Next.Needs = untrusted("evaluator " + plain.Line(by.Name, 80))
			d.end(s, Blocked, Untrusted)
		case a.Action != AnswerComplete && a.Action != AnswerContinue:
			d.Next.Needs = a.Reason
			d.end(s, Escalated, ByEvaluator)
		case d.Answer == nil || a.Prompt != "" || d.Answer.Prompt == "":
			d.Answer, d.AnsweredBy = a, by.Name
		}
	}
}

// gather returns what must happen before the claims count: checks to run (with those of the whole
// tree, if whole is set), or features to reopen.
func (s *Snapshot) gather(e evidence, whole bool) Need {
	if s.othersWork() { // what was merged is proven before, and the rest when they are done
		return Need{}
	}
	notNow := func(key [2]string) bool { _, has := e.now[key]; return !has }
	unknown := func(key [2]string) bool { _, has := e.stored[key]; return !has && notNow(key) }
	runs := append(s.due(e, WhenFeature, unknown), s.due(e, WhenIteration, notNow)...)
	if len(runs) == 0 && whole && !slices.ContainsFunc(s.Results, failed) {
		stale := func(key [2]string) bool {
			r, has := e.stored[key]
			old := s.Recheck == RecheckStale && (r.Tree == "" || r.Tree != s.Contents)
			return has && notNow(key) && (old || s.Recheck == RecheckAll)
		}
		if s.Contents == "" && len(e.stored) > 0 && s.Recheck == RecheckStale {
			return Need{Kind: NeedChecks}
		}
		runs = append(s.due(e, WhenFeature, stale), s.due(e, WhenComplete, notNow)...)
	}
	if len(runs) > 0 {
		return Need{Kind: NeedChecks, Runs: runs}
	}
	var reopen []string
	seen := map[string]bool{}
	for _, r := range s.Results {
		if !r.Passed && !r.NotRun && e.claimed[r.Feature] && !seen[r.Feature] {
			seen[r.Feature] = true
			reopen = append(reopen, r.Feature)
		}
	}
	if len(reopen) > 0 && !s.ListNotWritten {
		return Need{Kind: NeedReopen, Reopen: reopen}
	}
	return Need{}
}

// weigh records the results of the checks: what they prove, which one failed, and at how many
// stops in a row one did. open: features are open.
func (d *Decision) weigh(s *Snapshot, open bool) {
	proof := s.Proof()
	d.Next.Proven = proof.Proven
	d.Next.Checked = proof.Proven
	for i := range s.Results {
		r := &s.Results[i]
		if failed(*r) && (d.Failure == nil || d.Failure.NotRun && !r.NotRun) {
			d.Failure = r
		}
	}
	if d.Failure == nil && !open && s.wholeTree() {
		d.Next.Proven = s.Provable()
	}
	// While features are open, a check of WhenComplete may still fail.
	early := func(digest string) bool {
		return open && slices.ContainsFunc(s.Checks, func(c Check) bool {
			return c.Digest == digest && c.When == WhenComplete
		})
	}
	counts := func(r Receipt) bool { return failed(r) && !r.Cut && !(r.NotRun && s.Untrusted) && !early(r.Check) }
	switch {
	case s.Refused, slices.ContainsFunc(s.Results, counts):
		d.Next.CheckFailures++
	case slices.ContainsFunc(s.Results, func(r Receipt) bool { return r.Cut }): // it may hold or not
	case len(s.Results) > 0, d.lanePassed(s):
		d.Next.CheckFailures = 0
	}
}

// wholeTree reports whether a check is about the whole tree.
func (s *Snapshot) wholeTree() bool {
	return slices.ContainsFunc(s.Checks, func(c Check) bool { return c.When != WhenFeature })
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

// cutAgain ends the loop if the time of two stops in a row was too short for a check or an evaluator, and this one has
// not even proven a feature. The agent can do nothing about it.
func (d *Decision) cutAgain(s *Snapshot) bool {
	before := d.Next.Cut
	d.Next.Cut = ""
	i := slices.IndexFunc(s.Results, func(r Receipt) bool { return r.Cut })
	if i < 0 {
		return false
	}
	d.Next.Cut = s.Results[i].Called()
	if before == "" || slices.ContainsFunc(s.Results, func(r Receipt) bool { return r.Passed && r.Feature != "" }) {
		return false
	}
	d.Next.Needs = fmt.Sprintf("the time of two stops in a row was too short for the %s", d.Next.Cut)
	d.end(s, Blocked, CheckTime)
	return true
}
