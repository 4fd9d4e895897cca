package client

import (
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// quiet begins the line of an entry that does nothing where the program is missing. The program
// takes the shell's place, so the host sees one process.
const quiet = "command -v " + program + " >/dev/null 2>&1 || exit 0; exec " + program

// quietLine returns the line for these arguments.
func quietLine(args []string) string { return quiet + " " + plain.CommandLine(args) }

// wordSafe has the characters that mean no more than themselves to a shell.
const wordSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"

// quietWords returns the arguments of such a line, as a shell reads them. It reports false for
// any other line, and for one that does more.
func quietWords(line string) (args []string, is bool) {
	rest, is := strings.CutPrefix(line, quiet+" ")
	if !is {
		return nil, line == quiet
	}
	return shellWords(rest)
}

// shellWords returns the words of a line, as a shell reads them. It reports false for a line that does more than to
// call a program.
func shellWords(rest string) (args []string, is bool) {
	var word strings.Builder
	begun := false
	for rest != "" {
		switch c := rest[0]; {
		case c == ' ' || c == '\t':
			if begun {
				args = append(args, word.String())
			}
			word.Reset()
			begun = false
		case c == '\'' || c == '"':
			inner, after, closed := strings.Cut(rest[1:], string(c))
			if !closed || c == '"' && strings.ContainsAny(inner, "$`\\") {
				return nil, false
			}
			word.WriteString(inner)
			begun = true
			rest = after
			continue
		case c == '\\' && len(rest) > 1 && rest[1] != '\n':
			word.WriteByte(rest[1])
			begun = true
			rest = rest[1:]
		case c >= 0x80 || strings.IndexByte(wordSafe, c) >= 0:
			word.WriteByte(c)
			begun = true
		default:
			return nil, false
		}
		rest = rest[1:]
	}
	if begun {
		args = append(args, word.String())
	}
	return args, true
}
