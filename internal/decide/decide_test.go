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

// base returns a loop of session s at iteration 4 of 15. Two of its three features pass,
// one of them since the last stop.
func base() Snapshot {
	header := progress.Header{Status: "IN_PROGRESS", Iteration: 4, MaxIterations: 15, Feature: "b"}
	return Snapshot{
		Found:  Found{Trees: []string{}},
		Report: Report{Event: EventStop, Session: "s"},
		Folder: Folder{Header: header, State: State{
			Schema:    SchemaVersion,
			Ending:    Ending{Status: InProgress, StartedAt: now.Add(-time.Hour)},
			Counted:   Counted{Iteration: 4, Passed: 2, ListDigest: list("x..").Digest(), Unchanged: 1},
			Owner:     Owner{Session: "s"},
			Work:      Work{Feature: "b"},
			Allowance: Allowance{Allowed: 15},
			Headers: Headers{
				Header: header,
				Before: progress.Header{Status: "IN_PROGRESS", Iteration: 3, MaxIterations: 15, Feature: "a"},
			},
		}},
		Listed: Listed{List: list("xx.")},
		Now:    now,
		Rules:  Rules{Limits: Limits{Stagnation: 3, MaxWait: time.Hour}},
	}
}

// blocked returns the times of n blocks of this turn, a minute apart.
func blocked(n int) (times []int64) {
	for i := range n {
		times = append(times, now.Add(time.Duration(i-n)*time.Minute).UnixMilli())
	}
	return times
}

// Checks for the rows of the tables: of every feature, of the whole tree when a feature is claimed
// and when every feature is, and of the whole tree at each stop.
var (
	ofFeature = Check{Name: "f", Digest: "f", When: WhenClaim, PerClaim: true}
	ofClaims  = Check{Name: "w", Digest: "w", When: WhenClaim}
	ofAll     = Check{Name: "c", Digest: "c", When: WhenEnd}
	ofEach    = Check{Name: "i", Digest: "i", When: WhenStop}
)

// Evaluators for the rows of the tables.
var byDefault, byCommand = Evaluator{Preset: EvaluateDefault}, Evaluator{Name: "review"}

// receipt returns one of a check that passed on the contents tree.
func receipt(check, feature, tree string) Receipt {
	return Receipt{Check: check, Feature: feature, Tree: tree, Passed: true}
}

// failure returns one of a check that failed.
func failure(check, feature string) Receipt {
	return Receipt{Check: check, Feature: feature, Name: check}
}

// notRun returns one of a check that did not run.
func notRun(check, feature string) Receipt {
	return Receipt{Check: check, Feature: feature, Name: check, NotRun: true}
}

// broken is a list that does not parse.
var broken error = jsontext.ErrorAt([]byte("[\n}"), 2, "no")

// row is a snapshot, which is base with an edit, and the decision that it must lead to.
type row struct {
	name string
	edit func(*Snapshot)
	want string // what shown returns
}

// stopRows are decisions at a stop. Those of checks and limits have tables of their own.
var stopRows = []row{
	{"next feature", func(*Snapshot) {}, "continue 5 c"},

	// The event does not concern the loop.
	{"another event", func(s *Snapshot) { s.Event = "SubagentStop" }, "pass"},
	{"no session id", func(s *Snapshot) { s.Session = "" }, "pass"},
	{"another session", func(s *Snapshot) { s.Session = "t" }, "pass"},
	{"a subagent", func(s *Snapshot) { s.IsIgnored = true }, "pass"},
	{"a stop that another hook is at the checks of", func(s *Snapshot) { s.DuplicateStop = true }, "pass"},
	{"plan mode", func(s *Snapshot) { s.IsIgnored = true }, "pass"},
	{"it has ended", func(s *Snapshot) { s.State.Status = Complete }, "pass"},
	{"it is paused", func(s *Snapshot) { s.State.Status = Paused }, "pass"},
	{"a fresh clone", func(s *Snapshot) { s.State = State{}; s.Brought = "a clone" }, "pass"},
	{"no record, and the header says it is over", func(s *Snapshot) {
		s.State = State{}
		s.Header.Status = "COMPLETE"
	}, "pass"},

	// The first stop of a loop that a person made by hand.
	{"no record", func(s *Snapshot) { s.State = State{}; s.Tree = "t" }, "continue 5 c"},
	{"no record, no progress.txt", func(s *Snapshot) {
		s.State = State{}
		s.Header = progress.Header{}
		s.Tree = "t"
	}, "continue 2 c"},
	{"no record, and the log knows more", func(s *Snapshot) {
		s.State = State{}
		s.LogIteration = 9
		s.Tree = "t"
	}, "continue 10 c"},
	{"a record without an owner", func(s *Snapshot) { s.State.Session = "" }, "continue 5 c"},

	// A person stopped the loop.
	{"cancel file", func(s *Snapshot) { s.Requested = Cancelled }, "end CANCELLED by_person"},
	{"header says PAUSED", func(s *Snapshot) { s.Header.Status = "PAUSED" }, "end PAUSED by_header"},
	{"header says it in another way", func(s *Snapshot) {
		s.Header.Status = "Paused (waiting for a key)"
	}, "end PAUSED by_header"},
	{"header says CANCELED", func(s *Snapshot) { s.Header.Status = "CANCELED" }, "end CANCELLED by_header"},
	{"header says COMPLETE, which nobody believes", func(s *Snapshot) { s.Header.Status = "COMPLETE" }, "continue 5 c"},
	{"header of before our last write is no edit", func(s *Snapshot) {
		s.State.Before.Status = "PAUSED" // as it was before a resume
		s.Header = s.State.Before
	}, "continue 5 c"},
	{"cancelled with the list gone", func(s *Snapshot) {
		s.Requested = Cancelled
		s.List = List{Missing: true}
	}, "end CANCELLED by_person"},

	// ralph.json and the list.
	{"ralph.json broken", func(s *Snapshot) { s.ConfigErr = errors.New("x") }, "end FAILED unusable"},
	{"list missing", func(s *Snapshot) { s.List = List{Missing: true, Err: errors.New("x")} },
		"end FAILED unusable"},
	{"list empty", func(s *Snapshot) { s.List = List{Err: features.ErrEmpty} }, "end FAILED unusable"},
	{"list not readable", func(s *Snapshot) {
		s.List = List{Err: errors.New("permission denied")}
	}, "end FAILED unusable"},
	{"list broken", func(s *Snapshot) { s.List = List{Err: broken} }, "continue 5 "},
	{"list broken for the third time", func(s *Snapshot) {
		s.List = List{Err: broken}
		s.State.ListDigest, s.State.TreeDigest, s.State.Unchanged, s.Tree = "broken: "+broken.Error(), "t", 2, "t"
	}, "end STAGNATED no_progress"},

	// The agent promises.
	{"blocked", func(s *Snapshot) {
		s.Message = "I tried.\n<promise>BLOCKED: no key</promise>\n"
	}, "end BLOCKED asks"},
	{"complete, which it is not", func(s *Snapshot) { s.Message = "<promise>COMPLETE</promise>" }, "continue 5 c"},
	{"escalate", func(s *Snapshot) { s.Message = "<promise>ESCALATE</promise>" }, "end ESCALATED asks"},
	{"blocked with all done", func(s *Snapshot) {
		s.Message = "<promise>BLOCKED: x</promise>"
		s.List = list("xxx")
	}, "end BLOCKED asks"},

	// Something runs in the background.
	{"a subagent runs", func(s *Snapshot) { s.Running = []string{"1 subagent"} }, "wait 4"},
	{"with all claimed", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.List = list("xxx") }, "wait 4"},
	{"at the limit", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.State.Iteration = 15 }, "wait 15"},
	{"for less than max_wait", func(s *Snapshot) {
		s.Running = []string{"1 subagent"}
		s.State.WaitingSince = now.Add(-59 * time.Minute)
	}, "wait 4"},
	{"for longer than max_wait", func(s *Snapshot) {
		s.Running = []string{"1 subagent"}
		s.State.WaitingSince = now.Add(-time.Hour)
	}, "continue 5 c"},
	{"max_wait is 0", func(s *Snapshot) { s.Running = []string{"1 subagent"}; s.Limits.MaxWait = 0 }, "continue 5 c"},
	{"since a time to come", func(s *Snapshot) {
		s.Running = []string{"1 subagent"}
		s.State.WaitingSince = now.Add(48 * time.Hour)
	}, "wait 4"},
	{"nothing runs any more", func(s *Snapshot) { s.State.WaitingSince = now.Add(-2 * time.Hour) }, "continue 5 c"},
	{"cancelled while waiting", func(s *Snapshot) {
		s.Running = []string{"1 subagent"}
		s.Requested = Cancelled
	}, "end CANCELLED by_person"},
	{"blocked while waiting", func(s *Snapshot) {
		s.Running = []string{"1 subagent"}
		s.Message = "<promise>BLOCKED</promise>"
	}, "end BLOCKED asks"},

	// Every feature is claimed.
	{"all claimed", func(s *Snapshot) { s.List = list("xxx") }, "end COMPLETE all_features_pass"},
	{"all claimed at the limit", func(s *Snapshot) {
		s.List = list("xxx")
		s.State.Iteration = 15
	}, "end COMPLETE all_features_pass"},

	// The agent cannot work on what is open.
	{"all that is left is blocked", func(s *Snapshot) { s.List = list("xx!") }, "end BLOCKED all_blocked"},
	{"all of it, from the first on", func(s *Snapshot) { s.List = list("!!!") }, "end BLOCKED all_blocked"},
	{"all that is left is blocked, at the limit", func(s *Snapshot) {
		s.List = list("xx!")
		s.State.Iteration = 15
	}, "end BLOCKED all_blocked"},
	{"all that is left is blocked, while a subagent runs", func(s *Snapshot) {
		s.List, s.Running = list("xx!"), []string{"1 subagent"}
	}, "wait 4"},
	{"one is blocked", func(s *Snapshot) { s.List = list("x!.") }, "continue 5 c"},
	{"all that is left is blocked, and a check fails", func(s *Snapshot) {
		s.List, s.Checks, s.Results = list("xx!"), []Check{ofEach}, []Receipt{failure("i", "")}
	}, "continue 5  failed i"},
	{"what is blocked is not complete", func(s *Snapshot) {
		s.List, s.Message = list("xx!"), "<promise>COMPLETE</promise>"
	}, "end BLOCKED all_blocked"},

	// The list of a tracker.
	{"a tracker is asked", func(s *Snapshot) { s.List, s.ListIsOld = list("xxx"), true }, "list"},
	{"cancelled before a tracker is asked", func(s *Snapshot) {
		s.ListIsOld, s.Requested = true, Cancelled
	}, "end CANCELLED by_person"},
	{"its session ends, without asking", func(s *Snapshot) {
		s.Event, s.Tail, s.ListIsOld = EventEnd, &Tail{}, true
	}, "end INTERRUPTED session_ended"},
}

func TestDecide(t *testing.T) { testRows(t, stopRows) }

// testRows compares the decision of each row with what the row wants.
func testRows(t *testing.T, rows []row) {
	for _, tc := range rows {
		t.Run(tc.name, func(t *testing.T) {
			s := base()
			tc.edit(&s)
			if len(s.Results) > 0 && s.Contents == "" {
				s.Contents = "now" // as whoever runs checks finds them
			}
			d, need := Decide(s)
			if got := inWords(d, need); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if d.Verdict == End && (d.Next.Endings != s.State.Endings+1 || d.Next.EndedAt != now) {
				t.Errorf("ending %d at %v", d.Next.Endings, d.Next.EndedAt)
			}
			if (d.Verdict == "") != (need.Kind != NeedNothing) {
				t.Errorf("the verdict is %q and the need %q", d.Verdict, need.Kind)
			}
			if d.Verdict != "" && d.Commits() && d.Next.Header != HeaderOf(d.Next, d.Limit) {
				t.Errorf("header %+v", d.Next.Header)
			}
		})
	}
}

// inWords returns a decision in words: the verdict or the binding, then the status and
// the reason of an ending, the iteration and the feature of a block, or what is needed.
func inWords(d Decision, need Need) string {
	got := d.Word() + string(need.Kind)
	switch d.Verdict {
	case End:
		got += " " + string(d.Next.Status) + " " + d.Next.ExitReason
		if !d.Next.RetryAt.IsZero() {
			got += d.Next.RetryAt.Format(" 15:04")
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
	if d.WarnOtherHook {
		got += " rival"
	}
	if d.Refusal != "" {
		got += " " + d.Refusal
	}
	return got
}

func TestDecideKeepsCount(t *testing.T) {
	s := base()
	d, _ := Decide(s)
	if d.Next.Feature != "c" || d.Next.Attempt() != 1 {
		t.Errorf("a new feature has attempt %d", d.Next.Attempt())
	}
	s.List = list("x..")
	s.Tree = "t"
	d, _ = Decide(s)
	if d.Next.Feature != "b" || d.Next.Attempt() != 1 {
		t.Errorf("a stop without a claim made it attempt %d", d.Next.Attempt())
	}
	fresh := s
	fresh.FreshSession = true
	d, _ = Decide(fresh)
	if d.Next.Feature != "b" || d.Next.Attempt() != 2 {
		t.Errorf("a fresh session without a claim made it attempt %d, want 2", d.Next.Attempt())
	}
	s.List.Err = broken
	d, _ = Decide(s)
	if d.Next.Feature != "b" || d.Next.Attempt() != 1 {
		t.Errorf("a broken list made it attempt %d at %q", d.Next.Attempt(), d.Next.Feature)
	}
	s.List.Err = nil
	d, _ = Decide(s)
	if d.Next.Iteration != 5 || d.Next.SessionPassed != 0 {
		t.Errorf("iteration %d, %d passed", d.Next.Iteration, d.Next.SessionPassed)
	}
	h := s
	h.Event, h.Marked, h.Session, h.State.Status, h.Limits.IterationsPerHour = EventPrompt, true, "t", Handover, 9
	d, _ = Decide(h)
	if d.Next.Iteration != 5 || len(d.Next.Hour) != 1 {
		t.Errorf("a prompt after a handover: iteration %d, %d in the hour", d.Next.Iteration, len(d.Next.Hour))
	}
	h.State.Status, h.Session, h.State.Passed, h.Event, h.Marked = Interrupted, "s", 0, EventPrompt, false
	d, _ = Decide(h)
	if d.Next.SessionPassed != 1 || d.Next.Attempt() != 1 || d.Next.Iteration != 4 {
		t.Errorf("a prompt after an interruption: %d passed, attempt %d, iteration %d",
			d.Next.SessionPassed, d.Next.Attempt(), d.Next.Iteration)
	}
}

func TestStatusBlock(t *testing.T) {
	const end = "\n---END_RALPH_STATUS---"
	for lines, want := range map[string]string{
		"STATUS: COMPLETE\nFILES_MODIFIED: 2\nEXIT_SIGNAL: true\nRECOMMENDATION: none" + end: "COMPLETE ",

		"EXIT_SIGNAL: true":                                                "COMPLETE ",
		"EXIT_SIGNAL: true" + end + " \r\n\n":                              "COMPLETE ",
		"EXIT_SIGNAL: TRUE\nSTATUS: COMPLETE" + end:                        "COMPLETE ",
		"STATUS: COMPLETE" + end:                                           " ",
		"STATUS: COMPLETE\nEXIT_SIGNAL: false" + end:                       " ",
		"STATUS: IN_PROGRESS\nEXIT_SIGNAL: true" + end:                     " ",
		"EXIT_SIGNAL: true\nEXIT_SIGNAL: false" + end:                      " ",
		"EXIT_SIGNAL: false\nEXIT_SIGNAL: true" + end:                      " ",
		"EXIT_SIGNAL: true" + end + "\nmore":                               " ",
		"EXIT_SIGNAL: true" + end + "\n```":                                " ",
		"STATUS: BLOCKED\nEXIT_SIGNAL: false\nRECOMMENDATION: a key" + end: "BLOCKED a key",
		"EXIT_SIGNAL: true\n<promise>BLOCKED: x</promise>":                 "BLOCKED x",

		"EXIT_SIGNAL: true" + end + "\nno\n---RALPH_STATUS---\nEXIT_SIGNAL: false" + end: " ",
	} {
		for before, counts := range map[string]bool{
			"": true, "Done.\n\n": true, "```\n": false, "~~~ text\n": false, "> ": false, "    ": false, "So: ": false,
		} {
			s := Snapshot{Report: Report{Message: before + "---RALPH_STATUS---\n" + lines}}
			status, why := ReadPromise(s.Message, s.Promises)
			if got := string(status) + " " + why; counts && got != want || !counts && got == "COMPLETE " {
				t.Errorf("%q: %q, want %q", s.Message, got, want)
			}
		}
	}
	s := Snapshot{Report: Report{Message: "EXIT_SIGNAL: true" + end}}
	if status, _ := ReadPromise(s.Message, s.Promises); status != "" {
		t.Errorf("a block without a beginning: %s", status)
	}
}

func TestPromise(t *testing.T) {
	own := []Promise{{Complete, regexp.MustCompile(`^(?:ALL DONE)$`)},
		{Escalated, regexp.MustCompile(`^(?:HELP: (.*))$`)}}
	for message, want := range map[string]string{
		"<promise>BLOCKED: why</promise>":               "BLOCKED why",
		"text\n\n<promise>BLOCKED</promise>  \r\n\n":    "BLOCKED ",
		"<promise>ESCALATE : a: b</promise>":            "ESCALATED a: b",
		"```\ncode\n```\n<promise>BLOCKED: x</promise>": "BLOCKED x",
		"":                                                   " ",
		"<promise>BLOCKED: x</promise>\nmore":                " ",
		"say <promise>BLOCKED</promise>":                     "BLOCKED ",
		"  <promise>BLOCKED</promise>":                       "BLOCKED ",
		"> <promise>BLOCKED</promise>":                       " ",
		"```\n<promise>BLOCKED</promise>":                    " ",
		"`<promise>BLOCKED</promise>`":                       "BLOCKED ",
		"**<promise>BLOCKED: x</promise>.**":                 "BLOCKED x",
		"a <promise>x</promise> <promise>COMPLETE</promise>": "COMPLETE ",
		"> say <promise>BLOCKED</promise>":                   " ",
		"so " + EndWith + ":\n<promise>COMPLETE</promise>":   " ",
		EndWith + ",\nand why:\n<promise>BLOCKED</promise>":  " ",
		EndWith + "\n\nDone.\n<promise>COMPLETE</promise>":   "COMPLETE ",
		"<promise>BLOCKED</promise> I say":                   " ",
		"<promise>COMPLETE</promise>":                        "COMPLETE ",
		"x\nRALPH_STATUS: COMPLETE\n":                        "COMPLETE ",
		"EXIT_SIGNAL: true":                                  " ",
		"done\n\nEXIT_SIGNAL: true\n":                        " ",
		"EXIT_SIGNAL: false":                                 " ",
		"```\nEXIT_SIGNAL: true":                             " ",
		"<promise>blocked</promise>":                         " ",

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
		"ALL DONE":                                           "COMPLETE ",
		"HELP: the key":                                      "ESCALATED the key",
		"not ALL DONE":                                       " ",
		"```\nALL DONE":                                      " ",
	} {
		snap := Snapshot{Report: Report{Message: message}, Rules: Rules{Promises: own}}
		status, why := ReadPromise(snap.Message, snap.Promises)
		if got := string(status) + " " + why; got != want {
			t.Errorf("promise(%q) = %q, want %q", message, got, want)
		}
	}
}
