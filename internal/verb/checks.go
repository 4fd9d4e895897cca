package verb

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Checked is a check that ran, as checks.log has it. An agent can write that file, too.
type Checked struct {
	At         time.Time `json:"at"`
	Name       string    `json:"name"`    // with the feature's id, if it was for one
	Outcome    string    `json:"outcome"` // in words
	DurationMS int64     `json:"durationMs"`
	Tail       string    `json:"tail"` // the end of its output

	Of string `json:"-"` // the name of the loop's check that it is; "": the loop has no such check
}

// maxTail is how many characters of a check's output are shown.
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
	return "check " + strings.TrimSpace(c.Name) + ": " + plain.Line(said, 200)
}

// named notes of which of the loop's checks those are that ran.
func named(ran []Checked, has []decide.Check) []Checked {
	for i := range ran {
		c := &ran[i]
		for _, one := range has {
			of := plain.Line(one.Name, 280)
			if strings.HasPrefix(c.Name+" ", of+" ") && len(of) > len(c.Of) {
				c.Of = of
			}
		}
	}
	return ran
}

// failed returns the last check of those that the loop has that failed and did not pass since; nil if there is none.
// The latest is first in what ran.
func failed(ran []Checked) *Checked {
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

// checkHead is the first line of a check, as package loop writes it.
var checkHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^== (\S{20}) (.{1,300}?): (.{1,300}), (\d{1,12}) ms$`)
})

// Checks returns the last n checks that ran, the latest first.
func Checks(l *loop.Loop, n int) []Checked {
	text, _ := l.Store.OpenLog(loopdir.ChecksLog, 100*n)
	all := []Checked{}
	var tail []byte
	end := func() {
		if len(all) > 0 {
			all[len(all)-1].Tail = lastOf(tail)
		}
		tail = nil
	}
	for line := range bytes.Lines(text) {
		if head := checkHead().FindSubmatch(bytes.TrimRight(line, "\n")); head != nil {
			end()
			at, _ := time.Parse(time.RFC3339, string(head[1]))
			took, _ := strconv.ParseInt(string(head[4]), 10, 64)
			all = append(all, Checked{
				At: at, Name: plain.Line(string(head[2]), 300), Outcome: plain.Line(string(head[3]), 300), DurationMS: took,
			})
			continue
		}
		tail = append(tail, line...)
	}
	end()
	slices.Reverse(all)
	return all[:min(n, len(all))]
}

// lastOf returns the end of an output, cleaned.
func lastOf(text []byte) string {
	text = bytes.TrimSpace(text)
	cleaned := plain.Text(string(text[max(0, len(text)-4*maxTail):]), 4*maxTail)
	runes := []rune(cleaned)
	return string(runes[max(0, len(runes)-maxTail):])
}
