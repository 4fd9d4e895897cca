// Package progress reads and edits the header of progress.txt.
//
// Two write that file. The hook writes four lines near the top, the header; all other
// lines are the agent's notes. So an edit changes the values of the header and no other
// byte: line ends, a byte order mark, list markers and bold marks stay.
package progress

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// HeaderLines is how many lines at the top of the file are searched for the header. Notes
// below them may quote "Status: …".
const HeaderLines = 20

// Header is the part of progress.txt that the hook writes. A field is zero if the file has
// no line for it.
type Header struct {
	Status        string `json:"status"`        // a word such as IN_PROGRESS, as it is in the file
	Iteration     int    `json:"iteration"`     // 1 is the turn of the first prompt
	MaxIterations int    `json:"maxIterations"` // the limit of iterations; a person may lower it here
	Feature       string `json:"feature"`       // id of the feature that is worked on
}

// The keys of the header, in the order of a new file.
const (
	keyStatus = iota
	keyIteration
	keyMax
	keyFeature
	keyCount
)

var keyNames = [keyCount]string{"Status", "Iteration", "Max Iterations", "Feature"}

// headerLine returns the key of a line and where its value is; ok is false if the line is
// none of the header. There may be a #, - or * before the name, and ** around the name or
// around name and colon. It uses no regular expression, since to compile one would cost
// time in each process.
func headerLine(text []byte) (key int, value span, ok bool) {
	rest := bytes.TrimLeft(text, " \t")
	if heading := bytes.TrimLeft(rest, "#"); len(heading) < len(rest) {
		rest = heading
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

// number returns the digits at the start of a value: "3" of "3/15" and of "3 of 15".
func number(value []byte) []byte {
	rest := bytes.TrimLeft(value, "0123456789")
	return value[:min(len(value)-len(rest), maxDigits)]
}

// maxDigits keeps each number inside an int of 32 bits.
const maxDigits = 9

// maxValue bounds, in bytes, how much of a value is read, since the record keeps it. The
// values that the hook writes are far shorter.
const maxValue = 1000

// span is where a value is, as offsets.
type span struct{ start, end int }

// scan finds the first line of each key within the first HeaderLines lines.
func scan(data []byte) (found [keyCount]bool, at [keyCount]span) {
	pos, lines := afterBOM(data), 0
	for line := range bytes.Lines(data[pos:]) {
		lines++
		if lines > HeaderLines {
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

// Parse reads the header. The field of a line that is missing is zero, as is that of a
// number that has no digits.
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
	return Header{
		Status: value(keyStatus), Iteration: count(keyIteration),
		MaxIterations: count(keyMax), Feature: value(keyFeature),
	}
}

// Edit returns data with the header set to h. A line that exists stays where it is and
// keeps its markers. Missing lines are added below the last one that exists, or at the
// top. Parse of the result is h if no field of h has a line break, a space at an end, or
// more than maxValue bytes.
func Edit(data []byte, h Header) []byte {
	want := [keyCount]string{h.Status, strconv.Itoa(h.Iteration), strconv.Itoa(h.MaxIterations), h.Feature}
	out := data
	for k := range keyCount {
		if found, at := scan(out); found[k] {
			out = setValue(out, at[k], want[k], k == keyIteration || k == keyMax)
		}
	}
	if Parse(out) == h {
		return out
	}
	if edited := insertMissing(out, want); Parse(edited) == h {
		return edited
	}
	// The lines that exist are so far down that an added one pushes another out of the
	// first HeaderLines. A whole header at the top comes before whatever is below.
	head := ""
	for k, name := range keyNames {
		head += name + ": " + want[k] + "\n"
	}
	return insert(out, afterBOM(out), head)
}

// setValue replaces the value at a span. Of a number it replaces only the digits, so that
// "3/15" keeps what is after them.
func setValue(data []byte, at span, value string, isNumber bool) []byte {
	if digits := number(data[at.start:at.end]); isNumber && len(digits) > 0 {
		at.end = at.start + len(digits)
	}
	// "Feature:" without a value gets a space before it, and loses the space with it.
	if before := data[at.start-1]; before == ':' && value != "" {
		value = " " + value
	} else if before == ' ' && value == "" && at.end > at.start {
		at.start--
	}
	return slices.Concat(data[:at.start], []byte(value), data[at.end:])
}

// insertMissing adds the lines of the header that out does not have.
func insertMissing(out []byte, want [keyCount]string) []byte {
	found, at := scan(out)
	text, last := "", 0
	for k, name := range keyNames {
		last = max(last, at[k].end)
		if !found[k] && want[k] != "" {
			text += name + ": " + want[k] + "\n"
		}
	}
	if last == 0 {
		return insert(out, afterBOM(out), text)
	}
	if i := bytes.IndexByte(out[last:], '\n'); i >= 0 {
		return insert(out, last+i+1, text)
	}
	return insert(out, len(out), "\n"+strings.TrimSuffix(text, "\n"))
}

// insert puts text at an offset of out, with the line ends that out has.
func insert(out []byte, pos int, text string) []byte {
	if i := bytes.IndexByte(out, '\n'); i > 0 && out[i-1] == '\r' {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return slices.Concat(out[:pos], []byte(text), out[pos:])
}

// afterBOM returns the offset of the first line.
func afterBOM(data []byte) int {
	return len(data) - len(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
}

// NewNotes returns the lines of notes that somebody has added to a copy of the file, wherever they are. given is the
// copy as it was. Lines of a header are no notes.
func NewNotes(given, now []byte) (notes []byte) {
	const names = 3 // lines that name the two files
	at := 0
	for line := range bytes.Lines(diff.Diff("given", endLine(given), "now", endLine(now))) {
		at++
		text, is := bytes.CutPrefix(line, []byte("+"))
		if _, _, header := headerLine(bytes.TrimRight(text, "\r\n")); is && at > names && !header {
			notes = append(notes, text...)
		}
	}
	if len(bytes.TrimSpace(notes)) == 0 {
		return nil
	}
	return notes
}

// endLine returns a text whose last line ends.
func endLine(text []byte) []byte {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return text
	}
	return append(bytes.Clone(text), '\n')
}

// Append returns the file with notes below all others, unless it has them.
func Append(data, notes []byte) []byte {
	if len(notes) == 0 || bytes.Contains(data, notes) {
		return data
	}
	return append(bytes.Clone(endLine(data)), endLine(notes)...)
}
