// Package plain makes foreign text safe to write to a terminal, a prompt, a log or a header
// line.
package plain

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Line returns s as one line of at most limit characters. It removes control characters
// and the sequences that a terminal obeys, invisible characters, those that change the direction
// of text, and invalid UTF-8. White space becomes one space. A line that is cut ends
// with "…", behind a whole word if one ends near.
func Line(s string, limit int) string {
	line := strings.Join(strings.FieldsFunc(clean(s, limit), unicode.IsSpace), " ")
	short := cut(line, limit)
	if short == line {
		return line
	}
	head := strings.TrimSuffix(short, "…")
	if strings.HasPrefix(line[len(head):], " ") {
		return short
	}
	at := strings.LastIndexByte(head, ' ')
	if at < 0 || utf8.RuneCountInString(head[at:]) > min(limit/2, longWord) {
		return short
	}
	return head[:at] + " …"
}

// longWord is how many characters of a word are left out rather than shown without its end.
const longWord = 40

// Text does the same as Line, but keeps line feeds, tabs and spaces.
func Text(s string, limit int) string {
	s = strings.ReplaceAll(clean(s, limit), "\r\n", "\n")
	return cut(strings.ReplaceAll(s, "\r", " "), limit)
}

// End does the same as Text with the end of s, of at most so many bytes.
func End(s string, bytes int) string {
	if len(s) > bytes {
		s = strings.ToValidUTF8(s[len(s)-bytes:], "")
	}
	return Text(s, bytes)
}

// clean removes what is not safe. It looks only at the beginning of s, at more than limit characters, since foreign
// text can be huge.
func clean(s string, limit int) string {
	if most := 16*limit + 1024; len(s) > most {
		s = s[:most]
	}
	if strings.ContainsAny(s, "\x1b\u009b") {
		s = sequences().ReplaceAllString(s, "")
	}
	safe := func(r rune) rune {
		switch {
		case r >= ' ' && r <= '~', r == '\n', r == '\t', r == '\r': // most of all text, so the tables are not asked
			return r
		case unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Co, r), invisible(r):
			return -1
		}
		return r
	}
	if !strings.ContainsAny(s, string([]rune{joiner, selector})) {
		return strings.Map(safe, s)
	}
	var b strings.Builder
	before := rune(0)
	for i, r := range s {
		if !joins(before, r, s[i:]) {
			r = safe(r)
		}
		if r >= 0 {
			b.WriteRune(r)
			before = r
		}
	}
	return b.String()
}

// What makes one emoji of several, and a picture of a sign: https://unicode.org/reports/tr51/
const (
	joiner   = '\u200d'
	selector = '\ufe0f'
)

// joins reports whether the character at the beginning of rest belongs to the emoji before it. One selector behind a
// symbol, and one joiner between two symbols, hide nothing.
func joins(before, r rune, rest string) bool {
	symbol := unicode.Is(unicode.So, before)
	if r == selector {
		return symbol
	}
	if r != joiner {
		return false
	}
	isTone := before >= '\U0001f3fb' && before <= '\U0001f3ff'
	after, _ := utf8.DecodeRuneInString(rest[len(string(joiner)):])
	return (symbol || isTone || before == selector) && unicode.Is(unicode.So, after)
}

// sequences finds what terminals obey: colours, links and titles. Text that a sequence does not end stays.
var sequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|` +
		`\x1b\][^\x07\x1b\n]{0,900}(?:\x07|\x1b\\)|\x1b[()][0-9A-B]`)
})

// invisible reports whether nobody sees a character, so that it could hide a text: what
// Unicode says to ignore where it is not known (Default_Ignorable_Code_Point), and the
// blank of Braille.
func invisible(r rune) bool {
	const blankBraille = '\u2800'
	return r == blankBraille || r > unicode.MaxASCII &&
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Visible returns the whole of s as one line in which everything shows. A line feed is \n
// there. Any other character that nobody sees, or that moves the text around it, is its
// number: \u200b.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"), r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Shell returns the whole of a line for the shell so that a person can read it: as it is,
// or, if not all of it shows, in the quotes that shells have for this, $'…'.
func Shell(line string) string {
	if !strings.ContainsFunc(line, hidden) && !strings.HasPrefix(line, "$'") {
		return line
	}
	return "$'" + Visible(strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(line)) + "'"
}

// hidden reports whether a character does not show as itself: it is no graphic character
// and no space, nobody sees it, or it is of a script that is written from the right, which
// turns the text around it.
func hidden(r rune) bool {
	return r < ' ' || r > '~' && (r == utf8.RuneError || !unicode.IsPrint(r) || invisible(r) || fromRight(r))
}

// fromRight reports whether a character is in one of the blocks of scripts that are
// written from the right.
func fromRight(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff ||
		r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// cut returns s, or its beginning and "…" if it has more than limit characters.
func cut(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return string(runes[:limit-1]) + "…"
}

// First returns the first of some names in a line of at most limit characters, and counts the others.
func First(names []string, most, limit int) string {
	text := Line(strings.Join(names[:min(most, len(names))], ", "), limit)
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Count returns a number with the thing that is counted: "1 feature", "3 features".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Instant shows a time to programs; the zero time is "".
func Instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Duration returns a time as a person types it: "8h" and "1h30m", not "8h0m0s".
func Duration(d time.Duration) string {
	text := d.Round(time.Second).String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Dollars shows a cost in cents. One that is reckoned from prices is marked.
func Dollars(usd float64, estimated bool) string {
	text := fmt.Sprintf("$%.2f", usd)
	if usd > 0 && usd < 0.005 {
		text = "<$0.01"
	}
	if estimated {
		text = "≈" + text
	}
	return text
}

// Tokens shows a number of tokens in short.
func Tokens(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 999_950: // the next one is 1.0M
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e3), ".0") + "k"
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Path shows a path to a person or an agent: from the project's root if it is
// below that, with slashes, as one line.
func Path(project, path string) string {
	if rel, err := filepath.Rel(project, path); err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return Line(filepath.ToSlash(path), 300)
}

// Special reports whether a character may mean something to a shell.
func Special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}
