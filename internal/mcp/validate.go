package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Validate asks for what the next stop would decide.
type Validate struct {
	OfIteration
	AgentOutput string `json:"agentOutput,omitempty"`
}

// Validated is what the next stop would decide.
type Validated struct {
	IterationID      string             `json:"iterationId"`
	IterationNumber  int                `json:"iterationNumber"`
	ValidationPassed bool               `json:"validationPassed"`
	CompletionSignal string             `json:"completionSignal"`
	DetectedPromise  string             `json:"detectedPromise,omitempty"`
	Feedback         []string           `json:"feedback"`
	Results          []agenthook.Result `json:"results"`
	PromisesDetected []string           `json:"completionPromisesDetected"`
	HookDecision     *HookDecision      `json:"hookDecision,omitempty"`
}

// HookDecision is what a hook of the agent's own says.
type HookDecision struct {
	HookID     string `json:"hookId"`
	Action     string `json:"action"`
	Reason     string `json:"reason"`
	NextPrompt string `json:"nextPrompt,omitempty"`
}

// Signals.
const (
	signalContinue = "CONTINUE"
	signalComplete = "COMPLETE"
	signalBlocked  = "BLOCKED"
	signalEscalate = "ESCALATE"
)

// validate answers iteration_validate.
func (k *desk) validate(ctx context.Context, in Validate) (Validated, error) {
	j, err := k.judge(ctx, "iteration_validate", in.AgentOutput, agenthook.Draft{}, never)
	if err != nil {
		return Validated{}, err
	}
	if err := k.runRest(ctx, &j); err != nil {
		return Validated{}, err
	}
	v := Validated{
		IterationID: k.ID(), IterationNumber: j.Picture.Snapshot.Record().Iteration, CompletionSignal: j.signal(),
		Results: results(j.Picture, j.message), ValidationPassed: j.Picture.Snapshot.List.Err == nil,
		PromisesDetected: []string{},
	}
	for _, c := range j.claims {
		v.PromisesDetected = append(v.PromisesDetected, c.Tag())
	}
	if j.claim.Status != "" {
		v.DetectedPromise = strings.TrimSpace(j.claim.Tag() + " " + j.claim.Why)
	}
	for _, r := range v.Results {
		v.ValidationPassed = v.ValidationPassed && r.Passed
	}
	if a := k.askHooks(j); a != nil {
		v.HookDecision = &HookDecision{HookID: a.By, Action: a.Action, Reason: a.Reason, NextPrompt: a.Prompt}
		if a.Action == decide.AnswerComplete && v.CompletionSignal != signalComplete {
			v.HookDecision.Action = decide.AnswerContinue
		}
		if a.Action == decide.AnswerEscalate && v.CompletionSignal == signalContinue {
			v.CompletionSignal = signalEscalate
		}
	}
	v.Feedback = j.feedback(k, v.HookDecision)
	if why := k.regression(v); why != "" && v.CompletionSignal == signalContinue {
		v.CompletionSignal, v.Feedback = signalEscalate, append(v.Feedback, why)
	}
	return v, nil
}

// regression notes how many conditions hold, and says if fewer and fewer do.
func (k *desk) regression(v Validated) (why string) {
	rate := decide.Rate{Iteration: v.IterationNumber, Total: len(v.Results)}
	for _, r := range v.Results {
		if r.Passed {
			rate.Passed++
		}
	}
	if rate.Total == 0 || k.owner != ThisSession {
		return ""
	}
	_ = k.edit(func(_ *loop.Picture, r *agenthook.Record) error { // if it cannot be kept, nothing is said
		r.Rates = r.Rates.Add(rate)
		if r.Rates.Fall() {
			why = fmt.Sprintf("quality regression: fewer conditions hold from iteration to iteration: %v, then %v, then %v",
				r.Rates[0], r.Rates[1], r.Rates[2])
		}
		return nil
	})
	return why
}

// runRest runs the checks of the whole tree that are not due yet, so that the agent hears of them early.
func (k *desk) runRest(ctx context.Context, j *judged) error {
	s := &j.Picture.Snapshot
	var runs []decide.Run
	for _, c := range s.Checks {
		ran := slices.ContainsFunc(s.Results, func(r decide.Receipt) bool { return r.Check == c.Digest })
		if !c.PerClaim && !ran {
			runs = append(runs, decide.Run{Check: c})
		}
	}
	if len(runs) == 0 || k.endError() != nil {
		return nil
	}
	more, err := j.Picture.RunChecks(ctx, runs, false, nil)
	s.Results = append(s.Results, more...)
	return err
}

// signal is the decision in one word.
func (j judged) signal() string {
	d := j.Decision
	status := d.Next.Status
	if d.Verdict == decide.Continue || d.Verdict == decide.Wait || status == decide.InProgress {
		return signalContinue
	}
	switch status {
	case decide.Complete:
		return signalComplete
	case decide.Blocked:
		return signalBlocked
	}
	return signalEscalate
}

// feedback says in lines what the agent should know.
func (j judged) feedback(k *desk, hook *HookDecision) []string {
	lines := []string{}
	if err := k.endError(); err != nil {
		return append(lines, err.Error())
	}
	switch j.claim.Status {
	case decide.Blocked:
		lines = append(lines, "Agent signaled BLOCKED state - requires human intervention")
	case decide.Escalated:
		lines = append(lines, "Agent signaled ESCALATE - requires human intervention")
	}
	if j.signal() == signalComplete {
		lines = append(lines, j.settled()+" Call iteration_complete with COMPLETE, or end your turn.")
	} else if !j.claim.AsksForPerson() {
		lines = append(lines, j.missing(0)...) // the results have the output of checks
	}
	if names := say.FilesNotCounted(j.Picture); names != "" {
		lines = append(lines, "Not counted by the checks: "+names)
	}
	if hook != nil {
		lines = append(lines, "Hook decision: "+hook.Action+": "+hook.Reason)
		if hook.NextPrompt != "" {
			lines = append(lines, "Hook guidance: "+plain.Text(hook.NextPrompt, 2000))
		}
	}
	return lines
}
