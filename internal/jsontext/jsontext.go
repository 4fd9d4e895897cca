// Package jsontext checks JSON before gjson and sjson see it: they also give answers on
// broken text, and nothing bounds their recursion. It says at which line and column a
// text is wrong, and reads and writes our own records.
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

// maxDepth bounds nesting. The parsers recurse, and a stack overflow ends a Go program
// with exit status 2, which the host takes for a block.
const maxDepth = 200

// BOM is the byte order mark of UTF-8. Editors on Windows write it before the text.
var BOM = []byte("\xef\xbb\xbf")

// Error says what is wrong with a text, and where.
type Error struct {
	Line, Col int // both from 1; Col counts characters, not bytes
	Problem   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Problem)
}

// ErrorAt returns the Error for a problem at a byte offset of text, which has no byte
// order mark.
func ErrorAt(text []byte, offset int, problem string) *Error {
	before := text[:min(offset, len(text))]
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	return &Error{Line: 1 + bytes.Count(before, []byte("\n")), Col: 1 + utf8.RuneCount(last), Problem: problem}
}

// Check returns data without its byte order mark if that is one valid JSON value, which
// gjson and sjson can read safely. Else it returns an *Error.
func Check(data []byte) ([]byte, error) {
	text := bytes.TrimPrefix(data, BOM)
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, ErrorAt(text, 0, "nothing here, want JSON")
	}
	if at := tooDeep(text); at >= 0 {
		return nil, ErrorAt(text, at, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	}
	if !gjson.ValidBytes(text) {
		offset, problem := explain(text)
		return nil, ErrorAt(text, offset, problem)
	}
	return text, nil
}

// tooDeep returns the offset of the bracket that is nested too deep, or -1 if none is. The text need not be valid.
func tooDeep(text []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			if depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// String returns text as a string without copying it. Nobody may write to text afterwards.
func String(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }

// explain returns what encoding/json says is wrong with a text that is not valid, and the offset.
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

// hint returns what to do about the mistakes that people make most, or nothing.
func hint(text []byte, offset int) string {
	if offset >= len(text) {
		return ""
	}
	at, before := text[offset], bytes.TrimRight(text[:offset], " \t\r\n")
	comma := bytes.HasSuffix(before, []byte(","))
	value := len(before) > 0 && strings.IndexByte(`"}]el0123456789`, before[len(before)-1]) >= 0 // before ends with one
	switch {
	case comma && (at == ']' || at == '}'):
		return "; take out the comma before it"
	case at == '\'':
		return "; JSON has double quotes"
	case (at == '"' || at == '{') && value:
		return "; a comma is lacking before it"
	}
	return ""
}
