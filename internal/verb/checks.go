package verb

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Checked is a check that ran, as checks.jsonl has it. An agent can write that file, too.
type Checked struct {
	At         time.Time `json:"at"`
	Name       string    `json:"name"`    // with the feature's id, if it ran for one
	Outcome    string    `json:"outcome"` // in words
	DurationMS int64     `json:"durationMs"`
	Tail       string    `json:"tail"` // the end of its output

	Feature string `json:"-"` // "": it was for the whole loop
	Of      string `json:"-"` // the name of the loop's check that it is; "": the loop has no such check
	check   string
}

// maxTail is how many characters of a check's output are shown. There are no more in the file, if it is ours.
const maxTail = 4000

// MaxChecked is how many of the last checks are known of each loop.
const MaxChecked = 30

// Passed reports whether the check passed.
func (c *Checked) Passed() bool { return c.Outcome == "ok" }

// Says says in one line how the check failed.
func (c *Checked) Says() string {
	said := c.Outcome
	for line := range strings.SplitSeq(c.Tail, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "FAIL") && !strings.HasPrefix(line, "exit status") {
			said = line
		}
	}
	return "check " + c.Name + ": " + plain.Line(said, 200)
}

// nameChecks notes of which of the loop's checks those are that ran.
func nameChecks(ran []Checked, has []decide.Check) []Checked {
	for i := range ran {
		is := func(c decide.Check) bool { return plain.Line(c.Name, 280) == ran[i].check }
		if slices.ContainsFunc(has, is) {
			ran[i].Of = ran[i].check
		}
	}
	return ran
}

// lastFailure returns the last check of those that the loop has that failed and did not pass since; nil if there is
// none. The latest is first in what ran.
func lastFailure(ran []Checked) *Checked {
	passed := map[string]bool{}
	for i := range ran {
		c := &ran[i]
		if !c.Passed() && !passed[c.Name] && c.Of != "" {
			return c
		}
		passed[c.Name] = true
	}
	return nil
}

// Checks returns the last n checks that ran, the latest first. What is no line of ours, such as half of one that a
// process left when it was killed, is skipped.
func Checks(l *loop.Loop, n int) []Checked {
	text, _ := l.Store.OpenLog(loopdir.CheckLines, n)
	all := []Checked{}
	for line := range bytes.Lines(text) {
		var r loop.Ran
		if json.Unmarshal(line, &r) == nil && r.Check != "" {
			all = append(all, Checked{
				At: r.Start, Name: strings.TrimSpace(plain.Line(r.Check+" "+r.Feature, 300)),
				Outcome: plain.Line(r.Outcome, 300), DurationMS: r.DurationMS, Tail: plain.Text(r.Output, maxTail),
				Feature: plain.Line(r.Feature, 80), check: plain.Line(r.Check, 280),
			})
		}
	}
	slices.Reverse(all)
	return all[:min(n, len(all))]
}
