package agent

import "bytes"

// Lines cuts what an agent prints into lines, which end in "\n" or "\r\n", and gives each to a Parser. It holds at most
// MaxLine bytes.
type Lines struct {
	Parser Parser

	part []byte // the beginning of a line whose end has not come
	cut  bool   // part is full, and more of the line has come
}

// Write gives all lines to the parser that end in text. It returns len(text) and no error.
func (l *Lines) Write(text []byte) (int, error) {
	written := len(text)
	for {
		line, rest, ends := bytes.Cut(text, []byte("\n"))
		l.keep(line)
		if !ends {
			return written, nil
		}
		l.give()
		text = rest
	}
}

// Close gives the last line to the parser if that line has no end.
func (l *Lines) Close() {
	if len(l.part) > 0 {
		l.give()
	}
}

// keep adds text to the line whose end has not come. Memory doubles, so that a long line in small pieces is not copied
// for each of them.
func (l *Lines) keep(text []byte) {
	if room := MaxLine - len(l.part); len(text) > room {
		text, l.cut = text[:room], true
	}
	if need := len(l.part) + len(text); need > cap(l.part) {
		l.part = append(make([]byte, 0, min(max(need, 2*cap(l.part), 4<<10), MaxLine)), l.part...)
	}
	l.part = append(l.part, text...)
}

// give gives the line to the parser.
func (l *Lines) give() {
	line := l.part
	if !l.cut {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	l.Parser.Line(line, l.cut)
	l.part, l.cut = l.part[:0], false
}
