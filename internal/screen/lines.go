package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// fit cuts a text to the width of the screen.
func (m *model) fit(text string) string { return cut(text, m.width) }

func cut(text string, width int) string { return ansi.Truncate(text, max(0, width), "…") }

// cell fits a text into a column.
func cell(text string, width int) string {
	text = cut(text, width)
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

func (m *model) helpLines() []string {
	lines := []string{m.fit("ralph-runner watch"), ""}
	for _, row := range helpRows {
		lines = append(lines, m.fit("  "+cell(row[0], 16)+row[1]))
	}
	return lines
}

// listLines returns the list in a number of lines. It scrolls so that the chosen loop is seen.
func (m *model) listLines(height int) []string {
	working := 0
	for i := range m.loops {
		if m.loops[i].Works() {
			working++
		}
	}
	head := fmt.Sprintf("%s, %d at work", plain.Count(len(m.loops), "loop"), working)
	if m.filter != "" {
		head += " · filter: " + m.filter
	}
	lines := []string{m.fit(head)}
	if len(m.loops) == 0 {
		return append(lines, "", m.fit("There is no loop here. 'ralph-stop-hook init' makes one."))
	}
	rows := max(1, height-1)
	at := max(0, m.at())
	m.top = min(max(m.top, at-rows+1), at, max(0, len(m.loops)-rows))
	for i := m.top; i < min(len(m.loops), m.top+rows); i++ {
		lines = append(lines, m.row(&m.loops[i], i == at))
	}
	return lines
}

// row shows a loop in one line: more of it, the wider the screen is.
func (m *model) row(l *watch.Loop, chosen bool) string {
	mark := "  "
	if chosen {
		mark = "> "
	}
	wide := m.width - ansi.StringWidth(mark)
	name, status := min(24, max(10, wide/4)), 13
	line := mark + m.bold(chosen, cell(l.Name, name)) + " " + m.paint.Paint(colourOf(l), cell(word(l), status))
	left := wide - name - status - 2
	add := func(text string, width int) {
		if left >= width && text != "" {
			line += " " + cell(text, width)
			left -= width + 1
		}
	}
	add(fraction(l), 9)
	if left >= 12 && l.Features.Total > 0 {
		line += " " + m.bar(l, 10)
		left -= 11
	}
	add(fmt.Sprintf("it %d/%d", l.Iteration, l.MaxIterations), 9)
	add(cmpOr(elapsed(l), "-"), 8)
	add(cmpOr(costOf(l), "-"), 9)
	if left > 8 {
		add(doing(l), left-1)
	}
	return line
}

func cmpOr(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (m *model) bold(is bool, text string) string {
	if is && m.paint.Colour {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// word is the status of a loop in one word.
func word(l *watch.Loop) string {
	if l.Stale {
		return "stale"
	}
	return string(l.Status.Status)
}

func colourOf(l *watch.Loop) int {
	switch {
	case l.Stale:
		return cli.Yellow
	case l.Status.Status == decide.Complete:
		return cli.Green
	case l.Status.Status == decide.InProgress:
		return cli.Cyan
	case l.Status.Status.GoesOn(), l.Status.Status == decide.Paused, l.Status.Status == decide.Cancelled:
		return cli.Yellow
	}
	return cli.Red
}

func fraction(l *watch.Loop) string {
	if l.Features.Total == 0 {
		return "no list"
	}
	return fmt.Sprintf("%d/%d", l.Features.Passed, l.Features.Total)
}

// bar shows proven, claimed and open features.
func (m *model) bar(l *watch.Loop, width int) string {
	f := l.Features
	full := width * min(f.Proven, f.Passed) / f.Total
	half := width*f.Passed/f.Total - full
	return m.paint.Paint(cli.Green, strings.Repeat("█", full)) + m.paint.Paint(cli.Cyan, strings.Repeat("▒", half)) +
		m.paint.Paint(cli.Dim, strings.Repeat("░", width-full-half))
}

func elapsed(l *watch.Loop) string {
	from, _ := time.Parse(time.RFC3339, l.StartedAt)
	to := time.Now()
	if ended, err := time.Parse(time.RFC3339, l.EndedAt); err == nil && !l.Works() {
		to = ended
	}
	if from.IsZero() || to.Before(from) {
		return ""
	}
	return plain.Duration(to.Sub(from).Round(time.Second))
}

func costOf(l *watch.Loop) string {
	if l.Run == nil || !l.Run.CostKnown {
		return ""
	}
	return fmt.Sprintf("$%.3f", l.Run.CostUSD)
}

// doing says what goes on, or what a person does now.
func doing(l *watch.Loop) string {
	switch {
	case l.Running != "":
		return "runs " + l.Running
	case l.Run != nil && l.Run.WaitsFor != "":
		return "waits: " + l.Run.WaitsFor
	case l.Run != nil && l.Run.Session != nil:
		return strings.Join(present(l.Run.Agent, l.Run.Features(), l.Run.Leg), " · ")
	case l.Works():
		return "next " + l.Next
	case l.Needs != "":
		return "needs " + l.Needs
	}
	return l.Then
}
