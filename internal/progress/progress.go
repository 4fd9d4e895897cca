// Package progress reads and edits the header of progress.txt.
//
// The file belongs to two writers. The hook keeps four lines near its top, the
// header; everything else is the agent's notes. An edit therefore changes the
// values of those lines and no other byte: line ends, a byte order mark, list
// markers and bold marks all stay as they were.
package progress

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// HeaderLines is how far down a header line is looked for. Notes below may
// quote "Status: …" without being taken for the header.
const HeaderLines = 20

// Header is the part of progress.txt that the hook keeps.
// A zero field means that the file has no such line.
type Header struct {
	Status        string // a status word such as IN_PROGRESS, as written
	Iteration     int    // 1 is the turn that the starting prompt began
	MaxIterations int    // the limit shown to people
	Feature       string // the feature that is worked on
}

// The keys of the header, in the order in which a new file has them.
const (
	keyStatus = iota
	keyIteration
	keyMax
	keyFeature
	keys
)

var keyNames = [keys]string{"Status", "Iteration", "Max Iterations", "Feature"}

// headerLine finds the key and the value of one line: an optional #, - or *
// before the name and ** around the name, or around name and colon. It is
// written out because a compiled pattern would cost every process that starts.
func headerLine(text []byte) (key int, value span, ok bool) {
	rest := bytes.TrimLeft(text, " \t")
	if marker := bytes.TrimLeft(rest, "#"); len(marker) < len(rest) {
		rest = marker
	} else if len(rest) > 1 && (rest[0] == '-' || rest[0] == '*') && (rest[1] == ' ' || rest[1] == '\t') {
		rest = rest[1:]
	}
	rest = bytes.TrimLeft(rest, " \t")
	rest, bold := bytes.CutPrefix(rest, []byte("**"))
	name, rest, colon := bytes.Cut(rest, []byte(":"))
	if !colon {
		return 0, span{}, false
	}
	if trimmed, closed := bytes.CutSuffix(name, []byte("**")); bold && closed {
		name = trimmed
	} else if bold {
		rest = bytes.TrimPrefix(rest, []byte("**"))
	}
	key = slices.Index(keyNames[:], string(bytes.TrimRight(name, " \t")))
	trimmed := bytes.TrimLeft(rest, " \t")
	start := len(text) - len(trimmed)
	return key, span{start, start + len(bytes.TrimRight(trimmed, " \t"))}, key >= 0
}

// number returns the digits at the start of a value; "3/15" and "3 of 15" keep
// what follows them.
func number(value []byte) []byte {
	rest := bytes.TrimLeft(value, "0123456789")
	return value[:min(len(value)-len(rest), maxDigits)]
}

// maxDigits keeps every count inside an int of 32 bits.
const maxDigits = 9

// maxValue is how much of a value counts: it is kept in the record, and ours are
// far shorter.
const maxValue = 1000

// span is where a value stands in the file.
type span struct{ start, end int }

// scan finds the first line of each name within the first HeaderLines lines.
func scan(data []byte) (found [keys]bool, at [keys]span) {
	pos, lines := top(data), 0
	for line := range bytes.Lines(data[pos:]) {
		if lines++; lines > HeaderLines {
			break
		}
		text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if k, v, ok := headerLine(text); ok && !found[k] {
			found[k], at[k] = true, span{pos + v.start, pos + v.end}
		}
		pos += len(line)
	}
	return found, at
}

// Parse reads the header. A line that is missing, or a number that is none,
// leaves its field zero.
func Parse(data []byte) Header {
	found, at := scan(data)
	value := func(k int) string {
		if !found[k] {
			return ""
		}
		return string(data[at[k].start:min(at[k].end, at[k].start+maxValue)])
	}
	count := func(k int) int {
		n, _ := strconv.Atoi(string(number([]byte(value(k)))))
		return n
	}
	return Header{Status: value(keyStatus), Iteration: count(keyIteration), MaxIterations: count(keyMax), Feature: value(keyFeature)}
}

// Edit returns data with the header set to h. Lines that exist keep their
// place and their look; lines that are missing are added below the last one
// that exists, or at the top. Parse of the result is h, provided that the
// fields hold no line break, no space at their ends and at most maxValue bytes.
func Edit(data []byte, h Header) []byte {
	want := [keys]string{h.Status, strconv.Itoa(h.Iteration), strconv.Itoa(h.MaxIterations), h.Feature}
	out := data
	for k := range keys {
		found, at := scan(out)
		if !found[k] {
			continue
		}
		s, value := at[k], want[k]
		if k == keyIteration || k == keyMax {
			s.end = s.start + len(number(out[s.start:s.end]))
			if s.end == s.start {
				s.end = at[k].end
			}
		}
		// "Feature:" alone takes a space before its value, and keeps none
		// when the value goes.
		if out[s.start-1] == ':' && value != "" {
			value = " " + value
		} else if out[s.start-1] == ' ' && value == "" && s.end > s.start {
			s.start--
		}
		out = slices.Concat(out[:s.start], []byte(value), out[s.end:])
	}
	if Parse(out) == h {
		return out
	}
	if edited := insertMissing(out, want); Parse(edited) == h {
		return edited
	}
	// The lines that exist stand so far down that adding one pushes another
	// out of sight. A whole header at the top wins over whatever is below.
	head := ""
	for k, name := range keyNames {
		head += name + ": " + want[k] + "\n"
	}
	return insert(out, top(out), head)
}

// insertMissing adds the lines that out lacks.
func insertMissing(out []byte, want [keys]string) []byte {
	found, at := scan(out)
	text, last := "", 0
	for k, name := range keyNames {
		if last = max(last, at[k].end); !found[k] && want[k] != "" {
			text += name + ": " + want[k] + "\n"
		}
	}
	if last == 0 {
		return insert(out, top(out), text)
	}
	if i := bytes.IndexByte(out[last:], '\n'); i >= 0 {
		return insert(out, last+i+1, text)
	}
	return insert(out, len(out), "\n"+strings.TrimSuffix(text, "\n"))
}

// insert puts text at pos with the line ends that out has.
func insert(out []byte, pos int, text string) []byte {
	if i := bytes.IndexByte(out, '\n'); i > 0 && out[i-1] == '\r' {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return slices.Concat(out[:pos], []byte(text), out[pos:])
}

// top is the place of the first line, behind a byte order mark.
func top(data []byte) int {
	return len(data) - len(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}
