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

// The names of the guards that end a loop with NoProgress. The last two do not see what a lane changed.
const (
	regression = "regression"
	testsOnly  = "tests_only"
	sameFile   = "same_file"
)

const (
	deniedRounds = 3   // iterations in a row in which a tool was refused
	askedRounds  = 2   // iterations in a row in which the agent only asked
	stuckRounds  = 5   // iterations in a row without a feature that passes, of testsOnly and sameFile
	maxRewritten = 100 // files of one iteration that are counted
)

// Habits is what the guards have seen of the last iterations.
type Habits struct {
	// iterations in a row in which a tool was refused, and no feature passed
	Denied int `json:"denied,omitzero"`
	// iterations in a row in which the agent only asked
	Asked int `json:"asked,omitzero"`
	// iterations since the last one that changed another file than a test, or passed a feature
	TestsOnly int `json:"testsOnly,omitzero"`
	// how often each file was changed since a new one was, or a feature passed
	Rewritten map[string]int `json:"rewritten,omitzero"`
	// features whose own checks had passed at the last stop
	Checked int `json:"checked,omitzero"`
	// Checked before it fell at the last stop; 0: it did not fall
	Fell int `json:"fell,omitzero"`
}

// guard counts what this iteration did, and ends the loop if a guard has seen enough. The fingerprints must be known.
func (d *Decision) guard(s *Snapshot) {
	passed := d.Next.Passed > d.From.Passed || d.lanePassed(s)
	for _, g := range []struct {
		name   string
		status Status
		reason string
		saw    string
	}{
		{PermissionDenied, Blocked, PermissionDenied, d.denied(s, passed)},
		{Asks, Blocked, Asks, d.asks(s, passed)},
		{regression, Stagnated, NoProgress, d.falls()},
		{testsOnly, Stagnated, NoProgress, d.testsOnly(s, passed)},
		{sameFile, Stagnated, NoProgress, d.sameFile(s, passed)},
	} {
		if (s.Leg.Job || s.Leg.Review) && g.status == Stagnated {
			continue // no feature passes meanwhile, and a review takes claims back
		}
		if s.Lane > 0 && (g.name == testsOnly || g.name == sameFile) {
			continue // what changed in the project came from all lanes
		}
		if g.saw != "" && !s.GuardsOff {
			d.Next.Needs = fmt.Sprintf("%s (guard %s)", s.saidBy(g.saw), g.name)
			d.end(s, g.status, g.reason)
			return
		}
	}
}

// saidBy names the worker that says something, if one does: nobody has seen whether it is so.
func (s *Snapshot) saidBy(text string) string {
	if s.Worker == "" {
		return text
	}
	return "the worker " + s.Worker + " says: " + text
}

// denied counts iterations in which the agent's permissions refused a tool. An agent that gets on without the tool is
// let work.
func (d *Decision) denied(s *Snapshot, passed bool) (saw string) {
	if s.Denied == "" || passed {
		d.Next.Denied = 0
		return ""
	}
	d.Next.Denied++
	if d.Next.Denied < deniedRounds*s.workers() {
		return ""
	}
	return fmt.Sprintf("the agent's permissions refused %s, in %d iterations in a row", plain.Line(s.Denied, 200),
		d.Next.Denied)
}

// asks counts iterations that ended in a question, and in which nothing else happened.
func (d *Decision) asks(s *Snapshot, passed bool) (saw string) {
	question := Question(s.Message)
	idle := d.Next.Unchanged > 1 || s.Lane > 0 && !s.Moved ||
		d.From.ListDigest == "" && s.Changes != nil && len(s.Changes) == 0
	if question == "" || !idle || passed {
		d.Next.Asked = 0
		return ""
	}
	d.Next.Asked++
	if d.Next.Asked < askedRounds*s.workers() {
		return ""
	}
	return fmt.Sprintf("%s It did nothing else in %d iterations", question, d.Next.Asked)
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

// falls notes how many features were proven at a stop. Twice in a row it was less than before: the agent breaks what
// worked.
func (d *Decision) falls() (saw string) {
	now := d.Next.Checked
	before := d.From.Checked
	first := d.From.Fell
	d.Next.Fell = 0
	if now < before {
		d.Next.Fell = before
	}
	if d.Next.Fell == 0 || first == 0 {
		return ""
	}
	return fmt.Sprintf("the checks of %s passed, then of %d, and now of %d", plain.Count(first, "feature"), before, now)
}

// testsOnly counts iterations that changed tests and nothing else. If nobody knows what an iteration changed, or it
// changed nothing, it is not counted.
func (d *Decision) testsOnly(s *Snapshot, passed bool) (saw string) {
	switch {
	case passed || s.NoList:
		d.Next.TestsOnly = 0
	case len(s.Changes) == 0:
	case slices.ContainsFunc(s.Changes, func(name string) bool { return !IsTest(name) }), d.aboutTests(s):
		d.Next.TestsOnly = 0
	default:
		d.Next.TestsOnly++
		if d.Next.TestsOnly >= stuckRounds {
			return fmt.Sprintf("%d iterations changed only tests (%s), and no feature passed", d.Next.TestsOnly,
				plain.Line(strings.Join(s.Changes, ", "), 200))
		}
	}
	return ""
}

// aboutTests reports whether the title of the feature that the agent worked on names tests.
func (d *Decision) aboutTests(s *Snapshot) bool {
	feature, is := s.List.Find(d.From.Feature)
	if !is {
		feature, _ = s.List.Next()
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
func (d *Decision) sameFile(s *Snapshot, passed bool) (saw string) {
	switch {
	case passed || s.NoList || len(s.Changes) > maxRewritten:
		d.Next.Rewritten = nil
	case len(s.Changes) > 0:
		count := maps.Clone(d.From.Rewritten)
		for _, name := range s.Changes {
			if count[name] == 0 { // new ground
				count = map[string]int{}
				break
			}
		}
		for _, name := range s.Changes {
			count[name]++
			if count[name] >= stuckRounds && saw == "" {
				saw = fmt.Sprintf("%d iterations changed %s again and no other file for the first time, and no feature passed",
					count[name], plain.Line(name, 200))
			}
		}
		d.Next.Rewritten = count
	}
	return saw
}
