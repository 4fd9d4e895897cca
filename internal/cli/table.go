package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxCell bounds what is shown of a cell; the last one of a row has more room, and so has one
// long word: a path or an id says nothing without its end.
const maxCell = 60

func shorten(text string) string {
	line := plain.Line(text, 5*maxCell)
	if short := plain.Line(line, maxCell); strings.ContainsRune(short, ' ') {
		return short
	}
	return line
}

// Table shows rows in columns as wide as what is in them, each cell cleaned.
func Table(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(row)-1 {
				row[i] = plain.Line(text, 5*maxCell)
				break
			}
			row[i] = shorten(text)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displaywidth.String(row[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i == len(row)-1 {
				b.WriteString(cell)
				break
			}
			b.WriteString(cell + strings.Repeat(" ", widths[i]-displaywidth.String(cell)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
