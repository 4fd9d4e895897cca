package verb

import (
	"strings"
	"testing"
)

func TestDiffLines(t *testing.T) {
	for _, tc := range []struct{ was, now, want string }{
		{"", "", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"", "a\n", "+ a\n"},
		{"a\nb\nc\n", "a\nc\n", "- b\n"},
		{"a\nb\nc\nd\n", "a\nx\nc\ny\nd\n", "- b\n+ x\n+ y\n"},
		{"a\nb\n", "b\na\n", "- a\n+ a\n"},
		{"a", "a\n", "- a\n+ a\n"},
	} {
		if got := strings.Join(Diff(tc.was, tc.now), ""); got != tc.want {
			t.Errorf("%q to %q: %q, want %q", tc.was, tc.now, got, tc.want)
		}
	}
	large := strings.Repeat("x\n", 3000)
	if got := Diff("a\n"+large+"b\n", "c\n"+large+"d\n"); len(got) != 6004 {
		t.Errorf("%d lines of texts that are too large to compare", len(got))
	}
}
