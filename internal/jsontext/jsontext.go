// Package jsontext checks JSON before anything in it is believed: gjson and
// sjson answer on broken text too, and their recursion has no bound.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
)

// maxDepth bounds nesting: the parsers recurse, and a Go stack overflow is
// fatal with exit status 2, which the host takes for a block.
const maxDepth = 200

// BOM is the byte order mark that editors on Windows put before the text.
var BOM = []byte("\xef\xbb\xbf")

// Error is text that cannot be read, and where.
type Error struct {
	Line, Col int // both from 1; Col counts characters
	Problem   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Problem)
}

// ErrorAt turns an offset in text, which has no byte order mark, into an Error.
func ErrorAt(text []byte, offset int, problem string) *Error {
	before := text[:min(offset, len(text))]
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	return &Error{Line: 1 + bytes.Count(before, []byte("\n")), Col: 1 + utf8.RuneCount(last), Problem: problem}
}

// Check returns data without its byte order mark if that is one sound JSON
// value, safe to hand to gjson and sjson; else an *Error.
func Check(data []byte) ([]byte, error) {
	text := bytes.TrimPrefix(data, BOM)
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, ErrorAt(text, 0, "nothing here, want JSON")
	}
	s := Scanner{Text: String(text)}
	s.Skip()
	if err := s.Err(); err != nil {
		return nil, err
	}
	return text, nil
}

// String is text without a copy of it: nobody may write to text any more.
func String(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// Unquote returns the text that a sound JSON string stands for.
func Unquote(quoted string) string { return gjson.Parse(quoted).Str }

// explain asks encoding/json what is wrong with text that Scanner refused.
func explain(text []byte) (offset int, problem string) {
	err := json.Unmarshal(text, new(json.RawMessage))
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return 0, "not valid JSON"
	}
	problem = syntax.Error()
	if strings.HasPrefix(problem, "unexpected end") {
		return len(bytes.TrimRight(text, " \t\r\n")), "the text ends too soon"
	}
	offset = max(int(syntax.Offset)-1, 0)
	return offset, problem + hint(text, offset)
}

// hint says what to do about the slips that people make most.
func hint(text []byte, offset int) string {
	if offset >= len(text) {
		return ""
	}
	at, before := text[offset], bytes.TrimRight(text[:offset], " \t\r\n")
	switch comma := bytes.HasSuffix(before, []byte(",")); {
	case comma && (at == ']' || at == '}'):
		return "; take out the comma before it"
	case at == '\'':
		return "; JSON has double quotes"
	case (at == '"' || at == '{') && !comma && len(before) > 0 && bytes.IndexByte([]byte(`"}]el0123456789`), before[len(before)-1]) >= 0:
		return "; a comma is lacking before it"
	}
	return ""
}
