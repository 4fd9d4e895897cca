package run

import (
	"cmp"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// newChain returns a chain whose steps are those of a definition. agents has what differs for an agent.
func newChain(t *testing.T, text string, hasList bool, agents map[string]record.Step) *record.Chain {
	t.Helper()
	c, err := chain.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var steps []record.Step
	for _, one := range c {
		step := agents[one.Agent]
		step.Step = one
		steps = append(steps, step)
	}
	return record.NewChain(steps, hasList)
}

// TestNewChain says of some chains which steps have a job (j), work on the loop (L), or come after that (a).
func TestNewChain(t *testing.T) {
	all := map[string]record.Step{
		"planner":  {Prompt: true},
		"reviewer": {Prompt: true, CompleteOn: []string{record.Marker}},
		"tester":   {CompleteOn: []string{record.ExitCode}},
		"checked":  {Checks: []string{"true"}},
	}
	for text, want := range map[string][2]string{ // with a list, and without one
		"builder:1":                            {"L", "L"},
		"planner:1":                            {"L", "L"},
		"reviewer:1":                           {"a", "a"},
		"planner:1 -> builder:1":               {"jL", "jL"},
		"builder:1 -> builder:1":               {"La", "La"},
		"builder:1 -> planner:1":               {"La", "La"},
		"planner:1 -> planner:1":               {"jL", "jL"},
		"checked:1 -> checked:1":               {"La", "jL"},
		"builder:1 -> reviewer:1":              {"La", "La"},
		"planner:1 -> builder:1 -> reviewer:1": {"jLa", "jLa"},
		"planner:1 -> reviewer:1 -> tester:1":  {"jja", "jja"},
		"planner:1 -> checked:1 -> tester:1":   {"jLa", "jja"},
		"reviewer:1 -> tester:1":               {"ja", "ja"},
		"builder:1 -> tester:1 -> builder:1":   {"Laa", "Laa"},
		"builder:1 <-> builder:2":              {"Lr", "Lr"},
		"planner:1 -> planner:1 <-> tester:2":  {"jLr", "jLr"},
		"tester:1 <-> reviewer:2 -> builder:1": {"ara", "ara"},
	} {
		for i, hasList := range []bool{true, false} {
			got := ""
			for _, step := range newChain(t, text, hasList, all).Steps {
				switch {
				case step.Reviews:
					got += "r"
				case step.Job:
					got += "j"
				case step.Loop:
					got += "L"
				default:
					got += "a"
				}
			}
			if got != want[i] {
				t.Errorf("%s, with a list %v: %s, want %s", text, hasList, got, want[i])
			}
		}
	}
}

// TestRoles says which built-in prompt each step of a chain gets; "-": none.
func TestRoles(t *testing.T) {
	for text, want := range map[string]string{
		"planner:1 -> builder:1 -> tester:1":           "planner builder tester",
		"planner:1 -> claude:1 -> reviewer:1":          "planner - reviewer",
		"planner:1 -> tester:1":                        "planner builder",
		"tester:1 -> reviewer:1 -> builder:1":          "- - builder",
		"builder:1 -> builder:1 -> planner:1":          "builder builder -",
		"builder:1 <-> tester:2 -> reviewer:1":         "builder tester reviewer",
		"planner:1 -> tester:1 <-> planner:2":          "planner builder reviewer",
		"builder:1 -> claude:1 <-> reviewer:2":         "- - reviewer",
		"planner:1 -> own:1 <-> builder:2 -> claude:1": "planner - reviewer -",
	} {
		got := ""
		for _, step := range newChain(t, text, true, map[string]record.Step{"own": {Prompt: true}}).Steps {
			got += " " + cmp.Or(step.Role, "-")
		}
		if got != " "+want {
			t.Errorf("%s:%s, want %s", text, got, want)
		}
	}
	own := newChain(t, "builder:1 -> tester:1", true,
		map[string]record.Step{"builder": {Prompt: true}, "tester": {Prompt: true}})
	if first := own.Steps[0]; !first.Loop || first.Role != "" || own.Steps[1].Role != "" {
		t.Errorf("with prompts of their own: %+v", own.Steps)
	}
}

// TestMoves judges steps by their own part and by the loop.
func TestMoves(t *testing.T) {
	complete := decide.State{Ending: decide.Ending{Status: decide.Complete}}
	open := decide.State{Ending: decide.Ending{Status: decide.InProgress}}
	held := decide.State{Ending: decide.Ending{Status: decide.InProgress, WasComplete: true}}
	limit := decide.State{Ending: decide.Ending{Status: decide.ReachedLimit}}
	done, notDone := &record.Part{Done: true}, &record.Part{}
	for _, tc := range []struct {
		name  string
		arrow string // before the last two steps
		at    int    // 0: a job, 1: works on the loop, 2: comes after it or reviews it, 3: comes after it
		part  *record.Part
		state decide.State
		moves int
	}{
		{"a job is done", "->", 0, done, open, 1},
		{"a job is not done", "->", 0, notDone, open, 0},
		{"a job that nobody judged", "->", 0, nil, open, 0},
		{"the loop is complete", "->", 1, done, held, 1},
		{"the loop is complete, and a check of the step fails", "->", 1, notDone, held, 0},
		{"the loop is not complete", "->", 1, done, open, 0},
		{"a step in the middle says that it is done", "->", 2, done, open, 0},
		{"all is done", "->", 3, done, complete, 1},
		{"the last step says that it is done", "->", 3, done, open, 0},
		{"the chain is over", "->", 4, done, complete, 0},
		{"a review leaves features open", "<->", 2, done, open, -1},
		{"a review leaves features open at a limit", "<->", 2, done, limit, -1},
		{"a review is not done", "<->", 2, notDone, open, 0},
		{"a review is not done, and the loop is complete", "<->", 2, notDone, held, 0},
		{"a review that nobody judged", "<->", 2, nil, open, 0},
		{"a review leaves nothing open", "<->", 2, done, held, 1},
	} {
		r := Run{Record: record.Run{Chain: newChain(t, "planner:1 -> builder:1 "+tc.arrow+" reviewer:2 -> reviewer:1", true,
			map[string]record.Step{"planner": {Prompt: true}, "reviewer": {CompleteOn: []string{record.Marker}}})}}
		r.Record.Chain.At = tc.at
		if got := r.moves(tc.part, tc.state); got != tc.moves {
			t.Errorf("%s: moves %d", tc.name, got)
		}
	}
}

// TestLeft bounds and cleans what an agent leaves.
func TestLeft(t *testing.T) {
	if got := handoffText("  Read \x1b[31mPLAN.md\u202e.\r\n\nGo.\n"); got != "Read PLAN.md.\n\nGo." {
		t.Errorf("%q", got)
	}
	got := handoffText(strings.Repeat("é", maxHandoff) + " end")
	if len(got) > maxHandoff || !strings.HasSuffix(got, "é end") || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("%d bytes, %q … %q", len(got), got[:9], got[len(got)-9:])
	}
}
