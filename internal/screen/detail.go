package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// sections are the parts of a loop. A part that grows at its end is followed there.
var sections = []struct {
	name  string
	grows bool
	lines func(m *model, d *watch.Detail) []string
}{
	{"features", false, (*model).featureLines},
	{"agent", true, (*model).agentLines},
	{"iterations", true, (*model).iterationLines},
	{"checks", false, (*model).checkLines},
	{"log", true, func(_ *model, d *watch.Detail) []string {
		return strings.Split(strings.TrimRight(d.Log, "\n"), "\n")
	}},
}

// detailLines shows one loop in a number of lines.
func (m *model) detailLines(height int) []string {
	l := m.chosen()
	if l == nil {
		return []string{"the loop is gone"}
	}
	lines := []string{
		m.fit(l.Name+": ") + m.paint.Paint(l.Colour(), cut(l.Word(), m.width-len(l.Name)-2)) +
			cut("  "+middle(l.Project, m.width-len(l.Name)-len(l.Word())-4), m.width-len(l.Name)-len(l.Word())-2),
	}
	facts := present(l.Progress(),
		fmt.Sprintf("iteration %d of %d", l.Iteration, l.MaxIterations), l.Spent.String(), elapsed(l), l.RemainingTime())
	lines = append(lines, fold(strings.Join(facts, " · "), m.width, 2)...)
	for _, line := range fold(l.Wrong(), m.width, 4) {
		lines = append(lines, m.paint.Paint(cli.Red, line))
	}
	lines = append(lines, fold(cmp.Or(l.Doing(), "now: "+l.Then), m.width, 8)...) // a command is copied as a whole
	lines = append(lines, m.tabs(), "")
	if m.detail == nil {
		return append(lines, "reading …")
	}
	if left := m.detail.NotUsed; left != "" {
		lines = append(lines[:len(lines)-1], m.fit("not counted: "+left), "")
	}
	part := sections[m.section]
	body := part.lines(m, m.detail)
	if len(body) == 0 || len(body) == 1 && body[0] == "" {
		return append(lines, m.paint.Paint(cli.Dim, "nothing yet"))
	}
	room := max(1, height-len(lines))
	last := max(0, len(body)-room)
	if m.follow && part.grows {
		m.scroll = last
	}
	m.scroll = min(m.scroll, last)
	for _, line := range body[m.scroll:min(len(body), m.scroll+room)] {
		lines = append(lines, m.fit(strings.ReplaceAll(line, "\t", "    ")))
	}
	return lines
}

// present returns the texts that are not empty.
func present(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}

// agentLines shows what the sessions say: all of one, and the end of each lane's.
func (m *model) agentLines(d *watch.Detail) (lines []string) {
	for _, one := range d.Live {
		said := one.Lines
		if len(d.Live) > 1 {
			room := max(2, (m.height-9)/len(d.Live)-1)
			said = said[max(0, len(said)-room):]
		}
		if one.Lane > 0 {
			head := present(one.Feature, plain.Duration(time.Since(one.StartedAt)), d.SilentIn(one.Lane))
			lines = append(lines, fmt.Sprintf("── lane %d: %s", one.Lane, strings.Join(head, ", ")))
		}
		lines = append(lines, said...)
	}
	return lines
}

// tabs names the parts. The one that is shown has brackets, which need no colour.
func (m *model) tabs() string {
	var names []string
	for i, part := range sections {
		if i == m.section {
			names = append(names, "["+part.name+"]")
		} else {
			names = append(names, part.name)
		}
	}
	return m.fit(strings.Join(names, "  "))
}

func (m *model) featureLines(d *watch.Detail) (lines []string) {
	for _, item := range d.Items {
		text := fmt.Sprintf("%-8s %s", item.State, item.ID)
		if item.Title != item.ID {
			text += " " + item.Title
		}
		if item.Why != "" {
			text += " (" + item.Why + ")"
		}
		if item.Failed {
			text += " · check failed"
		}
		for _, c := range item.Checks {
			text += fmt.Sprintf(" · %s %s", c.Name, c.At.Local().Format("15:04"))
		}
		lines = append(lines, text)
	}
	return lines
}

func (m *model) iterationLines(d *watch.Detail) (lines []string) {
	if d.Gone > 0 {
		lines = append(lines, "not kept in the files any more: "+plain.Count(d.Gone, "older session"))
	}
	for _, i := range d.Iterations {
		lines = append(lines, strings.Join(present(fmt.Sprintf("%4d", i.Iteration), i.EndedAt.Local().Format("01-02 15:04"),
			i.Result(), i.Feature, report.Duration(i.Took()), i.Cost(), i.Reason()), "  "))
	}
	return lines
}

func (m *model) checkLines(d *watch.Detail) (lines []string) {
	if d.MoreChecked() {
		lines = append(lines, fmt.Sprintf("the last %d; checks.log in the loop's folder has those before", len(d.Checked)))
	}
	for _, c := range d.Checked {
		lines = append(lines, fmt.Sprintf("%s  %s: %s, %d ms", c.At.Local().Format("15:04:05"), c.Name, c.Outcome,
			c.DurationMS))
		if c.Tail != "" {
			for line := range strings.SplitSeq(c.Tail, "\n") {
				lines = append(lines, "    "+line)
			}
		}
	}
	return lines
}
