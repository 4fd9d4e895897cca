package agent

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	line := strings.Repeat("é", 999) + "\n"
	for _, row := range []struct {
		name, text, message, last string
	}{
		{"nothing", "", "", ""},
		{"lines", "a\n  b c\n\n", "a\n  b c", "b c"},
		{"no line end", "a\nb", "a\nb", "b"},
		{"blank lines around", "\n\n  a\n \n", "  a", "a"},
		{"colours", "\x1b[1;32ma\x1b[0m b\x1b[K\n", "a b", "a b"},
		{"a title", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]0;open\n c", "ab\n c", "c"},
		{"other escapes", "\x1b(Ba\x1b7b\x1b=c\x1b[?25l\x1bM\n", "abc", "abc"},
		{"half an escape", "a\x1b\nb\x1b[\nc\x1b[3\nd\x1b(\n", "a\nb\nc\nd", "d"},
		{"a progress bar", "10%\r20%\r\x1b[K100%\r\r\n", "100%", "100%"},
		{"not UTF-8", "a\xff\x00b\n", "a\x00b", "ab"},
		{"invisible", "a\n\u200b\u202e\n", "a\n\u200b\u202e", "a"},
		{"long", strings.Repeat(line, 200) + "end\n", strings.Repeat(line, 32) + "end", "end"},
		{"one long line", strings.Repeat("é", 1<<20), strings.Repeat("é", maxText/2-1), strings.Repeat("é", 199) + "…"},
	} {
		p := feed(asker{NewText()}, []byte(row.text))
		if got := p.Outcome(Exit{}, sampled); got.Class != Done || got.Message != row.message || got.Problem != "" {
			t.Errorf("%s: %s, %q, %d bytes: %.99q", row.name, got.Class, got.Problem, len(got.Message), got.Message)
		}
		if got := p.Activity(); got != (Activity{Text: row.last}) {
			t.Errorf("%s: heard %+v, want %q", row.name, got, row.last)
		}
	}
}

func TestTextExit(t *testing.T) {
	for want, exit := range map[string]Exit{
		"exit status 3: a":        {Code: 3},
		"exit status 3: b\u00a0c": {Code: 3, Stderr: "a\n\x1b[31mb\u00a0c\x1b[0m\n\x1b[0m\n"},
		"exit status 143, which means that a signal ended it: a": {Code: 143},
		"ended by a signal: a":                                 {Code: -1},
		"exit status 137, which means that it was killed: out": {Code: 137, Stderr: "out"},
	} {
		got := feed(NewText(), []byte("a\n")).Outcome(exit, sampled)
		if got.Class != Died || got.Problem != strings.ReplaceAll(want, "\u00a0", " ") || got.Message != "a" {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}
