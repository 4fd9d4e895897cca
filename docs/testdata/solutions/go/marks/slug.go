// Package slug makes names for addresses from titles.
package slug

import (
	"strings"
	"unicode"
)

// Make returns the slug of a title.
func Make(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return strings.Join(words, "-")
}
