package screen

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
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

// helpLines returns what the keys do, whole, as far as it fits beside them.
func (m *model) helpLines() (lines []string) {
	for _, row := range helpRows {
		key := row[0]
		for _, text := range fold(row[1], m.width-keys, 20) {
			lines = append(lines, m.fit(cell(key, keys)+text))
			key = ""
		}
	}
	return lines
}

// keys is the width of the column of the keys.
const keys = 16

// listLines returns the list in a number of lines. It scrolls so that the chosen loop is seen.
func (m *model) listLines(height int) []string {
	ranks, cost := watch.Sum(m.loops)
	stuck := ""
	if n := ranks[verb.RankStuck]; n > 0 {
		stuck = fmt.Sprintf("%d stuck", n)
	}
	head := present(plain.Count(len(m.loops), "loop"), fmt.Sprintf("%d running", ranks[verb.RankWorking]),
		verb.NeedYou(ranks[verb.RankNeedsYou]), stuck, cost.Cost())
	if m.filter != "" {
		head = append(head, "filter: "+m.filter)
	}
	lines := []string{m.fit(strings.Join(head, " · "))}
	if len(m.loops) == 0 {
		return append(lines, "", m.fit("There is no loop here. 'ralph-stop-hook init' makes one."))
	}
	at := max(0, m.at())
	rows := make([][]string, len(m.loops))
	for i := range m.loops {
		rows[i] = m.row(&m.loops[i], i == at)
	}
	fits := func(from, to int) bool { return len(slices.Concat(rows[from:to]...)) < height }
	m.top = min(m.top, at)
	for m.top < at && !fits(m.top, at+1) {
		m.top++
	}
	for m.top > 0 && fits(m.top-1, len(rows)) {
		m.top--
	}
	return append(lines, slices.Concat(rows[m.top:]...)...)
}

// row shows a loop in one line: more of it, the wider the screen is. What went wrong is shown whole: if it does not
// fit, in lines of its own.
func (m *model) row(l *watch.Loop, chosen bool) []string {
	mark := "  "
	if chosen {
		mark = "> "
	}
	name := min(24, max(10, m.width/6))
	line := mark + m.paint.Paint(l.Colour(), marks[l.Rank()]) + " " + m.bold(chosen, cell(l.Name, name))
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
	const least = 24 // what is said needs room, too
	add(m.paint.Paint(l.Colour(), cut(l.Word(), 13)), 13, 0)
	add(fraction(l), 7, 0)
	add(cmp.Or(l.Spent.Cost(), "-"), 9, 0)
	add(project(l, min(24, m.width/7)), min(24, m.width/7), 16)
	bar := ""
	if f := l.Features; f.Total > 0 {
		bar = m.paint.Bar(f.Proven, f.Passed, f.Total, 10)
	}
	add(bar, 10, least)
	add(elapsed(l), 8, least)
	add(fmt.Sprintf("it %d/%d", l.Iteration, l.MaxIterations), 11, least)
	add(l.RemainingTime(), 12, least+20)
	said, wrong := cmp.Or(l.Doing(), l.Then), l.Wrong()
	if l.Rank() == verb.RankEnded {
		said, wrong = l.Then, ""
	}
	switch {
	case wrong != "" && ansi.StringWidth(wrong) < left:
		said, wrong = wrong, ""
	case said == wrong:
		said = ""
	}
	if left > 8 {
		line += " " + cut(said, left-1)
	}
	lines := []string{line}
	for _, text := range fold(wrong, m.width-6, 3) {
		lines = append(lines, m.fit("      "+text))
	}
	return lines
}

// fold breaks a text between words, and in a word only if that is wider than a line. It has at most so many lines.
func fold(text string, width, most int) []string {
	if text == "" {
		return nil
	}
	width = max(1, width)
	lines := strings.Split(ansi.Hardwrap(cli.Screen{Width: width}.Fold(text), width, true), "\n")
	if len(lines) > most {
		lines = append(lines[:most-1], cut(lines[most-1], width-1)+"…")
	}
	return lines
}

// marks are the marks of the ranks.
var marks = []string{"▲", "■", "●", "◷", "○", "✓"}

// project names a loop's project, as much as fits: at least the beginning and the end of its last name.
func project(l *watch.Loop, width int) string {
	if ansi.StringWidth(l.Place()) <= width {
		return l.Place()
	}
	last := path.Base(l.Place())
	if ansi.StringWidth(last)+2 <= width {
		return "…/" + last
	}
	return middle(last, width)
}

// middle takes the middle out of a text that is too wide.
func middle(text string, width int) string {
	wide, width := ansi.StringWidth(text), max(0, width)
	if wide <= width {
		return text
	}
	end := width / 2
	return cut(text, width-end) + ansi.TruncateLeft(text, wide-end, "")
}

func (m *model) bold(is bool, text string) string {
	if is && m.paint.Colour {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

func fraction(l *watch.Loop) string {
	if l.Features.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", l.Features.Passed, l.Features.Total)
}

func elapsed(l *watch.Loop) string {
	from, took, goesOn := l.Took()
	if goesOn && !from.IsZero() {
		took = max(0, time.Since(from))
	}
	return report.Duration(took)
}
