package plain

import (
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Arg writes a word for the shells of this system, so that a person can paste it. It runs
// nothing there, also if quotes that stand around the whole advice are pasted with it.
func Arg(s string) string {
	if runtime.GOOS == "windows" {
		return windowsArg(s)
	}
	return posixArg(s)
}

// CommandLine shows the words of a command as a person types them. It is for reading: Arg is for
// what is pasted with quotes around it. A POSIX shell reads the words back from it.
func CommandLine(words []string) string {
	typed := make([]string, len(words))
	for i, word := range words {
		typed[i] = word
		bare := func(r rune) bool { return isBare(r, "-_./:=@%+,") }
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !bare(r) }) {
			typed[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(typed, " ")
}

// posixArg writes a word for a POSIX shell. It escapes each special character, so that none
// is bare after a quote in s that ends the quotes around the advice.
func posixArg(s string) string {
	if s == "" {
		return "''"
	}
	var b strings.Builder
	for first := true; s != ""; first = false {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\n': // after a backslash it would be nothing
			b.WriteString("\"\n\"")
		case isBare(r, "-_./:+") || !first && strings.ContainsRune("=@%", r): // some shells read these as more
			b.WriteString(s[:n])
		default:
			b.WriteString(`\` + s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// windowsArg writes a word for both cmd.exe and PowerShell. There is no form that both read
// for what is special in double quotes, or ends the quotes around the advice: that becomes "?".
func windowsArg(s string) string {
	const special = "$%`\"'‘’‚‛“”„"
	isSpecial := func(r rune) bool { return !isBare(r, `-_./:+\`) || strings.ContainsRune(special, r) }
	if s != "" && !strings.ContainsFunc(s, isSpecial) {
		return s
	}
	return `"` + strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(special, r) {
			return '?'
		}
		return r
	}, s) + `"`
}

// isBare reports whether no shell reads a character as more than itself.
func isBare(r rune, also string) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(also, r) ||
		r > unicode.MaxASCII && !unicode.IsSpace(r) && r != utf8.RuneError
}
