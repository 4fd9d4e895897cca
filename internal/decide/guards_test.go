package decide

import (
	"strings"
	"testing"
	"time"
)

// played is what one iteration does. A list of "" is as it was; a tree that is false is changed.
type played struct {
	message string
	denied  string
	list    string   // as of the function list
	changes []string // nil: they are not known
	same    bool     // the tree is as it was
}

// TestGuards plays iterations. Each guard ends a loop at the last one of them, and lets an agent work that only looks
// like what it is for.
func TestGuards(t *testing.T) {
	denied := played{denied: "Bash", changes: []string{"a.go"}}
	asks := played{message: "I could do either.\n\nShould I use **tabs** or spaces?", changes: []string{}, same: true}
	tests := played{changes: []string{"x/a_test.go"}}
	edits := played{changes: []string{"a.go", "notes.md"}}
	with := func(p played, edit func(*played)) played { edit(&p); return p }
	passes := func(p played) played { return with(p, func(p *played) { p.list = "xx." }) }
	times := func(n int, p played) (all []played) {
		for range n {
			all = append(all, p)
		}
		return all
	}
	others := func(name string, n int) (all []played) { // each changes a.go, and another file
		for i := range n {
			all = append(all, played{changes: []string{"a.go", name + string(rune('a'+i))}})
		}
		return all
	}
	const question = "BLOCKED asks: Should I use **tabs** or spaces? It did nothing else in 2 iterations (guard asks)"
	for _, tc := range []struct {
		name  string
		plays []played
		want  string // how the last one ends, and what it saw; "": the loop goes on
	}{
		{"a tool is refused in three iterations", times(3, denied),
			"BLOCKED permission_denied: the agent's permissions refused Bash, in 3 iterations in a row " +
				"(guard permission_denied)"},
		{"in two", times(2, denied), ""},
		{"in three, but not in a row", append(times(2, denied), edits, denied), ""},
		{"in three, and a feature passes meanwhile", append(times(2, denied), passes(denied), denied), ""},
		{"an agent only asks", times(2, asks), question},
		{"after work", append([]played{edits}, times(2, asks)...), question},
		{"it asks once", append([]played{edits}, asks), ""},
		{"it asks, works, and asks", []played{asks, edits, asks}, ""},
		{"it asks, but changes files",
			times(2, with(asks, func(p *played) { p.same, p.changes = false, []string{"a"} })), ""},
		{"it asks, and claims a feature", []played{asks, passes(asks)}, ""},
		{"it asks at the first stop, and nobody knows what it changed",
			times(2, with(asks, func(p *played) { p.changes = nil })), ""},
		{"at the third it is known", times(3, with(asks, func(p *played) { p.changes = nil })),
			question},
		{"it does nothing, and says so", times(2, with(asks, func(p *played) { p.message = "I wait." })), ""},
		{"only tests change", times(5, tests),
			"STAGNATED no_progress: 5 iterations changed only tests (x/a_test.go), and no feature passed " +
				"(guard tests_only)"},
		{"in four iterations", times(4, tests), ""},
		{"an iteration without a change does not count", append(append(times(4, tests), asks), tests),
			"STAGNATED no_progress: 5 iterations changed only tests (x/a_test.go), and no feature passed " +
				"(guard tests_only)"},
		{"and code changes once", append(append(times(3, tests), others("", 1)...), tests, tests), ""},
		{"and a feature passes", append(append(times(2, tests), passes(tests)), times(3, tests)...), ""},
		{"nobody knows what changes", times(9, with(tests, func(p *played) { p.changes = nil })), ""},
		{"the same files change again and again", times(5, edits), "STAGNATED no_progress: 5 iterations changed " +
			"a.go again and no other file for the first time, and no feature passed (guard same_file)"},
		{"four times", times(4, edits), ""},
		{"and new files beside them", others("new", 9), ""},
		{"and a feature passes", append(append(times(3, edits), passes(edits)), times(4, edits)...), ""},
	} {
		if got := playAll(tc.plays, false); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if off := playAll(tc.plays, true); strings.Contains(off, "(guard ") {
			t.Errorf("%s, switched off: %q", tc.name, off)
		}
	}
}

// playAll plays iterations until the loop ends, and returns how it ends, and at the last one of them. If it ends
// before, that is said too.
func playAll(plays []played, off bool) string {
	s := base()
	s.State.ListDigest, s.State.Unchanged, s.State.Passed, s.List = "", 0, 1, list("x..")
	s.Limits = Limits{Stagnation: 9, MaxIterations: 99}
	s.GuardsOff = off
	tree := 0
	for i, p := range plays {
		if p.list != "" {
			s.List = list(p.list)
		}
		if !p.same {
			tree++
		}
		s.Message, s.Denied, s.Changes, s.Tree = p.message, p.denied, p.changes, "t"+string(rune('0'+tree))
		s.Now = s.Now.Add(time.Minute)
		d, need := Decide(s)
		switch {
		case need.Kind != NeedNothing:
			return "needs " + string(need.Kind)
		case d.Verdict == End && i < len(plays)-1:
			return "too early: " + d.Next.ExitReason
		case d.Verdict == End:
			return string(d.Next.Status) + " " + d.Next.ExitReason + ": " + d.Next.Needs
		}
		s.State, s.Header = d.Next, d.Next.Header
	}
	return ""
}

// TestRegression plays stops after which so many features are proven.
func TestRegression(t *testing.T) {
	for _, tc := range []struct {
		proven []int
		want   string
	}{
		{[]int{4, 3, 2}, "the checks of 4 features passed, then of 3, and now of 2 (guard regression)"},
		{[]int{0, 1, 4, 4, 2, 1}, "the checks of 4 features passed, then of 2, and now of 1 (guard regression)"},
		{[]int{4, 3, 3, 2}, ""},
		{[]int{4, 3, 4, 3, 4}, ""},
		{[]int{4, 0, 0, 0}, ""},
	} {
		s := base()
		s.Limits = Limits{Stagnation: 9, MaxIterations: 99}
		s.Checks = []Check{{Name: "f", Digest: "f", When: WhenClaim, PerClaim: true}}
		s.State.Passed, s.Tree, s.Contents = 0, "t", "t"
		got := ""
		for _, n := range tc.proven {
			s.List = list(strings.Repeat("x", n) + strings.Repeat(".", 5-n))
			s.Results = nil
			for _, item := range s.List.Items[:n] {
				s.Results = append(s.Results, receipt("f", item.ID, "t"))
			}
			d, need := Decide(s)
			if need.Kind != NeedNothing {
				t.Fatalf("%v: needs %v", tc.proven, need)
			}
			got = ""
			if d.Verdict == End {
				got = d.Next.Needs
				break
			}
			s.State, s.Header = d.Next, d.Next.Header
		}
		if got != tc.want {
			t.Errorf("%v: %q, want %q", tc.proven, got, tc.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	for message, want := range map[string]string{
		"":                                 "",
		"Done.":                            "",
		"Is it? No.":                       "",
		"Which one?":                       "Which one?",
		"Done so far.\n\n**Which one?**\n": "**Which one?**",
		"I need to know:\n- Which port?\n- Which host?": "I need to know: - Which port? - Which host?",
		"どちらですか？":                                       "どちらですか？",
		"He asked:\n> Which one?":                       "",
		"The test:\n```\nwhat?":                         "",
		"I asked (\"which one?\")":                      "I asked (\"which one?\")",
		"`a ? b : c` is gone. See a.go?x=":              "",
	} {
		if got := Question(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
	long := strings.Repeat("ä", 2000) + " why?"
	if got := Question(long); len([]rune(got)) != 400 || !strings.HasSuffix(got, " why?") {
		t.Errorf("of a long one: %q", got)
	}
}

func TestIsTest(t *testing.T) {
	for _, name := range []string{
		"a_test.go", "x/test_a.py", "x/a.test.ts", "a.spec.tsx", "spec/a.rb", "a_spec.rb", "src/FooTest.java", "FooTests.cs",
		"__tests__/a.js", "tests/a.rs", "x/testdata/a.json", "conftest.py", "Tests/A.swift", "FooSpec.scala", "e2e/a.go",
	} {
		if !IsTest(name) {
			t.Errorf("%s is no test", name)
		}
	}
	for _, name := range []string{
		"a.go", "latest.go", "contest.py", "testing.go", "attest/a.go", "spec.md", "api-spec.yaml", "testable.go",
		"src/main.rs",
	} {
		if IsTest(name) {
			t.Errorf("%s is a test", name)
		}
	}
}
