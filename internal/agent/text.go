package agent

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// maxText is how many bytes of an agent's plain text are its answer.
const maxText = 64 << 10

// textParser reads any command that prints plain text.
type textParser struct {
	tail proc.Tail // the end of the output, without terminal escapes
	last string    // the last line in which something is to be seen, cleaned
}

// NewText returns the Parser for a command that prints plain text. The end of its output is its final answer, and only
// its exit status says how it ended.
func NewText() Parser {
	return &textParser{tail: proc.Tail{Limit: maxText + 1}} // one more: it shows whether a line begins there
}

func (p *textParser) Line(line []byte, _ bool) {
	if most := 4 * maxText; len(line) > most {
		line = line[len(line)-most:] // there is enough of it, even if escapes are in it
	}
	line = bytes.TrimRight(line, "\r")
	line = line[bytes.LastIndexByte(line, '\r')+1:] // a terminal writes the rest over what is before
	text := ansi.Strip(string(line))
	_, _ = p.tail.Write([]byte(text + "\n"))
	p.last = cmp.Or(plain.Line(strings.TrimSpace(text), textChars), p.last)
}

func (p *textParser) Activity() Activity { return Activity{Text: p.last} }

func (p *textParser) Outcome(exit Exit, _ time.Time) Outcome {
	o := Outcome{Class: Done, Message: p.answer()}
	if exit.Code != 0 {
		if exit.Stderr == "" {
			exit.Stderr = p.last
		}
		o.Class, o.Problem = Died, exit.problem("")
	}
	return o
}

// answer returns the end of the output, at most maxText bytes of it. It begins at the start of a line, unless the last
// line is longer.
func (p *textParser) answer() string {
	text := string(p.tail.Bytes())
	if len(text) > maxText {
		at := len(text) - maxText
		if line := strings.IndexByte(text[at-1:], '\n'); line >= 0 && at+line < len(text) {
			at += line
		}
		text = text[at:]
	}
	return strings.TrimLeft(strings.TrimRight(strings.ToValidUTF8(text, ""), " \t\n"), "\n")
}
