package jsontext

import "strings"

// Nearest returns the word that was probably meant by one that is not known, empty
// where none is like it: more than a slip in three letters is another word.
func Nearest(word string, known []string) (nearest string) {
	best := min(2, len(word)/3) + 1
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < best || d == best && nearest != "" && k < nearest {
			best, nearest = d, k
		}
	}
	return nearest
}

// distance is the edit distance of Levenshtein.
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
