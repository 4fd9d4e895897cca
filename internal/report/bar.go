package report

import (
	"fmt"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Bar shows parts of a whole.
type Bar struct {
	Label string   // for whoever does not see it
	Parts []Rect   // from the left
	Cells []string // where each cell but the first begins, in percent; none: there are too many
}

// Rect is a rectangle in a drawing. Its place is in percent of the width.
type Rect struct{ Class, X, Width string }

// maxCells is how many features a bar has a cell each for.
const maxCells = 60

// percents is a part of a whole in percent, with two digits: half a pixel of a wide screen.
func percents(part, whole float64) string {
	if whole <= 0 {
		return "0%"
	}
	text := fmt.Sprintf("%.2f", max(0, min(100, 100*part/whole)))
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + "%"
}

// Progress shows how far a loop is.
func Progress(c decide.Counts) Bar {
	var b Bar
	var said []string
	from := 0
	for _, one := range []struct {
		class, word string
		n           int
	}{
		{"p", "proven", c.Proven}, {"c", "claimed", c.Claimed}, {"a", "set aside", c.SetAside},
		{"", "open", c.Remaining() - c.SetAside},
	} {
		if one.n <= 0 {
			continue
		}
		said = append(said, fmt.Sprintf("%d %s", one.n, one.word))
		if one.class != "" {
			b.Parts = append(b.Parts, Rect{
				one.class, percents(float64(from), float64(c.Total)), percents(float64(one.n), float64(c.Total)),
			})
		}
		from += one.n
	}
	said = append(said, "of "+plain.Count(c.Total, "feature"))
	if c.Added > 0 {
		said = append(said, fmt.Sprintf("%d added", c.Added))
	}
	b.Label = strings.Join(said, ", ")
	return b
}

// Cells is the bar of a loop with a cell for each feature, unless there are too many.
func Cells(c decide.Counts) Bar {
	b := Progress(c)
	for i := 1; i < c.Total && c.Total <= maxCells; i++ {
		b.Cells = append(b.Cells, percents(float64(i), float64(c.Total)))
	}
	return b
}

// Share shows a part of a whole.
func Share(part, whole float64, label string) Bar {
	return Bar{Label: label, Parts: []Rect{{"m", "0%", percents(part, whole)}}}
}
