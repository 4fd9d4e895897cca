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
	return cut(strings.Join(strings.FieldsFunc(clean(s, limit), unicode.IsSpace), " "), limit)
}

// Text is Line for several lines: line feeds stay.
func Text(s string, limit int) string {
	s = strings.ReplaceAll(clean(s, limit), "\r\n", "\n")
	return cut(strings.ReplaceAll(s, "\r", " "), limit)
}

// clean looks at no more than could be shown, since foreign text can be huge.
func clean(s string, limit int) string {
	if most := 16*limit + 1024; len(s) > most {
		s = s[:most]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return r
		case unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
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
