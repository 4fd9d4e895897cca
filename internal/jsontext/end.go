package jsontext

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
