package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxCell bounds what is shown of a cell; the last one of a row has more room.
const maxCell = 60

// table shows rows in columns as wide as what is in them, each cell cleaned.
func table(w io.Writer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(row)-1 {
				row[i] = plain.Line(cell, 5*maxCell)
				break
			}
			row[i] = plain.Line(cell, maxCell)
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			if i == len(row)-1 {
				b.WriteString(cell)
				break
			}
			fmt.Fprintf(&b, "%-*s  ", widths[i], cell)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
