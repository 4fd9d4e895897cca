package chain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says what is wrong with a definition, and where.
type Error struct {
	Text    string // the whole definition
	At      int    // the offset of the place in it, in bytes
	Problem string
}

// Error names the place by the number of its character, the first one 1.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (character %d)", e.Problem, utf8.RuneCountInString(e.Text[:min(e.At, len(e.Text))])+1)
}

// contextWidth is how many characters are shown before and behind the place.
const contextWidth = 50

// Marked shows the part of the definition around the place, and below it a caret at the place. width returns how many
// columns a text takes in a terminal.
func (e *Error) Marked(width func(string) int) string {
	at := min(e.At, len(e.Text))
	before, behind := []rune(withoutControls(e.Text[:at])), []rune(withoutControls(e.Text[at:]))
	head, tail := "", ""
	if len(before) > contextWidth {
		head, before = "…", before[len(before)-contextWidth:]
	}
	if len(behind) > contextWidth {
		behind, tail = behind[:contextWidth], "…"
	}
	head += string(before)
	return head + string(behind) + tail + "\n" + strings.Repeat(" ", width(head)) + "^"
}

// withoutControls replaces each character that would move the caret, or more than that, by one that does not.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r) || unicode.IsMark(r):
			return '?'
		}
		return r
	}, text)
}
