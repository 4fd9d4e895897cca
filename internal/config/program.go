package config

import (
	"path"
	"strings"
)

// ProjectProgram returns the program of a command if that is a file of the project by its path, as in ./notify.sh or
// scripts/notify.sh; else "". Of a line for the shell it is the first word.
func (c Command) ProjectProgram() string {
	word := c.program()
	if !strings.Contains(word, "/") || path.IsAbs(word) || strings.ContainsAny(word, "\"'\\`$~*?=<>|&;()#:") {
		return ""
	}
	word = path.Clean(word)
	if word == ".." || strings.HasPrefix(word, "../") {
		return ""
	}
	return word
}

// What may stand before the first word of a line for the shell, and what ends that word.
const (
	blank    = " \t\n"
	endsWord = blank + ";&|<>"
)

func (c Command) program() string {
	if c.Shell == "" {
		return append(c.Argv, "")[0]
	}
	line := strings.TrimLeft(c.Shell, blank)
	if end := strings.IndexAny(line, endsWord); end >= 0 {
		return line[:end]
	}
	return line
}

// WithProgram returns the command with the program at a path instead of its own.
func (c Command) WithProgram(file string) Command {
	if c.Shell == "" {
		c.Argv = append([]string{file}, c.Argv[1:]...)
		return c
	}
	word := c.program()
	rest := strings.TrimPrefix(strings.TrimLeft(c.Shell, blank), word)
	c.Shell = "'" + strings.ReplaceAll(file, "'", `'\''`) + "'" + rest
	return c
}
