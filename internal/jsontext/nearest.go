package jsontext

import "strings"

// Nearest returns the known word that a misspelt word most likely stands for, in any
// case of letters, or nothing. Two words are alike if at most two letters differ, and at
// most one in three.
func Nearest(word string, known []string) (nearest string) {
	least := min(2, len(word)/3) + 1
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if d < least || d == least && nearest != "" && k < nearest {
			least, nearest = d, k
		}
	}
	return nearest
}

// distance returns the edit distance of Levenshtein, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
