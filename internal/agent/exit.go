package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// How many characters of an agent's words are shown.
const (
	problemChars = 300
	textChars    = 200
	toolChars    = 100
	nameChars    = 100 // of an id or a name
)

// noWords is the problem of an agent that has no words for it.
const noWords = "the agent reports an error and does not say which"

// interrupted reports whether a signal that asks a process to end has ended it: 1 (hangup), 2 (interrupt) or 15
// (terminated). Programs that catch such a signal exit with the same status.
func (e Exit) interrupted() bool { return slices.Contains([]int{129, 130, 143}, e.Code) }

// problem says how the process ended, and the last line of its standard error.
func (e Exit) problem(why string) string {
	how := fmt.Sprintf("exit status %d", e.Code)
	switch {
	case e.Code < 0:
		how = "ended by a signal"
	case e.Code == 137:
		how += ", which means that it was killed" // signal 9; often by a system that ran out of memory
	case e.interrupted():
		how += ", which means that a signal ended it"
	}
	if why != "" {
		how += ", " + why
	}
	if line := lastLine(e.Stderr); line != "" {
		how += ": " + line
	}
	return plain.Line(how, problemChars)
}

// lastLine returns the last line of text in which something is to be seen, cleaned, without terminal escapes.
func lastLine(text string) (last string) {
	for line := range strings.Lines(text) {
		last = cmp.Or(plain.Line(ansi.Strip(line), textChars), last)
	}
	return last
}
