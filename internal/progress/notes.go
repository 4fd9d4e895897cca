package progress

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Added returns the lines of notes that somebody has added to a copy of the file, wherever they are. given is the copy
// as it was. Lines of a header are no notes.
func Added(given, now []byte) (notes []byte) {
	const names = 3 // lines that name the two files
	at := 0
	for line := range bytes.Lines(diff.Diff("given", ended(given), "now", ended(now))) {
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

// ended returns a text whose last line ends.
func ended(text []byte) []byte {
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
	return append(bytes.Clone(ended(data)), ended(notes)...)
}
