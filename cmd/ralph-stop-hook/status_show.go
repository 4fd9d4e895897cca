package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func showStatus(w io.Writer, views []statusView, asJSON, all bool) error {
	if asJSON {
		var v any = views
		if !all {
			v = views[0]
		}
		text, err := indentJSON(v)
		fmt.Fprint(w, text)
		return err
	}
	for i, v := range views {
		if i > 0 {
			fmt.Fprintln(w)
		}
		showLoop(newScreen(w), v)
	}
	return nil
}

// screen is what a person looks at.
type screen struct {
	io.Writer
	width  int // in characters; 0 where nobody knows
	colour bool
}

func newScreen(w io.Writer) screen {
	s := screen{Writer: w}
	out := int(os.Stdout.Fd())
	if !term.IsTerminal(out) {
		return s
	}
	s.width, _, _ = term.GetSize(out) // or it is not known
	// Windows' older consoles show the codes.
	s.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && (runtime.GOOS != "windows" || os.Getenv("WT_SESSION") != "")
	return s
}

// The colours, as terminals number them.
const (
	red, green, yellow, cyan = 31, 32, 33, 36
	dim                      = 2
)

func (s screen) paint(code int, text string) string {
	if !s.colour || strings.TrimSpace(text) == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, text)
}

// labels is how wide the labels of rows are, with what is around them, and
// narrow where that is too much of a line.
const labels, narrow = 13, 40

// row shows a value beside its label, in as many lines as it takes.
func (s screen) row(label, value string) {
	indent := labels
	if s.width > 0 && s.width < narrow {
		indent = 4
	}
	s.lines(label, indent, wrap(value, s.width-indent))
}

// lines shows them beside a label, or below it where lines are short.
func (s screen) lines(label string, indent int, lines []string) {
	space := strings.Repeat(" ", indent)
	for i, line := range lines {
		before := space
		switch {
		case i > 0 || label == "":
		case indent < labels:
			fmt.Fprintln(s, s.paint(dim, "  "+label))
		default:
			before = fmt.Sprintf("  %-*s ", labels-3, label)
		}
		fmt.Fprintln(s, s.paint(dim, before)+line)
	}
}

// wrap breaks text into lines of at most width characters, between words: a
// path, say, stays whole and can be copied.
func wrap(text string, width int) (lines []string) {
	switch {
	case text == "":
		return nil
	case width <= 0:
		return []string{text}
	}
	at := width + 1 // of the last line, which is full at first
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if at+1+n > width {
			lines, at = append(lines, word), n
			continue
		}
		lines[len(lines)-1] += " " + word
		at += 1 + n
	}
	return lines
}

// barWidth is how many characters the bar of features has.
const barWidth = 20

// bar shows what is proven, what is claimed and what is open.
func (s screen) bar(proven, claimed, total int) string {
	cells := func(n int) int {
		switch {
		case total == 0 || n == 0:
			return 0
		case n == total:
			return barWidth
		}
		return min(max(1, n*barWidth/total), barWidth-1) // some is never none, nor all
	}
	full, half := cells(min(proven, claimed)), cells(claimed)
	half = max(half, full)
	return s.paint(green, strings.Repeat("█", full)) + s.paint(cyan, strings.Repeat("▒", half-full)) + s.paint(dim, strings.Repeat("░", barWidth-half))
}

func (s screen) status(status decide.Status) string {
	colour := red
	switch status {
	case decide.Complete:
		colour = green
	case decide.InProgress:
		colour = cyan
	case decide.Paused, decide.Cancelled, decide.Handover, decide.Interrupted:
		colour = yellow
	}
	return s.paint(colour, plain.Line(string(status), 40))
}

func showLoop(s screen, v statusView) {
	row := func(name, value string) { s.row(name, plain.Line(value, 500)) }
	fmt.Fprintf(s, "%s: %s", plain.Line(v.Name, 100), s.status(v.Status))
	if v.ExitReason != "" {
		fmt.Fprintf(s, " (%s)", plain.Line(v.ExitReason, 80))
	}
	if v.Stale {
		fmt.Fprint(s, ", stale")
	}
	fmt.Fprintln(s)
	if v.MaxIterations > 0 {
		features := strings.Replace(wordsProof(v.Features.Passed, v.Features.Total, v.Features.Proven, v.Manual, v.Checks), " features", "", 1)
		if v.StaleProofs > 0 {
			features += fmt.Sprintf(", %d of them on older files", v.StaleProofs)
		}
		row("features", features)
		s.row("", s.bar(v.Features.Proven, v.Features.Passed, v.Features.Total))
		row("next", v.Next)
		row("iteration", fmt.Sprintf("%d of %d", v.Iteration, v.MaxIterations))
		row("time", wordsTook(v, time.Now()))
		row("limits", wordsLeft(v))
	}
	row("needs", v.Needs)
	if at, err := time.Parse(time.RFC3339, v.RetryAt); err == nil {
		row("retry at", wordsClock(at))
	}
	if v.Waiting != nil {
		row("waits for", fmt.Sprintf("%s, since %s; from %s on it goes on without", v.Waiting.For, v.Waiting.Since.Local().Format("15:04"), v.Waiting.Until.Local().Format("15:04")))
	}
	row("running", v.Running)
	for i, verdict := range v.Verdicts {
		row([]string{"lately", ""}[min(i, 1)], verdict.String())
	}
	session := v.Session
	if v.ClientRuns {
		session += ", whose client runs"
	}
	row("session", session)
	row("list", v.List)
	row("loop", v.Loop)
	if v.Notice == "pending" {
		row("notice", "not delivered yet")
	}
	for _, note := range v.Notes {
		row("note", note)
	}
	// Whole, however long, so that it can be copied.
	s.lines("now", labels, []string{plain.Line(v.Then, 500)})
}

// wordsTook says how long the loop has been at it.
func wordsTook(v statusView, now time.Time) string {
	began, err := time.Parse(time.RFC3339, v.StartedAt)
	if err != nil {
		return ""
	}
	if ended, err := time.Parse(time.RFC3339, v.EndedAt); err == nil && v.Status != decide.InProgress {
		return fmt.Sprintf("%v, until %s", ended.Sub(began).Round(time.Second), wordsClock(ended))
	}
	return fmt.Sprintf("%v, since %s", now.Sub(began).Round(time.Second), wordsClock(began))
}

// wordsLeft says what is left of the limits that have no row of their own.
func wordsLeft(v statusView) string {
	var left []string
	for _, l := range v.Limits {
		name := strings.ReplaceAll(l.Name, "_", " ")
		switch {
		case l.Name == "max_iterations" || l.Name == "max_wait":
		case l.Unit == "seconds":
			left = append(left, fmt.Sprintf("%s %v of %v left", name, time.Duration(l.Left)*time.Second, time.Duration(l.Limit)*time.Second))
		default:
			left = append(left, fmt.Sprintf("%s %d of %d left", name, l.Left, l.Limit))
		}
	}
	return strings.Join(left, " · ")
}
