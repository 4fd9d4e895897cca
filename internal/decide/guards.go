package decide

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Guards end a loop whose agent works without getting anywhere, before a limit would. An ending's Needs says what the
// guard saw, and names it.

// The names of the guards that end a loop with NoProgress.
const (
	regression = "regression"
	testsOnly  = "tests_only"
	sameFile   = "same_file"
)

const (
	deniedRounds   = 3   // iterations in a row in which a tool was refused
	questionRounds = 2   // iterations in a row in which the agent only asked
	stuckRounds    = 5   // iterations in a row without a feature that passes, of testsOnly and sameFile
	maxRewritten   = 100 // files of one iteration that are counted
)

// Habits is what the guards have seen of the last iterations.
type Habits struct {
	// iterations in a row in which a tool was refused, and no feature passed
	Denied int `json:"denied,omitzero"`
	// iterations in a row in which the agent only asked
	Questions int `json:"asked,omitzero"`
	// iterations since the last one that changed another file than a test, or passed a feature
	TestsOnly int `json:"testsOnly,omitzero"`
	// how often each file was changed since a new one was, or a feature passed
	Rewritten map[string]int `json:"rewritten,omitzero"`
	// features whose own checks had passed at the last stops
	Rates Rates `json:"rates,omitzero"`
}

// guardTable has the guards in the order in which they are asked.
var guardTable = []struct {
	name   string
	status Status
	reason string
	sees   func(*stop) string // counts, and says what the guard has seen enough of; "": nothing
}{
	{PermissionDenied, Blocked, PermissionDenied, (*stop).denied},
	{Asks, Blocked, Asks, (*stop).asks},
	{regression, Stagnated, NoProgress, (*stop).falls},
	{testsOnly, Stagnated, NoProgress, (*stop).testsOnly},
	{sameFile, Stagnated, NoProgress, (*stop).sameFile},
}

// guards counts what this iteration did, and ends the loop if a guard has seen enough.
func guards(st *stop) (first answer) {
	st.passed = st.next.Passed > st.d.From.Passed
	for _, g := range guardTable {
		saw := g.sees(st)
		if saw != "" && !st.GuardsOff && first.verdict == "" {
			first = finish(g.status, g.reason, fmt.Sprintf("%s (guard %s)", saw, g.name))
		}
	}
	return first
}

// denied counts iterations in which the agent's permissions refused a tool. An agent that gets on without the tool is
// let work.
func (st *stop) denied() (saw string) {
	if st.Denied == "" || st.passed {
		st.next.Denied = 0
		return ""
	}
	st.next.Denied++
	if st.next.Denied < deniedRounds*st.workers() {
		return ""
	}
	return fmt.Sprintf("the agent's permissions refused %s, in %d iterations in a row", plain.Line(st.Denied, 200),
		st.next.Denied)
}

// asks counts iterations that ended in a question, and in which nothing else happened.
func (st *stop) asks() (saw string) {
	question := Question(st.Message)
	idle := st.next.Unchanged > 1 || st.HandOut.Feature != nil && !st.HandOut.NewWork ||
		st.d.From.ListDigest == "" && st.Changes != nil && len(st.Changes) == 0
	if question == "" || !idle || st.passed {
		st.next.Questions = 0
		return ""
	}
	st.next.Questions++
	if st.next.Questions < questionRounds*st.workers() {
		return ""
	}
	return fmt.Sprintf("%s It did nothing else in %d iterations", question, st.next.Questions)
}

// Question returns the question in which a message ends, with the paragraph that it is in; "" if the message ends in
// none. A question in a code fence or a quotation is not the agent's own.
func Question(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	last := strings.TrimRight(lines[len(lines)-1], " \t\r*_)]\"'”’»")
	if end, _ := utf8.DecodeLastRuneInString(last); !strings.ContainsRune("?？؟", end) ||
		strings.HasPrefix(strings.TrimSpace(last), ">") || inFenceOrQuote(lines[:len(lines)-1]) {
		return ""
	}
	begin := len(lines) - 1
	for begin > 0 && strings.TrimSpace(lines[begin-1]) != "" {
		begin--
	}
	const most = 400
	text := []rune(plain.Line(strings.Join(lines[begin:], " "), 10*most))
	return string(text[max(0, len(text)-most):])
}

// falls notes how many features were proven at a stop.
func (st *stop) falls() (saw string) {
	if st.rate == nil {
		return ""
	}
	rates := st.d.From.Rates.Add(*st.rate)
	st.next.Rates = rates
	if !rates.Fall() {
		return ""
	}
	return fmt.Sprintf("the checks of %s passed, then of %d, and now of %d", plain.Count(rates[0].Passed, "feature"),
		rates[1].Passed, rates[2].Passed)
}

// testsOnly counts iterations that changed tests and nothing else. If nobody knows what an iteration changed, or it
// changed nothing, it is not counted.
func (st *stop) testsOnly() (saw string) {
	switch {
	case st.passed || st.NoList:
		st.next.TestsOnly = 0
	case len(st.Changes) == 0:
	case slices.ContainsFunc(st.Changes, func(name string) bool { return !IsTest(name) }), st.aboutTests():
		st.next.TestsOnly = 0
	default:
		st.next.TestsOnly++
		if st.next.TestsOnly >= stuckRounds {
			return fmt.Sprintf("%d iterations changed only tests (%s), and no feature passed", st.next.TestsOnly,
				plain.Line(strings.Join(st.Changes, ", "), 200))
		}
	}
	return ""
}

// aboutTests reports whether the title of the feature that the agent worked on names tests.
func (st *stop) aboutTests() bool {
	feature, is := st.List.Find(st.d.From.Feature)
	if !is {
		feature, _ = st.Next()
	}
	return strings.Contains(strings.ToLower(feature.Title()), "test")
}

// testFolders are names of folders that hold tests, or what tests read.
var testFolders = []string{"test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "e2e"}

// IsTest reports whether a slash-separated path is that of a test, by the names that common tools for tests look for.
func IsTest(name string) bool {
	dir, base := path.Split(name)
	inFolder := func(folder string) bool { return slices.Contains(testFolders, strings.ToLower(folder)) }
	stem, _, _ := strings.Cut(base, ".")
	for _, end := range []string{"Test", "Tests", "Spec"} { // Java and C#
		if before, is := strings.CutSuffix(stem, end); is && before != "" {
			return true
		}
	}
	base = strings.ToLower(base)
	words := strings.FieldsFunc(base, func(r rune) bool { return r == '.' || r == '_' || r == '-' })
	return slices.ContainsFunc(strings.Split(dir, "/"), inFolder) || slices.Contains(words, "test") ||
		slices.Contains(words, "tests") || strings.Contains(base, ".spec.") || strings.Contains(base, "_spec.") ||
		base == "conftest.py"
}

// sameFile counts how often each file was changed since the agent last got to a file that it had not changed before.
func (st *stop) sameFile() (saw string) {
	switch {
	case st.passed || st.NoList || len(st.Changes) > maxRewritten:
		st.next.Rewritten = nil
	case len(st.Changes) > 0:
		count := maps.Clone(st.d.From.Rewritten)
		for _, name := range st.Changes {
			if count[name] == 0 { // new ground
				count = map[string]int{}
				break
			}
		}
		for _, name := range st.Changes {
			count[name]++
			if count[name] >= stuckRounds && saw == "" {
				saw = fmt.Sprintf("%d iterations changed %s again and no other file for the first time, and no feature passed",
					count[name], plain.Line(name, 200))
			}
		}
		st.next.Rewritten = count
	}
	return saw
}
