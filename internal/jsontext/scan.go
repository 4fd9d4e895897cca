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
	plain bool // the last string has no escapes
}

// Peek returns the first byte of what comes next, 0 at the end and after a fault.
func (s *Scanner) Peek() byte {
	if s.bad {
		return 0
	}
	for ; s.Pos < len(s.Text); s.Pos++ {
		if c := s.Text[s.Pos]; c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
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
// it, its quotes at at; ok is false when the object has ended.
func (s *Scanner) Key() (key string, at int, ok bool) {
	if !s.more('}') {
		return "", 0, false
	}
	at = s.Pos
	if s.Peek() != '"' || !s.str() {
		s.bad = true
		return "", 0, false
	}
	key = s.Text[at+1 : s.Pos-1]
	if s.Peek() != ':' {
		s.bad = true
		return "", 0, false
	}
	s.Pos++
	if !s.plain {
		key = Unquote(s.Text[at : at+len(key)+2])
	}
	return key, at, true
}

// Elem goes to the next element of the array it is in; false when that has ended.
func (s *Scanner) Elem() bool { return s.more(']') }

func (s *Scanner) more(end byte) bool {
	c := s.Peek()
	switch {
	case s.bad:
		return false
	case c == end && c != 0:
		s.Pos++
		s.depth--
		s.first = false
		return false
	case !s.first && c != ',':
		s.bad = true
		return false
	case !s.first:
		s.Pos++
		s.Peek()
	}
	s.first = false
	return true
}

// Skip passes the value that comes next and returns its text.
func (s *Scanner) Skip() string {
	c := s.Peek()
	begin := s.Pos
	switch {
	case s.bad:
	case c == '"':
		s.bad = !s.str()
	case c == '{':
		s.Enter()
		for {
			if _, _, ok := s.Key(); !ok {
				break
			}
			s.Skip()
		}
	case c == '[':
		s.Enter()
		for s.Elem() {
			s.Skip()
		}
	case c == '-' || c >= '0' && c <= '9':
		s.bad = !s.number()
	default:
		s.bad = true
		for _, word := range []string{"true", "false", "null"} {
			if strings.HasPrefix(s.Text[s.Pos:], word) {
				s.Pos += len(word)
				s.bad = false
			}
		}
	}
	return s.Text[begin:s.Pos]
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str passes the string at Pos, eight bytes at a time where nothing in them is
// special.
func (s *Scanner) str() bool {
	t, i := s.Text, s.Pos+1
	s.plain = true
	for i < len(t) {
		if i+8 <= len(t) {
			w := uint64(t[i]) | uint64(t[i+1])<<8 | uint64(t[i+2])<<16 | uint64(t[i+3])<<24 |
				uint64(t[i+4])<<32 | uint64(t[i+5])<<40 | uint64(t[i+6])<<48 | uint64(t[i+7])<<56
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			// The lowest byte that is marked is special, those above may not be.
			special := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*' ')&^w) & highs
			if special == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(special) / 8
		}
		switch c := t[i]; {
		case c == '"':
			s.Pos = i + 1
			return true
		case c < ' ':
			return false
		case c == '\\':
			s.plain = false
			if i++; i == len(t) {
				return false
			}
			switch t[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if i++; i == len(t) || !isHex(t[i]) {
						return false
					}
				}
			default:
				return false
			}
		}
		i++
	}
	return false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// number passes the number at Pos.
func (s *Scanner) number() bool {
	t := s.Text
	digits := func() bool {
		begin := s.Pos
		for s.Pos < len(t) && t[s.Pos] >= '0' && t[s.Pos] <= '9' {
			s.Pos++
		}
		return s.Pos > begin
	}
	at := func(any string) bool {
		if s.Pos < len(t) && strings.IndexByte(any, t[s.Pos]) >= 0 {
			s.Pos++
			return true
		}
		return false
	}
	at("-")
	if !at("0") && !digits() {
		return false
	}
	if at(".") && !digits() {
		return false
	}
	if at("eE") {
		at("+-")
		return digits()
	}
	return true
}

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
