package decide

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// decider is Decide, or a function like it with a planted bug.
type decider = func(Snapshot) (Decision, Need)

// answered calls decide and answers its questions, as the hook does, until there is a
// decision. It also returns the snapshot with the answers.
func answered(decide decider, s Snapshot, d *dice) (Snapshot, Decision, error) {
	for range 30 { // as often as the hook asks
		got, need := decide(s)
		switch {
		case need.Kind == NeedTail && s.Tail == nil:
			s.Tail = &Tail{ToolCall: d.when(), Context: d.n(5) - 1, Error: pick(d, "", RateLimit)}
		case need.Kind == NeedTree && s.Tree == "":
			s.Tree = pick(d, "t", "u")
		case need.Kind == NeedTrees && s.Trees == nil:
			s.Trees = make([]string, d.n(2))
		case need.Kind == NeedChecks && (s.Contents == "" || len(need.Runs) > 0):
			s.Contents, s.Results = "now", slices.Clone(s.Results)
			for _, run := range need.Runs {
				asked := func(r Receipt) bool { return r.Check == run.Check.Digest && r.Feature == run.Feature }
				if slices.ContainsFunc(s.Results, asked) {
					return s, got, fmt.Errorf("the check %s of %q is asked for twice", run.Check.Name, run.Feature)
				}
				s.Results = append(s.Results, Receipt{
					Check: run.Check.Digest, Name: run.Check.Name, Feature: run.Feature, Tree: "now",
					Passed: !d.is(), NotRun: d.n(4) == 3,
				})
			}
		case need.Kind == NeedHooks && s.HookAnswers == nil:
			s.HookAnswers = []Answer{}
			for range d.n(3) {
				action := pick(d, AnswerComplete, AnswerContinue, AnswerEscalate)
				s.HookAnswers = append(s.HookAnswers, Answer{Action: action, Prompt: pick(d, "", "more")})
			}
		case need.Kind == NeedAnswer && need.Evaluator >= len(s.Answers) && s.Evaluators[need.Evaluator].Preset == "":
			s.Answers = append(slices.Clone(s.Answers), make([]Answer, need.Evaluator+1-len(s.Answers))...)
			s.Answers[need.Evaluator].Action = pick(d, AnswerComplete, AnswerContinue, AnswerEscalate, "")
		case need.Kind == NeedReopen && !s.ListNotWritten:
			s.ListNotWritten, s.List.Items = d.n(4) == 3, slices.Clone(s.List.Items)
			for i, item := range s.List.Items {
				if slices.Contains(need.Reopen, item.ID) && !item.Passes {
					return s, got, fmt.Errorf("%s is to be reopened, which is open", item.ID)
				}
				s.List.Items[i].Passes = item.Passes && (s.ListNotWritten || !slices.Contains(need.Reopen, item.ID))
			}
		case need.Kind != NeedNothing:
			return s, got, fmt.Errorf("asks again for %s", need.Kind)
		default:
			return s, got, nil
		}
	}
	return s, Decision{}, errors.New("asks for ever")
}

// holds returns an error if a decision breaks a property.
func holds(decide decider, program []byte) error {
	s, rest := draw(program)
	first, asked := decide(s)
	same, _ := draw(program)
	if !reflect.DeepEqual(s, same) {
		return errors.New("the question was changed")
	}
	second, askedAgain := decide(same)
	if !reflect.DeepEqual(first, second) || !reflect.DeepEqual(asked, askedAgain) {
		return errors.New("two answers to one question")
	}
	s, d, err := answered(decide, s, rest)
	if err != nil {
		return err
	}
	known := s.State.Iteration
	if s.State.Schema == 0 {
		known = max(1, s.Header.Iteration, s.LogIteration)
	}
	limit := s.Record().Limit(s.Limits)
	other := s.State.Session != "" && s.State.Session != s.Session
	foreign := s.Session == "" || s.Event == EventStop && (s.IsIgnored || other)
	switch {
	case foreign && d.Word() != string(Pass):
		return fmt.Errorf("%s where it is not the loop's business", d.Word())
	case !d.Commits():
		return nil
	case d.Next.Iteration < known:
		return fmt.Errorf("the iteration went from %d to %d", known, d.Next.Iteration)
	case d.Limit < 1 || d.Limit > limit:
		return fmt.Errorf("the limit is %d where %d is in force", d.Limit, limit)
	case d.Next.Status != InProgress && d.Verdict != End && d.Next.Status != s.State.Status:
		return fmt.Errorf("%s made it %s", d.Word(), d.Next.Status)
	}
	late := []string{AllFeaturesPass, AllChecksPass, ByPromise, AllBlocked, Untrusted, MaxIterations}
	if d.Verdict == End && s.Event == EventStop && s.OthersWork && slices.Contains(late, d.Next.ExitReason) {
		return fmt.Errorf("%s while others work", d.Next.ExitReason)
	}
	switch d.Verdict {
	case Wait, Pass:
		waits := len(s.Running) > 0 || s.OthersWork || !d.Next.RetryAt.IsZero()
		if d.Verdict == Wait && (!waits || d.Next.Iteration != known) {
			return errors.New("waits for nothing, or spends an iteration on it")
		}
		return nil
	case Continue:
		return goesOn(s, d, known)
	case End:
		return ends(decide, s, d)
	}
	return fmt.Errorf("the verdict %q is not known", d.Verdict)
}

// goesOn checks a block: there must be budget, and something to do.
func goesOn(s Snapshot, d Decision, known int) error {
	_, open := s.List.Next()
	status, _ := ReadPromise(s.Message, s.Promises)
	again := d.Next.Iteration == known && s.HandOut.SameIteration
	if s.NoSession {
		status = ""
	}
	switch {
	case s.Event != EventStop:
		return fmt.Errorf("a block at %s", s.Event)
	case !again && (d.Next.Iteration != known+1 || d.Next.Iteration > d.Limit):
		return fmt.Errorf("iteration %d of %d after %d", d.Next.Iteration, d.Limit, known)
	case s.Requested != "" || status == Blocked || status == Escalated || s.ConfigErr != nil || s.List.Missing:
		return errors.New("goes on where something ends the loop")
	case d.Next.PastDeadline(s.Limits, s.Now):
		return errors.New("goes on after the deadline")
	case s.State.Schema > 0 && s.Header != s.State.Header && s.Header != s.State.Before &&
		(s.Header.Status == "PAUSED" || s.Header.Status == "CANCELLED"):
		return errors.New("goes on although the header says " + s.Header.Status)
	case !open && chooses(s) && s.List.Err == nil && d.Failure == nil &&
		(!s.NoList || claims(s)) && (len(s.Evaluators) == 0 || asks(s, EvaluateDefault)) && !heldBack(s):
		return errors.New("nothing to do")
	case d.Next.Status != InProgress || d.Next.Session != s.Session:
		return fmt.Errorf("goes on %s with session %q", d.Next.Status, d.Next.Session)
	}
	return nil
}

// chooses reports whether the rules alone say what is next.
func chooses(s Snapshot) bool { return !s.NoClaims && !s.MoreToDo && s.HandOut.Feature == nil }

// claims reports whether the agent or the host claims that a loop is complete.
func claims(s Snapshot) bool {
	status, _ := ReadPromise(s.Message, s.Promises)
	return status == Complete || s.Claimed && len(s.Checks) > 0
}

// asks reports whether an evaluator with this preset decides.
func asks(s Snapshot, preset string) bool {
	return slices.ContainsFunc(s.Evaluators, func(e Evaluator) bool { return e.Preset == preset })
}

// heldBack reports whether a hook of the agent's does not let the loop be complete.
func heldBack(s Snapshot) bool {
	return slices.ContainsFunc(s.HookAnswers, func(a Answer) bool { return a.Action != AnswerComplete })
}

// ends checks an ending: the record must say so, COMPLETE must be proven, and with more
// features that pass the decision must not become a block.
func ends(decide decider, s Snapshot, d Decision) error {
	if d.Next.Status == InProgress || d.Next.ExitReason == "" || d.Next.Endings != s.Record().Endings+1 ||
		!d.Next.EndedAt.Equal(s.Now) {
		return fmt.Errorf("an ending %s %q, number %d", d.Next.Status, d.Next.ExitReason, d.Next.Endings)
	}
	if wide := []string{Attempts, NoProgress, SessionFull, Unusable}; d.Next.Needs == "" &&
		slices.Contains(wide, d.Next.ExitReason) {
		return fmt.Errorf("%s, and nobody knows why", d.Next.ExitReason)
	}
	if d.Next.Status == Complete {
		status, _ := ReadPromise(s.Message, s.Promises)
		answered := slices.ContainsFunc(s.Answers, func(a Answer) bool { return a.Action == AnswerComplete })
		switch {
		case s.AgentHooks && s.HookAnswers == nil:
			return errors.New("complete, and no hook was asked")
		case heldBack(s):
			return errors.New("complete, and a hook holds it back")
		case s.NoList && d.Next.ExitReason == AllChecksPass && len(s.Checks) > 0 &&
			(claims(s) || answered || asks(s, EvaluateValidation)),
			s.NoList && d.Next.ExitReason == ByEvaluator && len(s.Checks) == 0 && answered,
			s.NoList && d.Next.ExitReason == ByPromise && len(s.Checks) == 0 && status == Complete:
			return proven(s, true)
		case s.NoList:
		case d.Next.ExitReason == ByPromise && asks(s, EvaluatePromise) && status == Complete:
			return nil
		case d.Next.ExitReason == AllChecksPass && asks(s, EvaluateValidation) && len(s.Checks) > 0:
			return proven(s, true)
		case d.Next.ExitReason == AllFeaturesPass:
			return proven(s, false)
		}
		return fmt.Errorf("complete by %s", d.Next.ExitReason)
	}
	// The limits that count unchanged stops or failed checks are off: a list with more
	// features that pass is a change, so these limits may well turn an ending into a block. So may
	// guards, which let an agent work that gets features to pass.
	s.GuardsOff = true
	s.Limits.Stagnation, s.Limits.Attempts, s.Limits.CheckFailures, s.BlockCap = 0, 0, 0, 0
	before, _ := decide(s)
	if before.Verdict != End || !chooses(s) {
		return nil
	}
	s.List.Items = slices.Clone(s.List.Items)
	for i := range s.List.Items {
		s.List.Items[i].Passes = true
		now, _ := decide(s)
		if now.Verdict == Continue {
			return fmt.Errorf("more passes turned %s into a block", d.Next.ExitReason)
		}
	}
	return nil
}

// proven checks COMPLETE: either the checks alone prove it, or the list and the checks.
func proven(s Snapshot, alone bool) error {
	if _, open := s.List.Next(); open && !alone || s.List.Err != nil {
		return errors.New("complete, and something is open or broken")
	}
	passed := func(c Check, id string) bool {
		of := func(r Receipt) bool { return r.Check == c.Digest && r.Feature == id }
		ran := func(r Receipt) bool { return r.Check == c.Digest && (r.Feature == id || !c.PerClaim) }
		if i := slices.IndexFunc(s.Results, ran); i >= 0 {
			return s.Results[i].Passed
		}
		return c.When == WhenClaim && slices.ContainsFunc(s.Receipts, func(r Receipt) bool {
			return of(r) && r.Passed && r.Tree != "" && r.Tree == s.Contents
		})
	}
	for _, c := range s.Checks {
		for _, item := range append([]features.Item{{}}, s.List.Items...) {
			of := c.When == WhenClaim && (c.PerClaim || len(s.List.Items) > 0 && !s.NoList)
			counts := !of || item.Passes && !item.IsAdded && c.IsFor(item.ID)
			if (item.ID != "") == of && counts && !passed(c, item.ID) {
				return fmt.Errorf("complete without the check %s of %q", c.Name, item.ID)
			}
		}
	}
	return nil
}

// FuzzDecide checks the properties that each decision must have.
func FuzzDecide(f *testing.F) {
	for _, program := range programs(50) {
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if err := holds(Decide, program); err != nil {
			s, _ := draw(program)
			t.Fatalf("%v: %+v", err, s)
		}
	})
}

// believesStale decides as if each receipt were of the files as they are.
func believesStale(s Snapshot) (Decision, Need) {
	s.Receipts = slices.Clone(s.Receipts)
	for i := range s.Receipts {
		s.Receipts[i].Tree = s.Contents
	}
	return Decide(s)
}

// programs returns n programs, the same at each run.
func programs(n int) (all [][]byte) {
	random := rand.New(rand.NewPCG(1, 2))
	for range n {
		program := make([]byte, random.IntN(60))
		for i := range program {
			program[i] = byte(random.Uint32())
		}
		all = append(all, program)
	}
	return all
}

// TestProperties checks many snapshots at each run. It is also the control of the fuzz
// target: a decider that breaks a property must be found.
func TestProperties(t *testing.T) {
	for _, program := range programs(20_000) {
		if err := holds(Decide, program); err != nil {
			s, _ := draw(program)
			t.Fatalf("%v: %+v", err, s)
		}
	}
	calls := 0
	for name, broken := range map[string]decider{
		"goes on at the limit": func(s Snapshot) (Decision, Need) {
			d, need := Decide(s)
			if d.Next.ExitReason == MaxIterations {
				d.Verdict, d.Next.Status, d.Next.Iteration = Continue, InProgress, d.Next.Iteration+1
			}
			return d, need
		},
		"does not see a cancel":     func(s Snapshot) (Decision, Need) { s.Requested = ""; return Decide(s) },
		"does not see the deadline": func(s Snapshot) (Decision, Need) { s.Limits.Deadline = 0; return Decide(s) },
		"believes a claim":          func(s Snapshot) (Decision, Need) { s.Checks = nil; return Decide(s) },
		"believes a stale receipt":  believesStale,
		"believes any owner": func(s Snapshot) (Decision,
			Need) {
			s.State.Session = s.Session
			return Decide(s)
		},
		"counts anew without record": func(s Snapshot) (Decision, Need) {
			s.LogIteration, s.Header.Iteration = 0, 0
			return Decide(s)
		},
		"does not hear the agent": func(s Snapshot) (Decision, Need) { s.Message = ""; return Decide(s) },
		"believes an evaluator": func(s Snapshot) (Decision, Need) {
			d, need := Decide(s)
			if d.Answer != nil && d.Verdict == Continue && d.Answer.Action == AnswerComplete {
				d.end(&s, Complete, AllFeaturesPass)
			}
			return d, need
		},
		"does not ask hooks": func(s Snapshot) (Decision, Need) { s.AgentHooks = false; return Decide(s) },
		"does not hear hooks": func(s Snapshot) (Decision, Need) {
			if s.HookAnswers != nil {
				s.HookAnswers = []Answer{}
			}
			return Decide(s)
		},
		"believes the host": func(s Snapshot) (Decision, Need) {
			d, need := Decide(s)
			if s.NoList && s.Claimed && d.Verdict == Continue {
				d.end(&s, Complete, ByPromise)
			}
			return d, need
		},
		"completes what nobody claims":   func(s Snapshot) (Decision, Need) { s.NoList = false; return Decide(s) },
		"does not know that others work": func(s Snapshot) (Decision, Need) { s.OthersWork = false; return Decide(s) },
		"asks for ever":                  func(s Snapshot) (Decision, Need) { s.Tree = ""; return Decide(s) },
		"blocks where all pass": func(s Snapshot) (Decision, Need) {
			d, need := Decide(s)
			if _, open := s.List.Next(); d.Verdict == End && !open && d.Next.Status != Complete {
				d.Verdict = Continue
			}
			return d, need
		},
		"edits the question": func(s Snapshot) (Decision, Need) {
			if len(s.List.Items) > 0 {
				s.List.Items[0].Passes = true
			}
			return Decide(s)
		},
		"is of two minds": func(s Snapshot) (Decision, Need) {
			d, need := Decide(s)
			calls++
			d.Limit += calls % 2
			return d, need
		},
	} {
		if !slices.ContainsFunc(programs(20_000), func(program []byte) bool { return holds(broken, program) != nil }) {
			t.Errorf("control: one that %s was not caught", name)
		}
	}
}
