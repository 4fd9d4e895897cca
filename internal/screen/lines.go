package screen

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
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
	ranks := [verb.RankEnded + 1]int{}
	cost := verb.Spent{}
	for i := range m.loops {
		ranks[m.loops[i].Rank()]++
		if spent := m.loops[i].Spent; spent != nil {
			cost.CostUSD, cost.CostKnown = cost.CostUSD+spent.CostUSD, cost.CostKnown || spent.CostKnown
			cost.Estimated = cost.Estimated || spent.Estimated
		}
	}
	head := present(plain.Count(len(m.loops), "loop"), fmt.Sprintf("%d working", ranks[verb.RankWorking]),
		fmt.Sprintf("%d need you", ranks[verb.RankNeedsYou]), cost.Cost())
	if m.filter != "" {
		head = append(head, "filter: "+m.filter)
	}
	lines := []string{m.fit(strings.Join(head, " · "))}
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
	name := min(24, max(10, m.width/6))
	line := mark + m.paint.Paint(colourOf(l), marks[l.Rank()]) + " " + m.bold(chosen, cell(l.Name, name))
	left := m.width - name - 4
	room := func(width, least int) bool { // the same in each row, so that the columns stand below each other
		has := left > width+least
		if has {
			left -= width + 1
		}
		return has
	}
	add := func(text string, width, least int) {
		if room(width, least) {
			line += " " + cell(text, width)
		}
	}
	said := cmp.Or(l.Wrong(), l.Doing(), l.Then)
	if l.Rank() == verb.RankEnded {
		said = l.Then
	}
	const least = 24 // what is said needs room, too
	add(m.paint.Paint(colourOf(l), cut(l.Word(), 13)), 13, 0)
	add(fraction(l), 7, 0)
	add(cmp.Or(l.Spent.Cost(), "-"), 7, 0)
	add(project(l.Project), min(24, m.width/7), 20)
	if room(10, least) {
		line += " " + m.bar(l, 10)
	}
	add(elapsed(l), 8, least)
	add(fmt.Sprintf("it %d/%d", l.Iteration, l.MaxIterations), 11, least)
	add(l.Left(), 12, least+20)
	if left > 8 {
		line += " " + cut(said, left-1)
	}
	return line
}

// marks are the marks of the ranks.
var marks = []string{"▲", "●", "◷", "○", "✓"}

// project is the end of a project's path.
func project(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

func (m *model) bold(is bool, text string) string {
	if is && m.paint.Colour {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// colourOf is the colour of a loop's rank.
func colourOf(l *watch.Loop) int {
	return []int{cli.Red, cli.Cyan, cli.Cyan, cli.Yellow, cli.Green}[l.Rank()]
}

func fraction(l *watch.Loop) string {
	if l.Features.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", l.Features.Passed, l.Features.Total)
}

// bar shows proven, claimed and open features.
func (m *model) bar(l *watch.Loop, width int) string {
	f := l.Features
	if f.Total == 0 {
		return strings.Repeat(" ", width)
	}
	full := width * min(f.Proven, f.Passed) / f.Total
	half := width*f.Passed/f.Total - full
	return m.paint.Paint(cli.Green, strings.Repeat("█", full)) + m.paint.Paint(cli.Cyan, strings.Repeat("▒", half)) +
		m.paint.Paint(cli.Dim, strings.Repeat("░", width-full-half))
}

func elapsed(l *watch.Loop) string {
	took, goesOn := l.Took()
	if from, err := time.Parse(time.RFC3339, l.StartedAt); err == nil && goesOn {
		took = max(0, time.Since(from))
	}
	if took == 0 {
		return ""
	}
	return plain.Duration(took.Round(time.Second))
}
