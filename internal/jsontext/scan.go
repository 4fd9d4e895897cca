package jsontext

import (
	"fmt"
	"strings"
)

// Scanner reads a JSON text once, from its beginning, and checks it: what is before Pos
// is valid. It builds no tree of values, so a text takes no memory besides its own.
// At the first error the text seems to end there, and Err says what is wrong.
type Scanner struct {
	Text string // without a byte order mark
	Pos  int    // offset of what comes next
	From int    // offset of the value that Err is about

	depth int
	first bool // nothing was read yet of the object or array
	bad   bool // an error was met
}

// Peek returns the first byte of what comes next, or 0 at the end and after an error.
func (s *Scanner) Peek() byte {
	s.Pos = skipBlank(s.Text, s.Pos)
	if s.bad || s.Pos == len(s.Text) {
		return 0
	}
	return s.Text[s.Pos]
}

// skipBlank returns the offset after the white space that begins at i.
func skipBlank(t string, i int) int {
	for i < len(t) && t[i] <= ' ' && (t[i] == ' ' || t[i] == '\n' || t[i] == '\r' || t[i] == '\t') {
		i++
	}
	return i
}

// Enter passes the opening bracket of the object or array that comes next.
func (s *Scanner) Enter() {
	s.depth++
	if s.depth > maxDepth {
		s.bad = true
		return
	}
	s.Pos++
	s.first = true
}

// Key passes the next key of the object, up to its value. It returns the key and the
// offset of its opening quote; ok is false at the end of the object, which it passes.
func (s *Scanner) Key() (key string, at int, ok bool) {
	if !s.next('}') {
		return "", 0, false
	}
	t, at := s.Text, s.Pos
	end, plain := quoted(t, at)
	colon := skipBlank(t, end)
	if end == at || colon == len(t) || t[colon] != ':' {
		s.bad = true
		return "", 0, false
	}
	s.Pos = skipBlank(t, colon+1)
	if !plain {
		return Unquote(t[at:end]), at, true
	}
	return t[at+1 : end-1], at, true
}

// Elem goes to the next element of the array. It returns false at the end of the array,
// which it passes.
func (s *Scanner) Elem() bool { return s.next(']') }

// next goes to the next key or element. It returns false at the bracket end, which it
// passes.
func (s *Scanner) next(end byte) bool {
	t, i := s.Text, skipBlank(s.Text, s.Pos)
	first := s.first
	s.first = false
	switch {
	case s.bad || i == len(t):
		s.bad = true
		return false
	case t[i] == end:
		s.Pos = i + 1
		s.depth--
		return false
	case first:
		s.Pos = i
		return true
	}
	s.bad = t[i] != ','
	s.Pos = skipBlank(t, i+1)
	return !s.bad
}

// Skip passes the value that comes next and returns its text.
func (s *Scanner) Skip() string {
	t, begin := s.Text, skipBlank(s.Text, s.Pos)
	s.Pos = begin
	switch {
	case s.bad || begin == len(t):
	case t[begin] == '"':
		s.Pos, _ = quoted(t, begin)
	case t[begin] == '{':
		s.Enter()
		for {
			if _, _, ok := s.Key(); !ok {
				break
			}
			s.Skip()
		}
	case t[begin] == '[':
		s.Enter()
		for s.Elem() {
			s.Skip()
		}
	case t[begin] == 't':
		s.word("true")
	case t[begin] == 'f':
		s.word("false")
	case t[begin] == 'n':
		s.word("null")
	default:
		s.number()
	}
	s.bad = s.bad || s.Pos == begin
	return t[begin:s.Pos]
}

// word passes one of the words true, false and null.
func (s *Scanner) word(word string) {
	if strings.HasPrefix(s.Text[s.Pos:], word) {
		s.Pos += len(word)
	}
}

// quoted returns the offset after the string that begins at i, and whether it is plain:
// without escapes. It returns i if there is no valid string.
func quoted(t string, i int) (end int, plain bool) {
	begin := i
	if i == len(t) || t[i] != '"' {
		return begin, false
	}
	plain = true
	for i++; i < len(t); i++ {
		switch c := t[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			plain = false
			i = escape(t, i)
			if i < 0 {
				return begin, false
			}
		case c < ' ':
			return begin, false
		}
	}
	return begin, false
}

// escape returns the offset of the last byte of the escape that begins at i, or -1 if it
// is not valid.
func escape(t string, i int) int {
	i++
	if i == len(t) {
		return -1
	}
	switch t[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i
	case 'u':
		if i+4 < len(t) && isHex(t[i+1]) && isHex(t[i+2]) && isHex(t[i+3]) && isHex(t[i+4]) {
			return i + 4
		}
	}
	return -1
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// number passes a number. It passes nothing if there is no valid one.
func (s *Scanner) number() {
	t, i := s.Text, s.Pos
	digits := func() bool {
		begin := i
		for i < len(t) && t[i] >= '0' && t[i] <= '9' {
			i++
		}
		return i > begin
	}
	at := func(any string) bool {
		if i < len(t) && strings.IndexByte(any, t[i]) >= 0 {
			i++
			return true
		}
		return false
	}
	at("-")
	if !at("0") && !digits() || at(".") && !digits() {
		return
	}
	if at("eE") {
		at("+-")
		if !digits() {
			return
		}
	}
	s.Pos = i
}

// Err returns nil if the whole text was read and is one valid value, else an *Error.
func (s *Scanner) Err() error {
	switch {
	case s.depth > maxDepth:
		return ErrorAt([]byte(s.Text), s.Pos, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	case s.Peek() != 0 || s.bad || s.Pos != len(s.Text):
		offset, problem := explain([]byte(s.Text[s.From:]))
		return ErrorAt([]byte(s.Text), s.From+offset, problem)
	}
	return nil
}

// End finds where an object or array ends in a text that grows. It does not check the text.
type End struct {
	at       int // what is before it was looked at
	depth    int
	inString bool
	found    bool
}

// Found tells whether the text, of which the last call had the beginning, has the end.
func (e *End) Found(text []byte) bool {
	for ; e.at < len(text) && !e.found; e.at++ {
		switch c := text[e.at]; {
		case e.inString && c == '\\':
			if e.at+1 == len(text) {
				return false // the next call begins with it
			}
			e.at++
		case c == '"':
			e.inString = !e.inString
		case e.inString:
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			e.depth--
			e.found = e.depth <= 0
		}
	}
	return e.found
}
