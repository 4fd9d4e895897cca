package agenthook

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The words of the usual promises.
const (
	complete = "COMPLETE"
	blocked  = "BLOCKED"
	escalate = "ESCALATE"
)

// Said is what an agent's text says about the loop.
type Said struct {
	Status decide.Status // Complete, Blocked or Escalated; empty: nothing
	Word   string        // the word that counts
	Why    string        // in one line
	All    []string      // every promise that was found, in order
}

// Stops reports whether a person is needed.
func (s Said) Stops() bool { return s.Status == decide.Blocked || s.Status == decide.Escalated }

// Tag returns the promise as the agent writes it.
func (s Said) Tag() string { return Tag(s.Word) }

// Tag returns the promise of a word.
func Tag(word string) string { return "<promise>" + word + "</promise>" }

// Word returns the word of a promise, which may be given with its tags.
func Word(promise string) string {
	word := strings.TrimSpace(promise)
	word = strings.TrimSuffix(strings.TrimPrefix(word, "<promise>"), "</promise>")
	return strings.ToUpper(strings.TrimSpace(word))
}

// tag matches a promise anywhere in a text, with its reason and what follows it up to an empty line.
var tag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<promise>\s*([a-z]+)\s*(?::([^<]*))?</promise>((?:[^\n]|\n[^\n])*)`)
})

// Read finds the promises of a text, wherever they are: what a tool is told is only a claim, so a promise that is
// quoted does no harm. One that needs a person wins over one that claims to be done.
func (r Record) Read(text string) (s Said) {
	for at := 0; at < len(text); {
		m := tag().FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		word := strings.ToUpper(text[at+m[2] : at+m[3]])
		inside, behind := "", text[at+m[6]:at+m[7]]
		if m[4] >= 0 {
			inside = text[at+m[4] : at+m[5]]
		}
		at += m[6]
		status := statuses[word]
		if status == "" && !slices.Contains(r.Promises, word) {
			continue
		}
		status = cmp.Or(status, decide.Complete)
		s.All = append(s.All, Tag(word))
		if rank(status) > rank(s.Status) {
			s.Status, s.Word, s.Why = status, word, ""
			if s.Stops() {
				s.Why = cmp.Or(plain.Line(inside, 500), plain.Line(behind, 500))
			}
		}
	}
	return s
}

// statuses are what the usual words say.
var statuses = map[string]decide.Status{
	complete: decide.Complete, blocked: decide.Blocked, escalate: decide.Escalated,
}

// rank orders what was said: whoever needs a person most is heard.
func rank(s decide.Status) int {
	return slices.Index([]decide.Status{"", decide.Complete, decide.Escalated, decide.Blocked}, s)
}
