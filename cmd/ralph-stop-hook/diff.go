package main

import (
	"slices"
	"strings"
)

// maxDiff bounds what comparing two texts takes: their lines, multiplied. Of larger
// ones all lines between the first and the last change are shown.
const maxDiff = 4_000_000

// diffLines returns what makes now of was: lines that are gone behind "- ", new ones
// behind "+ ".
func diffLines(was, now string) (lines []string) {
	a, b := slices.Collect(strings.Lines(was)), slices.Collect(strings.Lines(now))
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	common := make([][]int, len(a)+1) // lines that a[i:] and b[j:] have in common, in order
	for i := len(a); i >= 0 && len(a)*len(b) <= maxDiff; i-- {
		common[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0 && i < len(a); j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && common[i] != nil && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i] == nil || common[i+1][j] >= common[i][j+1]):
			lines = append(lines, "- "+a[i])
			i++
		default:
			lines = append(lines, "+ "+b[j])
			j++
		}
	}
	return lines
}
