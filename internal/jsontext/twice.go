package jsontext

// Twice returns the first key that an object of a valid JSON text has twice, at any
// depth, or "" if there is none. Readers differ in which of two equal keys they take, so
// a text that has one means one thing to us and another to the program that uses it.
func Twice(text string) string {
	s := Scanner{Text: text}
	return s.twice()
}

func (s *Scanner) twice() (key string) {
	switch s.Peek() {
	case '{':
		seen := map[string]bool{}
		s.Enter()
		for name, _, ok := s.Key(); ok && key == ""; name, _, ok = s.Key() {
			if seen[name] {
				return name
			}
			seen[name] = true
			key = s.twice()
		}
	case '[':
		s.Enter()
		for key == "" && s.Elem() {
			key = s.twice()
		}
	default:
		s.Skip()
	}
	return key
}
