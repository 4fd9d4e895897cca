package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// Screen is what a person looks at: a terminal, or something else that takes text.
type Screen struct {
	io.Writer
	Width  int // in characters; 0: not known
	Colour bool
}

// NewScreen returns the screen that w writes to if standard output is a terminal.
func NewScreen(w io.Writer, get func(variable string) string) Screen {
	s := Screen{Writer: w}
	out := int(os.Stdout.Fd())
	if !term.IsTerminal(out) {
		return s
	}
	s.Width, _, _ = term.GetSize(out) // 0 if it is not known
	// Older consoles of Windows show the codes.
	s.Colour = get("NO_COLOR") == "" && get("TERM") != "dumb" && (runtime.GOOS != "windows" || get("WT_SESSION") != "")
	return s
}

// The colours, as terminals number them (ECMA-48).
const (
	Dim    = 2
	Red    = 31
	Green  = 32
	Yellow = 33
	Cyan   = 36
)

// Paint colours a text, if the screen has colours.
func (s Screen) Paint(code int, text string) string {
	if !s.Colour || strings.TrimSpace(text) == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, text)
}

// Labels is how wide the labels of rows are, with the space around them. Below a
// width of narrow they stand on lines of their own.
const Labels, narrow = 13, 40

// Row shows a value beside its label, in as many lines as it takes.
func (s Screen) Row(label, value string) {
	indent := Labels
	if s.Width > 0 && s.Width < narrow {
		indent = 4
	}
	s.Lines(label, indent, wrap(value, s.Width-indent))
}

// Fold breaks a text between words where the screen ends.
func (s Screen) Fold(text string) string { return strings.Join(wrap(text, s.Width), "\n") }

// Lines shows lines beside a label, or below it if the screen is narrow.
func (s Screen) Lines(label string, indent int, lines []string) {
	space := strings.Repeat(" ", indent)
	for i, line := range lines {
		before := space
		switch {
		case i > 0 || label == "":
		case indent < Labels:
			fmt.Fprintln(s, s.Paint(Dim, "  "+label))
		default:
			before = fmt.Sprintf("  %-*s ", Labels-3, label)
		}
		fmt.Fprintln(s, s.Paint(Dim, before)+line)
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
		n := displaywidth.String(word)
		if at+1+n > width {
			lines, at = append(lines, word), n
			continue
		}
		lines[len(lines)-1] += " " + word
		at += 1 + n
	}
	return lines
}

// Bar shows what is proven, what is claimed and what is open.
func (s Screen) Bar(proven, claimed, total, width int) string {
	cells := func(n int) int {
		switch {
		case total == 0 || n == 0:
			return 0
		case n == total:
			return width
		}
		return min(max(1, n*width/total), width-1) // some is never none, nor all
	}
	full, half := cells(min(proven, claimed)), cells(claimed)
	half = max(half, full)
	return s.Paint(Green, strings.Repeat("█", full)) +
		s.Paint(Cyan, strings.Repeat("▒", half-full)) +
		s.Paint(Dim, strings.Repeat("░", width-half))
}
