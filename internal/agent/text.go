package agent

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxText is how many bytes of an agent's plain text are its answer.
const maxText = 64 << 10

// textParser reads any command that prints plain text.
type textParser struct {
	tail  []byte // the end of the output, without terminal escapes
	last  []byte // the beginning of the last line that is not blank; empty: nothing new since it was asked for
	shown string // the last line that was asked for, cleaned
}

// NewText returns the Parser for a command that prints plain text. The end of its output is its final answer, and only
// its exit status says how it ended.
func NewText() Parser { return &textParser{} }

func (p *textParser) Line(line []byte, _ bool, _ time.Time) {
	if most := 4 * maxText; len(line) > most {
		line = line[len(line)-most:] // there is enough of it, even if escapes are in it
	}
	line = bytes.TrimRight(line, "\r")
	line = line[bytes.LastIndexByte(line, '\r')+1:] // a terminal writes the rest over what is before
	begin := len(p.tail)
	p.tail = append(appendVisible(p.tail, line), '\n')
	if line := bytes.TrimSpace(p.tail[begin:]); len(line) > 0 {
		p.last = append(p.last[:0], line[:min(len(line), 4*textChars)]...)
	}
	if len(p.tail) > 4*maxText {
		p.tail = append(p.tail[:0], p.tail[len(p.tail)-maxText-1:]...) // one more: it shows whether a line begins there
	}
}

func (p *textParser) Heard() Heard {
	if len(p.last) > 0 {
		p.shown, p.last = cmp.Or(plain.Line(string(p.last), textChars), p.shown), p.last[:0]
	}
	return Heard{Text: p.shown}
}

func (p *textParser) Outcome(exit Exit, _ time.Time) Outcome {
	if exit.NotStarted != nil {
		return exit.notStarted()
	}
	o := Outcome{Class: Done, Message: p.answer()}
	if exit.Code != 0 {
		o.Class, o.Problem = Died, exit.problem("")
	}
	return o
}

// answer returns the end of the output, at most maxText bytes of it. It begins at the start of a line, unless the last
// line is longer.
func (p *textParser) answer() string {
	text := string(p.tail)
	if len(text) > maxText {
		at := len(text) - maxText
		if line := strings.IndexByte(text[at-1:], '\n'); line >= 0 && at+line < len(text) {
			at += line
		}
		text = text[at:]
	}
	return strings.TrimLeft(strings.TrimRight(strings.ToValidUTF8(text, ""), " \t\n"), "\n")
}

// appendVisible appends a line without its terminal escapes, as ECMA-48 has them: ESC and one character, a control
// sequence, or a string up to BEL or ESC \.
func appendVisible(to, line []byte) []byte {
	const esc, bel = 0x1b, 0x07
	for {
		at := bytes.IndexByte(line, esc)
		if at < 0 || at+1 == len(line) {
			return append(to, bytes.TrimSuffix(line, []byte{esc})...)
		}
		to = append(to, line[:at]...)
		kind, rest := line[at+1], line[at+2:]
		switch {
		case kind == '[':
			line = afterAny(rest, 0x20, 0x3f)
			line = line[min(len(line), 1):]
		case bytes.IndexByte([]byte("]PX^_"), kind) >= 0:
			end := bytes.IndexAny(rest, "\x07\x1b")
			if end < 0 {
				return to
			}
			line = bytes.TrimPrefix(rest[end:], []byte{bel})
			line = bytes.TrimPrefix(line, []byte{esc, '\\'})
		case kind >= 0x20 && kind <= 0x2f:
			line = afterAny(rest, 0x20, 0x2f)
			line = line[min(len(line), 1):]
		default:
			line = rest
		}
	}
}

// afterAny returns text behind its first bytes that are between low and high.
func afterAny(text []byte, low, high byte) []byte {
	for len(text) > 0 && text[0] >= low && text[0] <= high {
		text = text[1:]
	}
	return text
}
