package plain

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// Count returns a number with the thing that is counted: "1 feature", "3 features".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Arg quotes a word for a POSIX shell, so that a person can paste it.
func Arg(s string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
	if s != "" && strings.Trim(s, safe) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
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
