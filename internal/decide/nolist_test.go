package decide

import (
	"errors"
	"testing"
)

const done = "It works.\n\n<promise>COMPLETE</promise>"

// noListRows are decisions about a loop without a list.
var noListRows = []row{
	{"no claim", func(s *Snapshot) {}, "continue 5 "},
	{"no claim, and a check for the end", func(s *Snapshot) { s.Checks = []Check{ofAll} }, "continue 5 "},
	{"no claim, and a check for each stop", func(s *Snapshot) { s.Checks = []Check{ofAll, ofEach} }, "checks i:"},
	{"no claim, and a check of each stop failed", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofEach}, []Receipt{failure("i", "")}
	}, "continue 5  failed i"},
	{"no claim, and all checks that ran passed", func(s *Snapshot) {
		s.Checks, s.Results = []Check{ofEach}, []Receipt{receipt("i", "", "now")}
	}, "continue 5 "},

	{"a claim without checks", func(s *Snapshot) { s.Message = done }, "end COMPLETE promise"},
	{"a claim", func(s *Snapshot) { s.Message, s.Checks = done, []Check{ofAll, ofEach} }, "checks i:"},
	{"a claim, and the checks of each stop passed", func(s *Snapshot) {
		s.Message, s.Checks, s.Results = done, []Check{ofAll, ofEach}, []Receipt{receipt("i", "", "now")}
	}, "checks c:"},
	{"a claim, and every check passed", func(s *Snapshot) {
		s.Message, s.Checks, s.Results = done, []Check{ofAll}, []Receipt{receipt("c", "", "now")}
	}, "end COMPLETE all_checks_pass"},
	{"a claim, and a check failed", func(s *Snapshot) {
		s.Message, s.Checks, s.Results = done, []Check{ofAll}, []Receipt{failure("c", "")}
	}, "continue 5  failed c"},
	{"a claim, and a check could not run", func(s *Snapshot) {
		s.Message, s.Checks, s.Results = done, []Check{ofAll}, []Receipt{{Check: "c", Name: "c", NotRun: true}}
	}, "continue 5  failed c"},
	{"a claim, and nobody has trusted the check", func(s *Snapshot) {
		s.Message, s.Checks, s.Untrusted, s.Results = done, []Check{ofAll}, true, []Receipt{notRun("c", "")}
	}, "end BLOCKED untrusted"},
	{"no claim, and nobody has trusted the check", func(s *Snapshot) {
		s.Checks, s.Untrusted, s.Results = []Check{ofAll}, true, []Receipt{notRun("i", "")}
	}, "continue 5  failed i"},
	{"one false claim too many", func(s *Snapshot) {
		s.Message, s.Checks, s.Results = done, []Check{ofAll}, []Receipt{failure("c", "")}
		s.State.CheckFailures, s.Limits.CheckFailures = 2, 3
	}, "end REACHED_LIMIT attempts"},
	{"a claim in a fence", func(s *Snapshot) { s.Message = "```\n<promise>COMPLETE</promise>" }, "continue 5 "},
	{"a claim in a question", func(s *Snapshot) { s.Message = "Is it <promise>COMPLETE</promise>?" }, "continue 5 "},
	{"the status block", func(s *Snapshot) {
		s.Message = statusBegin + "\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n" + statusEnd
	}, "end COMPLETE promise"},

	{"the host's claim without checks", func(s *Snapshot) { s.Claimed = true }, "continue 5 "},
	{"the host's claim", func(s *Snapshot) { s.Claimed, s.Checks = true, []Check{ofAll} }, "checks c:"},
	{"the host's claim, and every check passed", func(s *Snapshot) {
		s.Claimed, s.Checks, s.Results = true, []Check{ofAll}, []Receipt{receipt("c", "", "now")}
	}, "end COMPLETE all_checks_pass"},
	{"the host's claim, and the agent is blocked", func(s *Snapshot) {
		s.Claimed, s.Checks, s.Message = true, []Check{ofAll}, "<promise>BLOCKED: why</promise>"
	}, "end BLOCKED asks"},

	{"the agent wants a person", func(s *Snapshot) {
		s.Message = "<promise>ESCALATE: why</promise>"
	}, "end ESCALATED asks"},
	{"a claim that comes too late", func(s *Snapshot) {
		s.Message, s.Requested = done, Cancelled
	}, "end CANCELLED by_person"},
	{"a claim under a broken ralph.json", func(s *Snapshot) {
		s.Message, s.ConfigErr = done, errors.New("no")
	}, "end FAILED unusable"},
	{"a claim while subagents run", func(s *Snapshot) { s.Message, s.Running = done, []string{"1 subagent"} }, "wait 4"},
	{"a claim at the limit", func(s *Snapshot) { s.Message, s.State.Iteration = done, 15 }, "end COMPLETE promise"},
	{"the limit", func(s *Snapshot) { s.State.Iteration = 15 }, "end REACHED_LIMIT max_iterations"},
	{"nothing changes", func(s *Snapshot) {
		s.State.TreeDigest, s.State.Unchanged = "t", 2
	}, "end STAGNATED no_progress"},
	{"the work tree is asked for", func(s *Snapshot) { s.Tree = "" }, "tree"},

	{"the checks alone", func(s *Snapshot) {
		s.Evaluators, s.Checks = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}
	}, "checks c:"},
	{"the checks alone, which hold", func(s *Snapshot) {
		s.Evaluators, s.Checks = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}
		s.Results = []Receipt{receipt("c", "", "now")}
	}, "end COMPLETE all_checks_pass"},
	{"the checks alone, which fail", func(s *Snapshot) {
		s.Evaluators, s.Checks = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}
		s.Results = []Receipt{failure("c", "")}
		s.State.CheckFailures, s.Limits.CheckFailures = 1, 2
	}, "continue 5  failed c"},
	{"the agent's word alone", func(s *Snapshot) {
		s.Evaluators, s.Message = []Evaluator{{Preset: EvaluatePromise}}, done
	}, "end COMPLETE promise"},
	{"a command's word without checks", func(s *Snapshot) {
		s.Evaluators, s.Answers = []Evaluator{byCommand}, []Answer{{Action: AnswerComplete}}
	}, "end COMPLETE evaluator"},
	{"a hook's word is no claim", func(s *Snapshot) {
		s.AgentHooks, s.HookAnswers = true, []Answer{{Action: AnswerComplete}}
	}, "continue 5 "},
	{"a command's word is a claim", func(s *Snapshot) {
		s.Evaluators, s.Answers, s.Checks = []Evaluator{byCommand}, []Answer{{Action: AnswerComplete}}, []Check{ofAll}
	}, "checks c:"},
	{"a command's word, and the check failed", func(s *Snapshot) {
		s.Evaluators, s.Answers, s.Checks = []Evaluator{byCommand}, []Answer{{Action: AnswerComplete}}, []Check{ofAll}
		s.Results = []Receipt{failure("c", "")}
	}, "continue 5  failed c answer complete"},
	{"a command wants more than the agent", func(s *Snapshot) {
		s.Evaluators, s.Answers, s.Message = []Evaluator{byCommand}, []Answer{{Action: AnswerContinue}}, done
	}, "continue 5  answer continue"},
}

func TestNoList(t *testing.T) {
	for i := range noListRows {
		edit := noListRows[i].edit
		noListRows[i].edit = func(s *Snapshot) {
			s.NoList, s.List, s.Tree, s.State.Feature, s.State.Passed = true, List{}, "t", "", 0
			s.State.ListDigest = List{}.Digest()
			edit(s)
		}
	}
	testRows(t, noListRows)
}
