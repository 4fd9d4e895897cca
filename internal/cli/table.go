package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

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
			widths[i] = max(widths[i], columns(row[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i == len(row)-1 {
				b.WriteString(cell)
				break
			}
			b.WriteString(cell + strings.Repeat(" ", widths[i]-columns(cell)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// wide are the blocks of letters and signs that take two columns of a terminal, after
// Unicode's East Asian Width.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
	{0xff00, 0xff60}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
}

// columns is how many columns of a terminal a text takes.
func columns(s string) (n int) {
	for _, r := range s {
		n++
		if slices.ContainsFunc(wide, func(block [2]rune) bool { return r >= block[0] && r <= block[1] }) {
			n++
		}
	}
	return n
}
