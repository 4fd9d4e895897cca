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

// distance returns the edit distance of Levenshtein, in bytes. Two neighbours that changed places are one edit.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
