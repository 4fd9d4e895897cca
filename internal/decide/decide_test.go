package decide

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

var now = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)

// list makes a list from a word of x (passes), . (open) and ! (blocked).
func list(word string) List {
	l := List{}
	for i, c := range word {
		l.Items = append(l.Items, features.Item{ID: string(rune('a' + i)), Passes: c == 'x', Blocked: c == '!'})
	}
	return l
}

// base is a loop of session s at iteration 4 of 15, two of three features
// done since the last stop.
func base() Snapshot {
	header := progress.Header{Status: "IN_PROGRESS", Iteration: 4, MaxIterations: 15, Feature: "b"}
	return Snapshot{
		Event: EventStop, Session: "s", Header: header, List: list("xx."), Limits: Limits{Stagnation: 3, MaxWait: time.Hour}, Now: now,
		State: State{
			Schema: SchemaVersion, Status: InProgress, Iteration: 4, Session: "s", Feature: "b", Attempts: 1, Passed: 2,
			HeaderLimit: 15, ListDigest: list("x..").Digest(), Unchanged: 1, Header: header,
			Before: progress.Header{Status: "IN_PROGRESS", Iteration: 3, MaxIterations: 15, Feature: "a"},
		},
	}
}

// blocked returns the times of n blocks of this turn, a minute apart.
func blocked(n int) (times []int64) {
	for i := range n {
		times = append(times, now.Add(time.Duration(i-n)*time.Minute).UnixMilli())
	}
	return times
}

// Checks of a table's rows: of every feature, of the whole tree at its end, and
// at each stop.
var (
	ofFeature = Check{Name: "f", Digest: "f", When: WhenFeature}
	ofAll     = Check{Name: "c", Digest: "c", When: WhenComplete}
	ofEach    = Check{Name: "i", Digest: "i", When: WhenIteration}
)

// Evaluators of a table's rows.
var byDefault, byCommand = Evaluator{Preset: EvaluateDefault}, Evaluator{Name: "review"}

// receipt is of a check that passed on the tree "now", or on another.
func receipt(check, feature, tree string) Receipt {
	return Receipt{Check: check, Feature: feature, Tree: tree, Passed: true}
}

// failure is of a check that did not.
func failure(check, feature string) Receipt {
	return Receipt{Check: check, Feature: feature, Name: check}
}

// broken is a list that does not parse.
var broken error = jsontext.ErrorAt([]byte("[\n}"), 2, "no")

func TestDecide(t *testing.T) {
	for _, tc := range []struct {
		name string
		edit func(*Snapshot)
		want string // verdict, then status and reason, or iteration and feature
	}{
		{"next feature", func(*Snapshot) {}, "continue 5 c"},

		// 1. Not our business.
		{"another event", func(s *Snapshot) { s.Event = "SubagentStop" }, "pass"},
		{"no session id", func(s *Snapshot) { s.Session = "" }, "pass"},
		{"another session", func(s *Snapshot) { s.Session = "t" }, "pass"},
		{"a subagent", func(s *Snapshot) { s.Aside = true }, "pass"},
		{"a stop that another hook is at the checks of", func(s *Snapshot) { s.Busy = true }, "pass"},
		{"plan mode", func(s *Snapshot) { s.Aside = true }, "pass"},
		{"it has ended", func(s *Snapshot) { s.State.Status = Complete }, "pass"},
		{"it is paused", func(s *Snapshot) { s.State.Status = Paused }, "pass"},
		{"a fresh clone", func(s *Snapshot) { s.State = State{}; s.FreshClone = true }, "pass"},
		{"no record, and the header says it is over", func(s *Snapshot) { s.State = State{}; s.Header.Status = "COMPLETE" }, "pass"},

		// Binding, and the events beside a stop.
		{"prompt-bound, no owner yet", func(s *Snapshot) { s.State.Session, s.State.Bind = "", BindPrompt }, "pass"},
		{"no record, prompt-bound", func(s *Snapshot) { s.State, s.Bind = State{}, BindPrompt }, "pass"},
		{"no record, prompt-bound, but the session's own", func(s *Snapshot) { s.State, s.Bind, s.Bound, s.Tree = State{}, BindPrompt, true, "t" }, "continue 5 c"},
		{"its prompt", func(s *Snapshot) { s.Event, s.Marked, s.State.Session = EventPrompt, true, "" }, "take"},
		{"its prompt, again", func(s *Snapshot) { s.Event, s.Marked = EventPrompt, true }, "take"},
		{"another prompt", func(s *Snapshot) { s.Event = EventPrompt }, "pass"},
		{"its prompt, elsewhere, owner alive", func(s *Snapshot) {
			s.Event, s.Marked, s.Session, s.OwnerAlive, s.State.Seen = EventPrompt, true, "t", true, now.Add(-59*time.Minute)
		}, "tell"},
		{"owner unseen for an hour", func(s *Snapshot) {
			s.Event, s.Marked, s.Session, s.OwnerAlive, s.State.Seen = EventPrompt, true, "t", true, now.Add(-time.Hour)
		}, "take"},
		{"owner unseen for an hour, but its process lives", func(s *Snapshot) {
			s.Event, s.Marked, s.Session, s.OwnerAlive, s.State.Seen, s.State.SessionPID = EventPrompt, true, "t", true, now.Add(-9*time.Hour), 7
			s.OwnerKnown = true
		}, "tell"},
		{"a prompt of the owner's new process", func(s *Snapshot) { s.Event, s.Client, s.State.SessionPID = EventPrompt, 8, 7 }, "note"},
		{"no record, and the header says it is over, its prompt", func(s *Snapshot) {
			s.Event, s.Marked, s.State, s.Header.Status = EventPrompt, true, State{}, "CANCELLED"
		}, "tell"},
		{"session ended in a second client", func(s *Snapshot) { s.Event, s.OwnerAlive, s.Client, s.State.SessionPID = EventEnd, true, 8, 7 }, "pass"},
		{"a stop from before the session ended", func(s *Snapshot) { s.State.Status, s.State.EndedAt = Interrupted, now.Add(time.Second) }, "pass"},
		{"owner gone", func(s *Snapshot) { s.Event, s.Marked, s.Session, s.State.Seen = EventPrompt, true, "t", now }, "take"},
		{"its prompt, paused in the header", func(s *Snapshot) { s.Event, s.Marked, s.Header.Status = EventPrompt, true, "PAUSED" }, "end PAUSED by_person"},
		{"its prompt, the header claims the end, which nobody believes", func(s *Snapshot) { s.Event, s.Marked, s.Header.Status = EventPrompt, true, "COMPLETE" }, "take"},
		{"a prompt in the interrupted session, the header claims the end", func(s *Snapshot) {
			s.Event, s.State.Status, s.Header.Status = EventPrompt, Interrupted, "COMPLETE"
		}, "take"},
		{"session ended, the header claims the end", func(s *Snapshot) { s.Event, s.Tail, s.Header.Status = EventEnd, &Tail{}, "COMPLETE" }, "end INTERRUPTED session_ended"},
		{"its prompt, over", func(s *Snapshot) { s.Event, s.Marked, s.State.Status = EventPrompt, true, ReachedLimit }, "tell"},
		{"its prompt, interrupted elsewhere", func(s *Snapshot) {
			s.Event, s.Marked, s.Session, s.State.Status, s.OwnerAlive, s.State.Seen = EventPrompt, true, "t", Interrupted, true, now
		}, "take"},
		{"a prompt in the interrupted session", func(s *Snapshot) { s.Event, s.State.Status = EventPrompt, Interrupted }, "take"},
		{"a prompt in another session, interrupted", func(s *Snapshot) { s.Event, s.Session, s.State.Status = EventPrompt, "t", Interrupted }, "pass"},
		{"a stop in the interrupted session", func(s *Snapshot) { s.State.Status = Interrupted }, "continue 5 c"},
		{"an API error: the transcript is asked for", func(s *Snapshot) { s.Event, s.Failure = EventFailure, "rate_limit" }, "tail"},
		{"rate limit", func(s *Snapshot) { s.Event, s.Failure, s.Tail = EventFailure, "rate_limit", &Tail{} }, "end INTERRUPTED rate_limit"},
		{"rate limit that says until when", func(s *Snapshot) {
			s.Event, s.Failure, s.Tail = EventFailure, "rate_limit", &Tail{RetryAt: now.Add(time.Hour)}
		}, "end INTERRUPTED rate_limit 04:00"},
		{"rate limit whose transcript says until when", func(s *Snapshot) {
			s.Event, s.Failure, s.Tail = EventFailure, "rate_limit", &Tail{Error: "rate_limit", RetryAt: now.Add(2 * time.Hour)}
		}, "end INTERRUPTED rate_limit 05:00"},
		{"API error of a helper", func(s *Snapshot) {
			s.Event, s.Failure, s.Aside, s.Tail = EventFailure, "invalid_request", true, &Tail{}
		}, "end INTERRUPTED api_error"},
		{"API error without a name", func(s *Snapshot) { s.Event, s.Tail = EventFailure, &Tail{} }, "end INTERRUPTED api_error"},
		{"API error elsewhere", func(s *Snapshot) { s.Event, s.Session = EventFailure, "t" }, "pass"},
		{"session ended: the transcript is asked for", func(s *Snapshot) { s.Event = EventEnd }, "tail"},
		{"session ended", func(s *Snapshot) { s.Event, s.Tail = EventEnd, &Tail{} }, "end INTERRUPTED session_ended"},
		{"session ended by a rate limit whose event was cut off", func(s *Snapshot) {
			s.Event, s.Tail = EventEnd, &Tail{Error: "rate_limit", RetryAt: now.Add(3 * time.Hour)}
		}, "end INTERRUPTED rate_limit 06:00"},
		{"session ended by an error whose event was cut off", func(s *Snapshot) { s.Event, s.Tail = EventEnd, &Tail{Error: "invalid_request"} }, "end INTERRUPTED api_error"},
		{"session ended after an API error", func(s *Snapshot) { s.Event, s.State.Status = EventEnd, Interrupted }, "pass"},
		{"session ended, paused in the header", func(s *Snapshot) { s.Event, s.Header.Status = EventEnd, "PAUSED" }, "end PAUSED by_person"},
		{"cleared session begins", func(s *Snapshot) {
			s.Event, s.Cleared, s.Session, s.State.Session, s.Client, s.State.SessionPID = EventStart, true, "t", "", 7, 7
		}, "tell"},
		{"another session was cleared", func(s *Snapshot) {
			s.Event, s.Cleared, s.Session, s.State.Session, s.Client, s.State.SessionPID = EventStart, true, "t", "", 8, 7
		}, "pass"},
		{"another session was cleared, processes unknown", func(s *Snapshot) { s.Event, s.Cleared, s.State.Session = EventStart, true, "" }, "pass"},
		{"the interrupted session is resumed", func(s *Snapshot) { s.Event, s.State.Status = EventStart, Interrupted }, "tell"},
		{"the session is resumed in a new process", func(s *Snapshot) { s.Event, s.Client, s.State.SessionPID = EventStart, 8, 7 }, "note"},
		{"the session goes on after compaction", func(s *Snapshot) { s.Event, s.Client, s.State.SessionPID = EventStart, 7, 7 }, "pass"},
		{"a fork of the session", func(s *Snapshot) {
			s.Event, s.Session, s.State.Status = EventStart, "t", Interrupted
		}, "pass"},
		{"the session of a loop that is over is resumed", func(s *Snapshot) { s.Event, s.State.Status = EventStart, Complete }, "pass"},
		{"handed over: a prompt in its session", func(s *Snapshot) { s.Event, s.State.Status = EventPrompt, Handover }, "pass"},
		{"handed over: its prompt in another session", func(s *Snapshot) {
			s.Event, s.Marked, s.Session, s.State.Status, s.OwnerAlive, s.State.Seen = EventPrompt, true, "t", Handover, true, now
		}, "take"},
		{"handed over: its prompt in the same session", func(s *Snapshot) {
			s.Event, s.Marked, s.State.Status, s.State.ExitReason, s.State.LastSession = EventPrompt, true, Handover, FeaturesPerSession, "s"
		}, "tell features_per_session"},
		{"handed over for an hour: its prompt in the same session", func(s *Snapshot) {
			s.Event, s.Marked, s.State.Status, s.State.ExitReason, s.State.LastSession = EventPrompt, true, Handover, IterationsPerHour, "s"
		}, "take"},
		{"handed over for an hour that is not over", func(s *Snapshot) {
			s.Event, s.Marked, s.Session, s.State.Status, s.Limits.IterationsPerHour = EventPrompt, true, "t", Handover, 1
			s.State.Hour = []int64{now.Add(-59 * time.Minute).Unix()}
		}, "tell iterations_per_hour"},
		{"handed over with no iteration left", func(s *Snapshot) {
			s.Event, s.Marked, s.Session, s.State.Status, s.State.Iteration = EventPrompt, true, "t", Handover, 15
		}, "tell max_iterations"},
		{"interrupted, and its time is up", func(s *Snapshot) {
			s.Event, s.State.Status, s.Limits.Deadline, s.State.StartedAt = EventPrompt, Interrupted, time.Hour, now.Add(-2*time.Hour)
		}, "tell deadline"},
		{"interrupted at the last iteration", func(s *Snapshot) { s.Event, s.State.Status, s.State.Iteration = EventPrompt, Interrupted, 15 }, "take"},
		{"the session is resumed in a new process, and the header says PAUSED", func(s *Snapshot) {
			s.Event, s.Client, s.State.SessionPID, s.Header.Status = EventStart, 8, 7, "PAUSED"
		}, "pass"},
		{"handed over: a stop", func(s *Snapshot) { s.State.Status = Handover }, "pass"},
		{"/goal in its session", func(s *Snapshot) { s.Event, s.Goal = EventPrompt, true }, "note rival"},
		{"/goal again", func(s *Snapshot) { s.Event, s.Goal, s.State.RivalSaid = EventPrompt, true, true }, "pass"},
		{"/goal elsewhere", func(s *Snapshot) { s.Event, s.Goal, s.Session = EventPrompt, true, "t" }, "pass"},
		{"a stop after a block that was not ours", func(s *Snapshot) { s.Active = true }, "continue 5 c rival"},
		{"a stop after a block that was ours", func(s *Snapshot) { s.Active, s.State.Blocks = true, blocked(1) }, "continue 5 c"},
		{"a stop after a block that was not ours, said before", func(s *Snapshot) { s.Active, s.State.RivalSaid = true, true }, "continue 5 c"},
		{"cleared", func(s *Snapshot) { s.Event, s.Cleared = EventEnd, true }, "release"},

		// First stop of a loop that was made by hand.
		{"no record", func(s *Snapshot) { s.State = State{}; s.Tree = "t" }, "continue 5 c"},
		{"no record, no progress.txt", func(s *Snapshot) { s.State = State{}; s.Header = progress.Header{}; s.Tree = "t" }, "continue 2 c"},
		{"no record, and the log knows more", func(s *Snapshot) { s.State = State{}; s.LogIteration = 9; s.Tree = "t" }, "continue 10 c"},
		{"a record without an owner", func(s *Snapshot) { s.State.Session = "" }, "continue 5 c"},

		// 2. A person stopped it.
		{"cancel file", func(s *Snapshot) { s.CancelFile = true }, "end CANCELLED by_person"},
		{"header says PAUSED", func(s *Snapshot) { s.Header.Status = "PAUSED" }, "end PAUSED by_person"},
		{"header says it in another way", func(s *Snapshot) { s.Header.Status = "Paused (waiting for a key)" }, "end PAUSED by_person"},
		{"header says CANCELED", func(s *Snapshot) { s.Header.Status = "CANCELED" }, "end CANCELLED by_person"},
		{"header says COMPLETE, which nobody believes", func(s *Snapshot) { s.Header.Status = "COMPLETE" }, "continue 5 c"},
		{"header of before our last write is no edit", func(s *Snapshot) {
			s.State.Before.Status = "PAUSED" // as it was before a resume
			s.Header = s.State.Before
		}, "continue 5 c"},
		{"cancelled with the list gone", func(s *Snapshot) { s.CancelFile = true; s.List = List{Missing: true} }, "end CANCELLED by_person"},

		// ralph.json and 3., the list.
		{"ralph.json broken", func(s *Snapshot) { s.ConfigErr = errors.New("x") }, "end FAILED config_invalid"},
		{"a trusted file changed", func(s *Snapshot) { s.Tampered = "x.sh" }, "end BLOCKED config_changed"},
		{"a trusted file changed, and the list is gone", func(s *Snapshot) { s.Tampered, s.List = "x.sh", List{Missing: true} }, "end BLOCKED config_changed"},
		{"list missing", func(s *Snapshot) { s.List = List{Missing: true, Err: errors.New("x")} }, "end FAILED list_missing"},
		{"list empty", func(s *Snapshot) { s.List = List{Err: features.ErrEmpty} }, "end FAILED list_invalid"},
		{"list not readable", func(s *Snapshot) { s.List = List{Err: errors.New("permission denied")} }, "end FAILED list_invalid"},
		{"list broken", func(s *Snapshot) { s.List = List{Err: broken} }, "continue 5 "},
		{"list broken for the third time", func(s *Snapshot) {
			s.List = List{Err: broken}
			s.State.ListDigest, s.State.TreeDigest, s.State.Unchanged, s.Tree = "broken: "+broken.Error(), "t", 2, "t"
		}, "end STAGNATED no_progress"},

		// 4. The agent gives up.
		{"blocked", func(s *Snapshot) { s.Message = "I tried.\n<promise>BLOCKED: no key</promise>\n" }, "end BLOCKED promise_blocked"},
		{"complete, which it is not", func(s *Snapshot) { s.Message = "<promise>COMPLETE</promise>" }, "continue 5 c"},
		{"escalate", func(s *Snapshot) { s.Message = "<promise>ESCALATE</promise>" }, "end ESCALATED promise_escalate"},
		{"blocked with all done", func(s *Snapshot) { s.Message = "<promise>BLOCKED: x</promise>"; s.List = list("xxx") }, "end BLOCKED promise_blocked"},

		// 6. Something runs in the background.
		{"a subagent runs", func(s *Snapshot) { s.Running = []string{"1 subagent"} }, "wait 4"},
		{"with all claimed", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.List = list("xxx") }, "wait 4"},
		{"at the limit", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.State.Iteration = 15 }, "wait 15"},
		{"for less than max_wait", func(s *Snapshot) {
			s.Running = []string{"1 subagent"}
			s.State.WaitingSince = now.Add(-59 * time.Minute)
		}, "wait 4"},
		{"for longer than max_wait", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.State.WaitingSince = now.Add(-time.Hour) }, "continue 5 c"},
		{"max_wait is 0", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.Limits.MaxWait = 0 }, "continue 5 c"},
		{"since a time to come", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.State.WaitingSince = now.Add(48 * time.Hour) }, "wait 4"},
		{"nothing runs any more", func(s *Snapshot) { s.State.WaitingSince = now.Add(-2 * time.Hour) }, "continue 5 c"},
		{"cancelled while waiting", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.CancelFile = true }, "end CANCELLED by_person"},
		{"blocked while waiting", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.Message = "<promise>BLOCKED</promise>" }, "end BLOCKED promise_blocked"},

		// 7. All claimed.
		{"all claimed", func(s *Snapshot) { s.List = list("xxx") }, "end COMPLETE all_features_pass"},
		{"all claimed at the limit", func(s *Snapshot) { s.List = list("xxx"); s.State.Iteration = 15 }, "end COMPLETE all_features_pass"},

		// What is left cannot be worked on.
		{"all that is left is blocked", func(s *Snapshot) { s.List = list("xx!") }, "end BLOCKED all_blocked"},
		{"all of it, from the first on", func(s *Snapshot) { s.List = list("!!!") }, "end BLOCKED all_blocked"},
		{"all that is left is blocked, at the limit", func(s *Snapshot) { s.List = list("xx!"); s.State.Iteration = 15 }, "end BLOCKED all_blocked"},
		{"all that is left is blocked, while a subagent runs", func(s *Snapshot) { s.List, s.Running = list("xx!"), []string{"1 subagent"} }, "wait 4"},
		{"one is blocked", func(s *Snapshot) { s.List = list("x!.") }, "continue 5 c"},
		{"all that is left is blocked, and a check fails", func(s *Snapshot) {
			s.List, s.Checks, s.Results = list("xx!"), []Check{ofEach}, []Receipt{failure("i", "")}
		}, "continue 5  failed i"},
		{"what is blocked is not complete", func(s *Snapshot) { s.List, s.Message = list("xx!"), "<promise>COMPLETE</promise>" }, "end BLOCKED all_blocked"},

		// A tracker's list.
		{"a tracker is asked", func(s *Snapshot) { s.List, s.Unlisted = list("xxx"), true }, "list"},
		{"cancelled before a tracker is asked", func(s *Snapshot) { s.Unlisted, s.CancelFile = true, true }, "end CANCELLED by_person"},
		{"its session ends, without asking", func(s *Snapshot) { s.Event, s.Tail, s.Unlisted = EventEnd, &Tail{}, true }, "end INTERRUPTED session_ended"},

		// Checks.
		{"a newly claimed feature is checked", func(s *Snapshot) { s.Checks = []Check{ofFeature} }, "checks f:a f:b"},
		{"one that was proven before is not", func(s *Snapshot) {
			s.Checks, s.Receipts = []Check{ofFeature}, []Receipt{receipt("f", "a", "old")}
		}, "checks f:b"},
		{"an edited check has no receipts", func(s *Snapshot) {
			s.Checks, s.Receipts = []Check{ofFeature}, []Receipt{receipt("g", "a", "now"), receipt("f", "b", "now")}
		}, "checks f:a"},
		{"a check of other features", func(s *Snapshot) { s.Checks = []Check{{Digest: "f", When: WhenFeature, Features: []string{"c"}}} }, "continue 5 c"},
		{"its check passed", func(s *Snapshot) {
			s.Checks, s.Results = []Check{ofFeature}, []Receipt{receipt("f", "a", "now"), receipt("f", "b", "now")}
		}, "continue 5 c"},
		{"its check failed: it is reopened", func(s *Snapshot) {
			s.Checks, s.Results = []Check{ofFeature}, []Receipt{failure("f", "a"), receipt("f", "b", "now")}
		}, "reopen a"},
		{"its check failed, and the list cannot be written", func(s *Snapshot) {
			s.Checks, s.Results, s.Unwritten = []Check{ofFeature}, []Receipt{receipt("f", "b", "now"), failure("f", "a")}, true
		}, "continue 5 a failed f"},
		{"it was reopened", func(s *Snapshot) {
			s.List, s.Checks, s.Results = list(".x."), []Check{ofFeature}, []Receipt{failure("f", "a"), receipt("f", "b", "now")}
		}, "continue 5 a failed f"},
		{"a check that did not run disproves nothing", func(s *Snapshot) {
			s.Checks, s.Results = []Check{ofFeature}, []Receipt{{Check: "f", Feature: "a", Name: "f", NotRun: true}, receipt("f", "b", "now")}
		}, "continue 5 a failed f"},
		{"checks of one feature each", func(s *Snapshot) {
			s.List, s.Checks = list("x.x"), []Check{{Digest: "1", When: WhenFeature, Features: []string{"c"}}, {Digest: "2", When: WhenFeature, Features: []string{"b", "a"}}}
		}, "checks 1:c 2:a"},

		// Evaluators.
		{"the default, among others", func(s *Snapshot) { s.Evaluators = []Evaluator{byCommand, byDefault} }, "answer 0"},
		{"complete, whoever stands behind it", func(s *Snapshot) {
			s.List, s.Evaluators = list("xxx"), []Evaluator{byDefault, byCommand}
		}, "end COMPLETE all_features_pass"},
		{"a command is asked in its place", func(s *Snapshot) { s.Evaluators = []Evaluator{byDefault, byCommand} }, "answer 1"},
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
			s.Evaluators, s.Answers = []Evaluator{byCommand, byCommand}, []Answer{{Action: AnswerContinue, Prompt: "one"}, {Action: AnswerContinue}}
		}, "continue 5 c answer continue one"},
		{"limits hold whoever is asked", func(s *Snapshot) {
			s.Evaluators, s.Answers, s.State.Iteration = []Evaluator{byCommand}, []Answer{{Action: AnswerContinue}}, 15
		}, "end REACHED_LIMIT max_iterations"},
		{"a promise to be blocked, whoever is asked", func(s *Snapshot) {
			s.Evaluators, s.Message = []Evaluator{byCommand}, "<promise>BLOCKED: why</promise>"
		}, "end BLOCKED promise_blocked"},
		{"the checks alone, before all is claimed", func(s *Snapshot) {
			s.Evaluators, s.Checks = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}
		}, "checks c:"},
		{"they hold", func(s *Snapshot) {
			s.Evaluators, s.Checks, s.Results = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}, []Receipt{receipt("c", "", "now")}
		}, "end COMPLETE all_checks_pass"},
		{"they fail, which is early", func(s *Snapshot) {
			s.Evaluators, s.Checks, s.Results = []Evaluator{{Preset: EvaluateValidation}}, []Check{ofAll}, []Receipt{failure("c", "")}
			s.State.CheckFailures, s.Limits.CheckFailures = 1, 2
		}, "continue 5 c failed c"},
		{"the agent's word alone", func(s *Snapshot) {
			s.Evaluators, s.Message = []Evaluator{{Preset: EvaluatePromise}}, "<promise>COMPLETE</promise>"
		}, "end COMPLETE promise"},
		{"not given", func(s *Snapshot) { s.List, s.Evaluators = list("xxx"), []Evaluator{{Preset: EvaluatePromise}} }, "continue 5 "},
		{"at each stop", func(s *Snapshot) { s.Checks = []Check{ofEach} }, "checks i:"},
		{"at each stop, failed", func(s *Snapshot) { s.Checks, s.Results = []Check{ofEach}, []Receipt{failure("i", "")} }, "continue 5 c failed i"},
		{"not before all are claimed", func(s *Snapshot) { s.Checks = []Check{ofAll} }, "continue 5 c"},
		{"all claimed: the last check", func(s *Snapshot) { s.List, s.Checks = list("xxx"), []Check{ofAll} }, "checks c:"},
		{"all claimed: it failed", func(s *Snapshot) {
			s.List, s.Checks, s.Results = list("xxx"), []Check{ofAll}, []Receipt{failure("c", "")}
		}, "continue 5  failed c"},
		{"all claimed: it passed", func(s *Snapshot) {
			s.List, s.Checks, s.Results = list("xxx"), []Check{ofAll}, []Receipt{receipt("c", "", "now")}
		}, "end COMPLETE all_features_pass"},
		{"all claimed and proven: the contents are asked for", func(s *Snapshot) {
			s.List, s.Checks, s.Receipts, s.Recheck = list("x"), []Check{ofFeature}, []Receipt{receipt("f", "a", "now")}, RecheckStale
		}, "checks"},
		{"all claimed and proven", func(s *Snapshot) {
			s.List, s.Checks, s.Receipts, s.Recheck, s.Contents = list("x"), []Check{ofFeature}, []Receipt{receipt("f", "a", "now")}, RecheckStale, "now"
		}, "end COMPLETE all_features_pass"},
		{"all claimed, one stale", func(s *Snapshot) {
			s.List, s.Checks, s.Recheck, s.Contents = list("xx"), []Check{ofFeature}, RecheckStale, "now"
			s.Receipts = []Receipt{receipt("f", "a", "old"), receipt("f", "b", "now")}
		}, "checks f:a"},
		{"all claimed, one on contents that nobody could read", func(s *Snapshot) {
			s.List, s.Checks, s.Recheck, s.Contents = list("xx"), []Check{ofFeature}, RecheckStale, "unknown"
			s.Receipts = []Receipt{receipt("f", "a", ""), receipt("f", "b", "unknown")}
		}, "checks f:a"},
		{"all claimed, all to be proven again", func(s *Snapshot) {
			s.List, s.Checks, s.Recheck, s.Receipts = list("x"), []Check{ofFeature}, RecheckAll, []Receipt{receipt("f", "a", "now")}
		}, "checks f:a"},
		{"all claimed, nothing proven again", func(s *Snapshot) {
			s.List, s.Checks, s.Recheck, s.Receipts = list("x"), []Check{ofFeature}, RecheckNever, []Receipt{receipt("f", "a", "old")}
		}, "end COMPLETE all_features_pass"},
		{"all claimed at the limit, the last check failed", func(s *Snapshot) {
			s.List, s.Checks, s.Results, s.State.Iteration = list("xxx"), []Check{ofAll}, []Receipt{failure("c", "")}, 15
		}, "end REACHED_LIMIT max_iterations"},
		{"one failure too many", func(s *Snapshot) {
			s.Checks, s.Results, s.State.CheckFailures, s.Limits.CheckFailures = []Check{ofEach}, []Receipt{failure("i", "")}, 1, 2
		}, "end REACHED_LIMIT check_failures"},
		{"failures that are over", func(s *Snapshot) {
			s.Checks, s.Results, s.State.CheckFailures, s.Limits.CheckFailures = []Check{ofEach}, []Receipt{receipt("i", "", "now")}, 9, 2
		}, "continue 5 c"},
		{"failures, and nothing to check", func(s *Snapshot) {
			s.Checks, s.State.CheckFailures, s.Limits.CheckFailures = []Check{ofAll}, 1, 2
		}, "continue 5 c"},

		{"features are gone", func(s *Snapshot) { s.Lost = []string{"x"} }, "continue 5 "},
		{"features are still gone", func(s *Snapshot) { s.Lost, s.State.Warned = []string{"x"}, true }, "end BLOCKED list_changed"},
		{"features are gone, all others are claimed", func(s *Snapshot) { s.List, s.Lost = list("xx"), []string{"c"} }, "continue 5 "},
		{"features are gone at the limit", func(s *Snapshot) { s.Lost, s.State.Iteration = []string{"x"}, 15 }, "end REACHED_LIMIT max_iterations"},
		{"features were put back", func(s *Snapshot) { s.State.Warned = true }, "continue 5 c"},

		// 8. Limits.
		{"at the limit", func(s *Snapshot) { s.State.Iteration = 15 }, "end REACHED_LIMIT max_iterations"},
		{"one below the limit", func(s *Snapshot) { s.State.Iteration = 14 }, "continue 15 c"},
		{"at the limit with a broken list", func(s *Snapshot) { s.State.Iteration = 15; s.List = List{Err: broken} }, "end REACHED_LIMIT max_iterations"},
		{"ralph.json's limit", func(s *Snapshot) { s.Limits.MaxIterations = 4 }, "end REACHED_LIMIT max_iterations"},
		{"ralph.json's limit over the header's", func(s *Snapshot) { s.Limits.MaxIterations = 40; s.State.Iteration = 20 }, "continue 21 c"},
		{"header lowers the limit", func(s *Snapshot) { s.Header.MaxIterations = 4 }, "end REACHED_LIMIT max_iterations"},
		{"header raises the limit", func(s *Snapshot) { s.Header.MaxIterations = 99; s.State.Iteration = 15 }, "end REACHED_LIMIT max_iterations"},
		{"extended", func(s *Snapshot) { s.State.Extended = 20; s.State.Iteration = 15; s.Limits.MaxIterations = 15 }, "continue 16 c"},
		{"header lowers what was extended", func(s *Snapshot) { s.State.Extended = 20; s.Header.MaxIterations = 4 }, "end REACHED_LIMIT max_iterations"},
		{"iteration of the header", func(s *Snapshot) { s.Header.Iteration = 15 }, "end REACHED_LIMIT max_iterations"},
		{"an older header", func(s *Snapshot) { s.Header.Iteration = 1 }, "continue 5 c"},
		{"iteration of the log", func(s *Snapshot) { s.LogIteration = 8 }, "continue 9 c"},

		{"before the deadline", func(s *Snapshot) { s.Limits.Deadline, s.State.StartedAt = time.Hour, now.Add(-59*time.Minute) }, "continue 5 c"},
		{"after the deadline", func(s *Snapshot) { s.Limits.Deadline, s.State.StartedAt = time.Hour, now.Add(-time.Hour) }, "end REACHED_LIMIT deadline"},
		{"after the deadline, waiting", func(s *Snapshot) {
			s.Limits.Deadline, s.State.StartedAt, s.Running = time.Hour, now.Add(-time.Hour), []string{"1 subagent"}
		}, "end REACHED_LIMIT deadline"},
		{"after the deadline, which was extended", func(s *Snapshot) {
			s.Limits.Deadline, s.State.StartedAt, s.State.ExtendedDeadline = time.Hour, now.Add(-time.Hour), 2*time.Hour
		}, "continue 5 c"},
		{"after the person's own ceiling, extended or not", func(s *Snapshot) {
			s.Limits.CeilingDeadline, s.State.StartedAt, s.State.ExtendedDeadline = time.Hour, now.Add(-time.Hour), 2*time.Hour
		}, "end REACHED_LIMIT deadline"},
		{"the person's own ceiling of iterations, extended or not", func(s *Snapshot) {
			s.Limits.CeilingIterations, s.State.Extended = 4, 99
		}, "end REACHED_LIMIT max_iterations"},
		{"the last attempt", func(s *Snapshot) { s.List, s.Tree, s.Limits.FeatureAttempts, s.State.Attempts = list("x.."), "t", 5, 4 }, "continue 5 b"},
		{"one attempt too many", func(s *Snapshot) { s.List, s.Tree, s.Limits.FeatureAttempts, s.State.Attempts = list("x.."), "t", 5, 5 }, "end REACHED_LIMIT feature_attempts"},
		{"many attempts at another feature", func(s *Snapshot) { s.Limits.FeatureAttempts, s.State.Attempts = 5, 5 }, "continue 5 c"},
		{"many attempts at a broken list", func(s *Snapshot) {
			s.List, s.Tree, s.Limits.FeatureAttempts, s.State.Attempts, s.State.Feature = List{Err: broken}, "t", 1, 2, ""
		}, "continue 5 "},
		{"the last iteration of the hour", func(s *Snapshot) {
			s.Limits.IterationsPerHour, s.State.Hour = 2, []int64{now.Add(-time.Hour).Unix(), now.Add(-50 * time.Minute).Unix()}
		}, "continue 5 c"},
		{"one too many in the hour", func(s *Snapshot) {
			s.Limits.IterationsPerHour, s.State.Hour = 2, []int64{now.Add(-50 * time.Minute).Unix(), now.Add(-time.Minute).Unix()}
		}, "end HANDOVER iterations_per_hour 03:10"},
		{"iterations of an hour to come: the clock was set back", func(s *Snapshot) {
			s.Limits.IterationsPerHour, s.State.Hour = 1, []int64{now.Add(time.Minute).Unix()}
		}, "end HANDOVER iterations_per_hour 04:01"},
		{"the session's last feature", func(s *Snapshot) {
			s.Limits.FeaturesPerSession, s.State.SessionPassed, s.State.Passed = 3, 2, 1
		}, "end HANDOVER features_per_session"},
		{"one before the session's last feature", func(s *Snapshot) {
			s.Limits.FeaturesPerSession, s.State.SessionPassed, s.State.Passed = 3, 1, 1
		}, "continue 5 c"},
		{"features that passed before", func(s *Snapshot) {
			s.Limits.FeaturesPerSession, s.State.SessionPassed, s.State.Passed = 3, 2, 2
		}, "continue 5 c"},
		{"the context: the transcript is asked for", func(s *Snapshot) { s.Limits.ContextTokens = 1000 }, "tail"},
		{"room in the context", func(s *Snapshot) { s.Limits.ContextTokens, s.Tail = 1000, &Tail{Context: 999} }, "continue 5 c"},
		{"the transcript does not tell of the context", func(s *Snapshot) {
			s.Limits.ContextTokens, s.State.Context, s.Tail = 1000, 1000, &Tail{Context: -1}
		}, "end HANDOVER context_tokens"},
		{"no room in the context", func(s *Snapshot) { s.Limits.ContextTokens, s.Tail = 1000, &Tail{Context: 1000} }, "end HANDOVER context_tokens"},

		// The host's cap on blocks in a row without a tool call.
		{"two before the cap", func(s *Snapshot) { s.Active, s.BlockCap, s.State.Blocks = true, 8, blocked(6) }, "continue 5 c"},
		{"one before the cap: the transcript is asked for", func(s *Snapshot) { s.Active, s.BlockCap, s.State.Blocks, s.Limits.Stagnation = true, 8, blocked(7), 0 }, "tail"},
		{"one before the cap", func(s *Snapshot) {
			s.Active, s.BlockCap, s.State.Blocks, s.Tail, s.Limits.Stagnation = true, 8, blocked(7), &Tail{}, 0
		}, "end STAGNATED no_tool_use"},
		{"one before the cap, and a tool call before the turn", func(s *Snapshot) {
			s.Active, s.BlockCap, s.State.Blocks, s.Tail, s.Limits.Stagnation = true, 8, blocked(7), &Tail{ToolCall: now.Add(-8 * time.Minute)}, 0
		}, "end STAGNATED no_tool_use"},
		{"one before the cap, and a tool call since", func(s *Snapshot) {
			s.Active, s.BlockCap, s.State.Blocks, s.Tail, s.Limits.Stagnation = true, 8, blocked(7), &Tail{ToolCall: now.Add(-6*time.Minute - time.Second)}, 0
		}, "continue 5 c"},
		{"one before the cap, and a feature came to pass", func(s *Snapshot) {
			s.Active, s.BlockCap, s.State.Blocks, s.State.Passed, s.Limits.Stagnation = true, 8, blocked(7), 1, 0
		}, "continue 5 c"},
		{"one before the cap, and the list has changed", func(s *Snapshot) {
			s.Active, s.BlockCap, s.State.Blocks, s.Tail = true, 8, blocked(7), &Tail{}
		}, "continue 5 c"},
		{"one before the cap, by a clock that was set back", func(s *Snapshot) {
			s.Active, s.BlockCap, s.State.Blocks, s.Now, s.Tail, s.Limits.Stagnation = true, 8, blocked(7), now.Add(-time.Hour), &Tail{}, 0
		}, "continue 5 c"},
		{"one before the cap, in another turn", func(s *Snapshot) { s.BlockCap, s.State.Blocks = 8, blocked(7) }, "continue 5 c"},
		{"a cap of one", func(s *Snapshot) { s.BlockCap = 1 }, "continue 5 c"},
		{"a cap of one, and one block", func(s *Snapshot) {
			s.Active, s.BlockCap, s.State.Blocks, s.Tail, s.Limits.Stagnation = true, 1, blocked(1), &Tail{}, 0
		}, "end STAGNATED no_tool_use"},
		{"no cap", func(s *Snapshot) { s.Active, s.State.Blocks = true, blocked(99) }, "continue 5 c"},

		// Stagnation.
		{"nothing in the list: the tree is asked for", func(s *Snapshot) { s.List = list("x..") }, "tree"},
		{"the first sample of the tree", func(s *Snapshot) { s.List = list("x.."); s.Tree = "t" }, "continue 5 b"},
		{"the tree moved", func(s *Snapshot) { s.List = list("x.."); s.Tree = "t"; s.State.TreeDigest, s.State.Unchanged = "u", 2 }, "continue 5 b"},
		{"the second sample", func(s *Snapshot) { s.List = list("x.."); s.Tree = "t"; s.State.TreeDigest, s.State.Unchanged = "t", 1 }, "continue 5 b"},
		{"the third sample", func(s *Snapshot) { s.List = list("x.."); s.Tree = "t"; s.State.TreeDigest, s.State.Unchanged = "t", 2 }, "end STAGNATED no_progress"},
		{"off", func(s *Snapshot) { s.List = list("x.."); s.Limits.Stagnation = 0; s.State.Unchanged = 99 }, "continue 5 b"},
		{"at the limit no tree is needed", func(s *Snapshot) { s.List = list("x.."); s.State.Iteration = 15 }, "end REACHED_LIMIT max_iterations"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := base()
			tc.edit(&s)
			d, need := Decide(s)
			got := d.Word() + string(need.Kind)
			switch d.Verdict {
			case End:
				got += " " + string(d.Next.Status) + " " + d.Next.ExitReason
				if !d.Next.RetryAt.IsZero() {
					got += d.Next.RetryAt.Format(" 15:04")
				}
				if d.Next.Endings != s.State.Endings+1 || d.Next.EndedAt != now {
					t.Errorf("ending %d at %v", d.Next.Endings, d.Next.EndedAt)
				}
			case Wait:
				got += " " + strconv.Itoa(d.Next.Iteration)
			case Continue:
				got += " " + strconv.Itoa(d.Next.Iteration) + " " + d.Feature.ID
				if d.Failure != nil {
					got += " failed " + d.Failure.Name
				}
				if a := d.Answer; a != nil {
					got += strings.TrimRight(" answer "+a.Action+" "+a.Prompt, " ")
				}
			}
			switch need.Kind {
			case NeedAnswer:
				got += " " + strconv.Itoa(need.Evaluator)
			case NeedChecks:
				for _, run := range need.Runs {
					got += " " + run.Check.Digest + ":" + run.Feature
				}
			case NeedReopen:
				got += " " + strings.Join(need.Reopen, " ")
			}
			if d.Rival {
				got += " rival"
			}
			if d.Refusal != "" {
				got += " " + d.Refusal
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if (d.Verdict == "") != (need.Kind != NeedNothing) {
				t.Errorf("the verdict is %q and the need %q", d.Verdict, need.Kind)
			}
			if d.Verdict != "" && d.Commits() && d.Next.Header != Face(d.Next, d.Limit) {
				t.Errorf("header %+v", d.Next.Header)
			}
		})
	}
}

func TestDecideKeepsCount(t *testing.T) {
	s := base()
	d, _ := Decide(s)
	if d.Next.Feature != "c" || d.Next.Attempts != 1 {
		t.Errorf("a new feature has %d attempts", d.Next.Attempts)
	}
	s.List = list("x..")
	s.Tree = "t"
	if d, _ = Decide(s); d.Next.Attempts != 2 {
		t.Errorf("the same feature has %d attempts, want 2", d.Next.Attempts)
	}
	s.List.Err = broken
	if d, _ = Decide(s); d.Next.Feature != "b" || d.Next.Attempts != 1 {
		t.Errorf("a broken list made it attempt %d at %q", d.Next.Attempts, d.Next.Feature)
	}
	s.List.Err = nil
	if d, _ = Decide(s); d.Next.Iteration != 5 || d.Next.SessionPassed != 0 {
		t.Errorf("iteration %d, %d passed", d.Next.Iteration, d.Next.SessionPassed)
	}
	h := s
	h.Event, h.Marked, h.Session, h.State.Status, h.Limits.IterationsPerHour = EventPrompt, true, "t", Handover, 9
	if d, _ = Decide(h); d.Next.Iteration != 5 || len(d.Next.Hour) != 1 {
		t.Errorf("a prompt after a handover: iteration %d, %d in the hour", d.Next.Iteration, len(d.Next.Hour))
	}
	h.State.Status, h.Session, h.State.Passed, h.Event, h.Marked = Interrupted, "s", 0, EventPrompt, false
	if d, _ = Decide(h); d.Next.SessionPassed != 1 || d.Next.Attempts != 1 || d.Next.Iteration != 4 {
		t.Errorf("a prompt after an interruption: %d passed, attempt %d, iteration %d", d.Next.SessionPassed, d.Next.Attempts, d.Next.Iteration)
	}
	s.Header.MaxIterations = 99
	if d, _ = Decide(s); d.Raised != 99 || d.Limit != 15 {
		t.Errorf("raised %d, limit %d", d.Raised, d.Limit)
	}
}

func TestPromise(t *testing.T) {
	own := []Promise{{Complete, regexp.MustCompile(`^(?:ALL DONE)$`)}, {Escalated, regexp.MustCompile(`^(?:HELP: (.*))$`)}}
	for message, want := range map[string]string{
		"<promise>BLOCKED: why</promise>":               "BLOCKED why",
		"text\n\n<promise>BLOCKED</promise>  \r\n\n":    "BLOCKED ",
		"<promise>ESCALATE : a: b</promise>":            "ESCALATED a: b",
		"```\ncode\n```\n<promise>BLOCKED: x</promise>": "BLOCKED x",
		"":                                    " ",
		"<promise>BLOCKED: x</promise>\nmore": " ",
		"say <promise>BLOCKED</promise>":      " ",
		"  <promise>BLOCKED</promise>":        " ",
		"> <promise>BLOCKED</promise>":        " ",
		"```\n<promise>BLOCKED</promise>":     " ",
		"`<promise>BLOCKED</promise>`":        " ",
		"<promise>COMPLETE</promise>":         "COMPLETE ",
		"x\nRALPH_STATUS: COMPLETE\n":         "COMPLETE ",
		"EXIT_SIGNAL: true":                   "COMPLETE ",
		"EXIT_SIGNAL: false":                  " ",
		"```\nEXIT_SIGNAL: true":              " ",
		"<promise>blocked</promise>":          " ",

		"~~~\ncode\n~~~\n<promise>BLOCKED: x</promise>":      "BLOCKED x",
		"````\n```\n````\n<promise>BLOCKED: x</promise>":     "BLOCKED x",
		"````\n```\n<promise>BLOCKED: x</promise>":           " ",
		"```\n~~~\n<promise>BLOCKED: x</promise>":            " ",
		"```sh\ncode\n``` x\n<promise>BLOCKED: x</promise>":  " ",
		"```a`b``` is code\n<promise>BLOCKED: x</promise>":   "BLOCKED x",
		"```\n    ```\n<promise>BLOCKED: x</promise>":        " ",
		"> you wrote:\n<promise>BLOCKED: x</promise>":        " ",
		"> you wrote\nthe words\n<promise>BLOCKED</promise>": " ",
		"> you wrote\n\n<promise>BLOCKED: x</promise>":       "BLOCKED x",
		"Should I say <promise>COMPLETE</promise>?":          " ",
		"\"<promise>COMPLETE</promise>\"":                    " ",
		"ALL DONE":                                           "COMPLETE ", "HELP: the key": "ESCALATED the key", "not ALL DONE": " ", "```\nALL DONE": " ",
	} {
		snap := Snapshot{Message: message, Promises: own}
		status, why := snap.promise()
		if got := string(status) + " " + why; got != want {
			t.Errorf("promise(%q) = %q, want %q", message, got, want)
		}
	}
}
