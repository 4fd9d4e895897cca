package agent

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// rawJSON is the text of a valid JSON value, or nothing. It is a part of a line, which is gone when the next one comes.
type rawJSON string

func (j rawJSON) text() string { return gjson.Parse(string(j)).Str }

// name returns a text that names something, cleaned. It is a copy.
func (j rawJSON) name() string { return plain.Line(j.head(4*nameChars), nameChars) }

// head returns a copy of a text, or of its beginning if it has more than most bytes.
func (j rawJSON) head(most int) string {
	if len(j) > most && j[0] == '"' {
		j = j[:most-unpaired(j[:most])] + `"`
	}
	return strings.Clone(j.text())
}

// end returns a copy of a text, or of its end, from which tail reads at most most bytes.
func (j rawJSON) end(most int) rawJSON {
	if start := len(j) - 2*most - 1; start > 0 && j[0] == '"' {
		return `"` + j[start+unpaired(j[:start]):]
	}
	return rawJSON(strings.Clone(string(j)))
}

// tail returns a copy of a text, or of its end. It has at most most bytes.
func (j rawJSON) tail(most int) string {
	text := j.end(most).text()
	return strings.ToValidUTF8(text[max(0, len(text)-most):], "")
}

// unpaired returns 1 if text ends between a backslash and the character that it escapes, else 0.
func unpaired(text rawJSON) int { return (len(text) - len(strings.TrimRight(string(text), `\`))) % 2 }
