package decide

import (
	"strconv"
	"testing"
)

// checkRows are decisions that depend on checks.
var checkRows = []row{
	{"a newly claimed feature is checked", func(s *Snapshot) { s.Checks = []Check{ofFeature} }, "checks f:a f:b"},
	{"one that was proven before is not", func(s *Snapshot) {
		s.Checks, s.Receipts = []Check{ofFeature}, []Receipt{receipt("f", "a", "old")}
	}, "checks f:b"},
	{"an edited check has no receipts", func(s *Snapshot) {
		s.Checks, s.Receipts = []Check{ofFeature}, []Receipt{receipt("g", "a", "now"), receipt("f", "b", "now")}
	}, "checks f:a"},
	{"a check of other features", func(s *Snapshot) {
		s.Checks = []Check{{Digest: "f", When: WhenClaim, PerClaim: true, Features: []string{"c"}}}
	}, "continue 5 c"},
	{"new claims are checked at once", func(s *Snapshot) { s.Checks = []Check{ofClaims} }, "checks w:"},
	{"a suite that is red", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofClaims}, []Receipt{failure("w", "")}
	}, "continue 5 c failed w"},
	{"one that was red for these claims", func(s *Snapshot) {
		s.Checks = []Check{ofClaims}
		s.Receipts = []Receipt{{Check: "w", Feature: "a", Failed: true}, {Check: "w", Feature: "b", Failed: true}}
	}, "continue 5 c"},
	{"one that was, and all are claimed", func(s *Snapshot) {
		s.List, s.Checks, s.Contents = list("x"), []Check{ofClaims}, "now"
		s.Receipts = []Receipt{{Check: "w", Feature: "a", Failed: true, Tree: "now"}}
	}, "checks w:"},
	{"a suite that was green", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofClaims}, []Receipt{failure("w", "")}
		s.Receipts = []Receipt{receipt("w", "", "old"), receipt("w", "a", "old")}
	}, "reopen b"},
	{"one that was green, and the new claims are open again", func(s *Snapshot) {
		s.List, s.Tree, s.Checks, s.Results = list("x.."), "t", []Check{ofClaims}, []Receipt{failure("w", "")}
		s.Receipts, s.Reopened = []Receipt{receipt("w", "", "old"), receipt("w", "a", "old")}, []string{"b"}
	}, "continue 5 b failed w"},
	{"a suite on the files as they are proves all", func(s *Snapshot) {
		s.List, s.Checks, s.Contents = list("x"), []Check{ofClaims}, "now"
		s.Receipts = []Receipt{receipt("w", "", "now"), receipt("w", "a", "now")}
	}, "end COMPLETE all_features_pass"},
	{"a suite on older files runs again at the end", func(s *Snapshot) {
		s.List, s.Checks, s.Contents = list("x"), []Check{ofClaims}, "now"
		s.Receipts = []Receipt{receipt("w", "", "old"), receipt("w", "a", "old")}
	}, "checks w:"},
	{"its check passed", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofFeature}, []Receipt{receipt("f", "a", "now"), receipt("f", "b", "now")}
	}, "continue 5 c"},
	{"its check failed: it is reopened", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofFeature}, []Receipt{failure("f", "a"), receipt("f", "b", "now")}
	}, "reopen a"},
	{"its check failed, and the list cannot be written", func(s *Snapshot) {
		s.Checks, s.ListNotWritten = []Check{ofFeature}, true
		s.Results = []Receipt{receipt("f", "b", "now"), failure("f", "a")}
	}, "continue 5 a failed f"},
	{"it was reopened", func(s *Snapshot) {
		s.List, s.Checks, s.Results = list(".x."), []Check{ofFeature},
			[]Receipt{failure("f", "a"), receipt("f", "b", "now")}
	}, "continue 5 a failed f"},
	{"a check that did not run disproves nothing, so the agent is not sent back", func(s *Snapshot) {
		s.Checks = []Check{ofFeature}
		s.Results = []Receipt{notRun("f", "a"), receipt("f", "b", "now")}
	}, "continue 5 c failed f"},
	{"the agent is sent back to what failed beside it", func(s *Snapshot) {
		s.Checks, s.ListNotWritten = []Check{ofFeature}, true
		s.Results = []Receipt{notRun("f", "a"), failure("f", "b")}
	}, "continue 5 b failed f"},
	{"nobody has trusted a check: it works on what is open", func(s *Snapshot) {
		s.Checks, s.Untrusted = []Check{ofFeature}, true
		s.Results = []Receipt{notRun("f", "a"), notRun("f", "b")}
		s.State.CheckFailures, s.Limits.CheckFailures = 2, 3
	}, "continue 5 c failed f"},
	{"nobody has trusted a check, and all is claimed", func(s *Snapshot) {
		s.List, s.Checks, s.Untrusted = list("xx"), []Check{ofFeature}, true
		s.Results = []Receipt{notRun("f", "a"), notRun("f", "b")}
	}, "end BLOCKED untrusted"},
	{"nobody has trusted a check, and what is open is blocked", func(s *Snapshot) {
		s.List, s.Checks, s.Untrusted = list("x!"), []Check{ofFeature}, true
		s.Results = []Receipt{notRun("f", "a")}
	}, "end BLOCKED untrusted"},
	{"checks of one feature each", func(s *Snapshot) {
		s.List = list("x.x")
		s.Checks = []Check{
			{Digest: "1", When: WhenClaim, PerClaim: true, Features: []string{"c"}},
			{Digest: "2", When: WhenClaim, PerClaim: true, Features: []string{"b", "a"}},
		}
	}, "checks 1:c 2:a"},
}

// evaluatorRows are decisions that depend on evaluators, and on when checks run.
var evaluatorRows = []row{
	{"the default, among others", func(s *Snapshot) { s.Evaluators = []Evaluator{byCommand, byDefault} }, "answer 0"},
	{"complete, whoever stands behind it", func(s *Snapshot) {
		s.List, s.Evaluators = list("xxx"), []Evaluator{byDefault, byCommand}
	}, "end COMPLETE all_features_pass"},
	{"a command is asked in its place", func(s *Snapshot) {
		s.Evaluators = []Evaluator{byDefault, byCommand}
	}, "answer 1"},
	{"the second of two", func(s *Snapshot) {
		s.Evaluators, s.Answers = []Evaluator{byCommand, byCommand}, []Answer{{Action: AnswerContinue}}
	}, "answer 1"},
	{"it says complete, with features open", func(s *Snapshot) {
		s.Evaluators, s.Answers = []Evaluator{byCommand}, []Answer{{Action: AnswerComplete}}
	}, "continue 5 c answer complete"},
	{"it says complete, and all is claimed", func(s *Snapshot) {
		s.List, s.Evaluators, s.Answers = list("xxx"), []Evaluator{byCommand}, []Answer{{Action: AnswerComplete}}
	}, "end COMPLETE all_features_pass"},
	{"it says complete, and a check fails", func(s *Snapshot) {
		s.List, s.Evaluators, s.Answers = list("xxx"), []Evaluator{byCommand}, []Answer{{Action: AnswerComplete}}
		s.Checks, s.Results = []Check{ofAll}, []Receipt{failure("c", "")}
	}, "continue 5  failed c answer complete"},
	{"it wants more, and all is claimed", func(s *Snapshot) {
		s.List, s.Evaluators, s.Answers = list("xxx"), []Evaluator{byCommand}, []Answer{{Action: AnswerContinue}}
	}, "continue 5  answer continue"},
	{"it escalates", func(s *Snapshot) {
		s.Evaluators, s.Answers = []Evaluator{byCommand}, []Answer{{Action: AnswerEscalate, Reason: "why"}}
	}, "end ESCALATED evaluator"},
	{"the last prompt counts", func(s *Snapshot) {
		s.Evaluators = []Evaluator{byCommand, byCommand}
		s.Answers = []Answer{{Action: AnswerContinue, Prompt: "one"}, {Action: AnswerContinue}}
	}, "continue 5 c answer continue one"},
	{"hooks are asked when all is claimed", func(s *Snapshot) { s.List, s.AgentHooks = list("xxx"), true }, "hooks"},
	{"hooks are not asked before", func(s *Snapshot) { s.AgentHooks = true }, "continue 5 c"},
	{"hooks are asked after a command", func(s *Snapshot) {
		s.List, s.Evaluators, s.AgentHooks = list("xxx"), []Evaluator{byCommand}, true
	}, "answer 0"},
	{"hooks are asked before the checks run in the project", func(s *Snapshot) {
		s.List, s.Checks, s.Results, s.AgentHooks = list("x"), []Check{ofAll}, []Receipt{receipt("c", "", "now")}, true
		s.NotCounted = []string{"Makefile"}
	}, "hooks"},
	{"no hook has anything to say", func(s *Snapshot) {
		s.List, s.AgentHooks, s.HookAnswers = list("xxx"), true, []Answer{}
	}, "end COMPLETE all_features_pass"},
	{"a hook lets the loop through", func(s *Snapshot) {
		s.List, s.AgentHooks, s.HookAnswers = list("xxx"), true, []Answer{{Action: AnswerComplete}}
	}, "end COMPLETE all_features_pass"},
	{"one of two hooks holds the loop back", func(s *Snapshot) {
		s.List, s.AgentHooks = list("xxx"), true
		s.HookAnswers = []Answer{{Action: AnswerComplete}, {Action: AnswerContinue, Prompt: "two"}}
	}, "continue 5  answer continue two"},
	{"a hook wants a person", func(s *Snapshot) {
		s.List, s.AgentHooks, s.HookAnswers = list("xxx"), true, []Answer{{Action: AnswerContinue}, {Action: AnswerEscalate}}
	}, "end ESCALATED evaluator"},
	{"limits hold whoever is asked", func(s *Snapshot) {
		s.Evaluators, s.Answers, s.State.Iteration = []Evaluator{byCommand}, []Answer{{Action: AnswerContinue}}, 15
	}, "end REACHED_LIMIT max_iterations"},
	{"a promise to be blocked, whoever is asked", func(s *Snapshot) {
		s.Evaluators, s.Message = []Evaluator{byCommand}, "<promise>BLOCKED: why</promise>"
	}, "end BLOCKED asks"},
	{"the checks alone, before all is claimed", func(s *Snapshot) {
		s.Evaluators, s.Checks = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}
	}, "checks c:"},
	{"they hold", func(s *Snapshot) {
		s.Evaluators, s.Checks = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}
		s.Results = []Receipt{receipt("c", "", "now")}
	}, "end COMPLETE all_checks_pass"},
	{"they fail, which is early", func(s *Snapshot) {
		s.Evaluators, s.Checks = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}
		s.Results = []Receipt{failure("c", "")}
		s.State.CheckFailures, s.Limits.CheckFailures = 1, 2
	}, "continue 5 c failed c"},
	{"the agent's word alone", func(s *Snapshot) {
		s.Evaluators, s.Message = []Evaluator{{Preset: EvaluatePromise}}, "<promise>COMPLETE</promise>"
	}, "end COMPLETE promise"},
	{"not given", func(s *Snapshot) {
		s.List, s.Evaluators = list("xxx"), []Evaluator{{Preset: EvaluatePromise}}
	}, "continue 5 "},
	{"at each stop", func(s *Snapshot) { s.Checks = []Check{ofEach} }, "checks i:"},
	{"at each stop, failed", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofEach}, []Receipt{failure("i", "")}
	}, "continue 5 c failed i"},
	{"not before all are claimed", func(s *Snapshot) { s.Checks = []Check{ofAll} }, "continue 5 c"},
	{"all claimed: the last check", func(s *Snapshot) { s.List, s.Checks = list("xxx"), []Check{ofAll} }, "checks c:"},
	{"all claimed: it failed", func(s *Snapshot) {
		s.List, s.Checks, s.Results = list("xxx"), []Check{ofAll}, []Receipt{failure("c", "")}
	}, "continue 5  failed c"},
	{"all claimed: it passed", func(s *Snapshot) {
		s.List, s.Checks, s.Results = list("xxx"), []Check{ofAll}, []Receipt{receipt("c", "", "now")}
	}, "end COMPLETE all_features_pass"},
	{"all claimed and proven: the contents are asked for", func(s *Snapshot) {
		s.List, s.Checks, s.Receipts = list("x"), []Check{ofFeature}, []Receipt{receipt("f", "a", "now")}
	}, "checks"},
	{"all claimed and proven", func(s *Snapshot) {
		s.List, s.Checks, s.Receipts = list("x"), []Check{ofFeature}, []Receipt{receipt("f", "a", "now")}
		s.Contents = "now"
	}, "end COMPLETE all_features_pass"},
	{"all claimed, one stale", func(s *Snapshot) {
		s.List, s.Checks, s.Contents = list("xx"), []Check{ofFeature}, "now"
		s.Receipts = []Receipt{receipt("f", "a", "old"), receipt("f", "b", "now")}
	}, "checks f:a"},
	{"all claimed, one on contents that nobody could read", func(s *Snapshot) {
		s.List, s.Checks, s.Contents = list("xx"), []Check{ofFeature}, "unknown"
		s.Receipts = []Receipt{receipt("f", "a", ""), receipt("f", "b", "unknown")}
	}, "checks f:a"},
	{"all claimed at the limit, the last check failed", func(s *Snapshot) {
		s.List, s.Checks, s.Results, s.State.Iteration = list("xxx"), []Check{ofAll}, []Receipt{failure("c", "")}, 15
	}, "end REACHED_LIMIT max_iterations"},
	{"one failure too many", func(s *Snapshot) {
		s.Checks, s.Results, s.State.CheckFailures = []Check{ofEach}, []Receipt{failure("i", "")}, 1
		s.Limits.CheckFailures = 2
	}, "end REACHED_LIMIT attempts"},
	{"failures that are over", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofEach}, []Receipt{receipt("i", "", "now")}
		s.State.CheckFailures, s.Limits.CheckFailures = 9, 2
	}, "continue 5 c"},
	{"failures, and nothing to check", func(s *Snapshot) {
		s.Checks, s.State.CheckFailures, s.Limits.CheckFailures = []Check{ofAll}, 1, 2
	}, "continue 5 c"},
}

// TestDecisive has several hooks answer: complete (o), continue (c, or C with a prompt) and escalate (e).
func TestDecisive(t *testing.T) {
	actions := map[rune]string{
		'o': AnswerComplete, 'c': AnswerContinue, 'C': AnswerContinue, 'e': AnswerEscalate,
	}
	for said, want := range map[string]string{
		"oo": "0", "oc": "1", "co": "0", "cc": "1", "cC": "1", "CC": "0", "Cc": "0", "oCe": "2", "ece": "0", "": "",
	} {
		var answers []Answer
		for i, letter := range said {
			a := Answer{By: strconv.Itoa(i), Action: actions[letter]}
			if letter == 'C' {
				a.Prompt = "more"
			}
			answers = append(answers, a)
		}
		got := ""
		if a := Decisive(answers); a != nil {
			got = a.By
		}
		if got != want {
			t.Errorf("of %q the answer %q counts, want %q", said, got, want)
		}
	}
}

func TestEvaluate(t *testing.T) {
	testRows(t, checkRows)
	testRows(t, evaluatorRows)
}
