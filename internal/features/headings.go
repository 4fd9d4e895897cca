package features

import (
	"slices"
	"strings"
	"unicode"
)

// SkipHeadings are the headings of Markdown below which nothing is work, if nobody names
// others.
var SkipHeadings = []string{"Optional", "Future", "Nice to have", "Out of scope"}

var headingTails, headingGlue, headingCounts = table.Set("heading tails"), table.Set("heading glue"),
	table.Set("heading counts")

// isSkipHeading tells whether a heading is one of these phrases, or ends with one in
// brackets. A heading that only contains one is about something else: "Optional fields".
func isSkipHeading(heading string, phrases []string) bool {
	heading = strings.TrimSpace(heading)
	if head, last, has := cutBrackets(heading); has {
		if isPhrase(headingWords(last), phrases) {
			return true
		}
		if len(headingWords(head)) > 0 { // "Future (after v1)"
			heading = head
		}
	}
	return isPhrase(withoutNumber(headingWords(heading)), phrases)
}

// cutBrackets cuts what is in brackets at the end of a heading.
func cutBrackets(heading string) (head, last string, has bool) {
	heading = strings.TrimRight(heading, " .:!?*_`~")
	for _, pair := range []string{"()", "[]"} {
		if inner, closed := strings.CutSuffix(heading, pair[1:]); closed {
			if at := strings.LastIndexByte(inner, pair[0]); at >= 0 {
				return inner[:at], inner[at+1:], true
			}
		}
	}
	return heading, "", false
}

// headingWords returns the words of a heading in lower case.
func headingWords(heading string) []string {
	heading = strings.Map(func(r rune) rune {
		switch {
		case r == '\'' || r == '’':
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, heading)
	return strings.Fields(heading)
}

// withoutNumber returns the words of a heading without its number: "3.1", "IV", "Phase 2".
func withoutNumber(words []string) []string {
	counted := len(words) > 1 && headingCounts()[words[0]] && isNumber(words[1])
	if counted {
		words = words[1:]
	}
	for len(words) > 1 && isNumber(words[0]) {
		words = words[1:]
	}
	return words
}

// isNumber tells whether a word counts: "12", "iv", "b", "v2", "p3".
func isNumber(word string) bool {
	digits := strings.TrimLeft(word, "vp")
	return len(word) == 1 || strings.Trim(word, "ivx") == "" ||
		len(word)-len(digits) < 2 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isPhrase tells whether words are one or more of the phrases, and else only words that
// change nothing.
func isPhrase(words []string, phrases []string) bool {
	found := false
	for len(words) > 0 {
		n := 0
		for _, phrase := range phrases {
			n = max(n, beginWith(words, headingWords(phrase)))
		}
		word := strings.TrimSuffix(words[0], "s")
		switch {
		case n > 0:
			found = true
		case headingGlue()[word], found && headingTails()[word]:
			n = 1
		default:
			return false
		}
		words = words[n:]
	}
	return found
}

// beginWith returns the length of a phrase that words begin with, else 0. The last word of
// several may have an s more or less: "Nice to haves".
func beginWith(words, phrase []string) int {
	n := len(phrase) - 1
	if n < 0 || len(words) <= n || !slices.Equal(words[:n], phrase[:n]) {
		return 0
	}
	a, b := words[n], phrase[n]
	if a == b || n > 0 && strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s") {
		return n + 1
	}
	return 0
}
