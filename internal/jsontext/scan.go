package jsontext

import (
	"fmt"
	"math/bits"
	"strings"
)

// Scanner passes over a JSON text once and checks it on the way: what it has
// passed is sound. At the first fault there is nothing more to see, and Err says
// where it is. Texts of many megabytes are read by it without a tree of values.
type Scanner struct {
	Text string // without a byte order mark
	Pos  int    // bytes passed
	From int    // where the value begins that Err speaks of

	depth int
	first bool // just inside an object or array
	bad   bool
}

// Peek returns the first byte of what comes next, 0 at the end and after a fault.
func (s *Scanner) Peek() byte {
	s.Pos = blank(s.Text, s.Pos)
	if s.bad || s.Pos == len(s.Text) {
		return 0
	}
	return s.Text[s.Pos]
}

// blank returns where the white space ends that begins at i.
func blank(t string, i int) int {
	for i < len(t) && t[i] <= ' ' && (t[i] == ' ' || t[i] == '\n' || t[i] == '\r' || t[i] == '\t') {
		i++
	}
	return i
}

// Enter goes into the object or array that comes next.
func (s *Scanner) Enter() {
	if s.depth++; s.depth > maxDepth {
		s.bad = true
		return
	}
	s.Pos++
	s.first = true
}

// Key passes the next key of the object it is in, up to its value, and returns
// it and where its quotes begin; ok is false when the object has ended.
func (s *Scanner) Key() (key string, at int, ok bool) {
	if !s.more('}') {
		return "", 0, false
	}
	t, at := s.Text, s.Pos
	end, plain := quoted(t, at)
	colon := blank(t, end)
	if end == at || colon == len(t) || t[colon] != ':' {
		s.bad = true
		return "", 0, false
	}
	s.Pos = blank(t, colon+1)
	if !plain {
		return Unquote(t[at:end]), at, true
	}
	return t[at+1 : end-1], at, true
}

// Elem goes to the next element of the array it is in; false when that has ended.
func (s *Scanner) Elem() bool { return s.more(']') }

// more goes to the next member of what it is in, false when that has ended.
func (s *Scanner) more(end byte) bool {
	t, i := s.Text, blank(s.Text, s.Pos)
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
	s.Pos = blank(t, i+1)
	return !s.bad
}

// Skip passes the value that comes next and returns its text.
func (s *Scanner) Skip() string {
	t, begin := s.Text, blank(s.Text, s.Pos)
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

func (s *Scanner) word(word string) {
	if strings.HasPrefix(s.Text[s.Pos:], word) {
		s.Pos += len(word)
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks those of eight bytes that a string may not have as they are, or that
// end it, in their highest bits. The lowest one that is marked is special, those
// above it may not be.
func special(b string) uint64 {
	w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	// What is less than 1, or than a space, borrows from its highest bit.
	return ((w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones) | (w - ones*' ')) &^ w & highs
}

// quoted returns where the string ends that begins at i, which is i where there is
// none or it is not sound, and whether it is written as it reads. It looks at eight
// bytes at a time where nothing in them is special.
func quoted(t string, i int) (end int, plain bool) {
	begin := i
	if i == len(t) || t[i] != '"' {
		return begin, false
	}
	plain = true
	for i++; i < len(t); i++ {
		for i+16 <= len(t) {
			b := t[i : i+16] // of a known length, so that eight of its bytes are one load
			if m := special(b[:8]); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			if m := special(b[8:]); m != 0 {
				i += 8 + bits.TrailingZeros64(m)/8
				break
			}
			i += 16
		}
		switch {
		case i == len(t) || t[i] < ' ':
			return begin, false
		case t[i] == '"':
			return i + 1, plain
		case t[i] == '\\':
			plain = false
			if i = escape(t, i); i < 0 {
				return begin, false
			}
		}
	}
	return begin, false
}

// escape returns the last byte of the escape at i, -1 where it is none.
func escape(t string, i int) int {
	if i++; i == len(t) {
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

// number passes the number at Pos, nothing where there is none.
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

// Bad tells whether it has met a fault.
func (s *Scanner) Bad() bool { return s.bad }

// Err says what is wrong with the text, nil where it was one sound value and
// Pos is at its end.
func (s *Scanner) Err() error {
	switch {
	case s.depth > maxDepth:
		return ErrorAt([]byte(s.Text), s.Pos, fmt.Sprintf("nested deeper than %d levels", maxDepth))
	case s.bad || s.Peek() != 0 || s.Pos < len(s.Text):
		offset, problem := explain([]byte(s.Text[s.From:]))
		return ErrorAt([]byte(s.Text), s.From+offset, problem)
	}
	return nil
}
