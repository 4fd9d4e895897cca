// Package plain makes foreign text harmless before it reaches a terminal, a
// prompt, a log or a header line.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line of at most limit characters: no line breaks, no
// control characters (terminal escapes start with one), no invisible or
// direction-changing ones, no invalid UTF-8. What is cut off is marked by "…".
func Line(s string, limit int) string {
	return cut(strings.Join(strings.FieldsFunc(clean(s), unicode.IsSpace), " "), limit)
}

// Text is Line for several lines: line feeds stay.
func Text(s string, limit int) string {
	return cut(clean(strings.ReplaceAll(s, "\r\n", "\n")), limit)
}

func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
}

func cut(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}
