package agent

import (
	"slices"
	"strings"
	"testing"
)

// TestLogLines retells the output of agents.
func TestLogLines(t *testing.T) {
	session := strings.Join([]string{
		begins, says, toolUse("t1", "Bash", `{"command":"go test\n ./..."}`), toolResult("t1"),
		strings.Replace(says, "a text", `\u001b[31mred\u202e`, 1), says, "\x1b]0;title\x07 no JSON",
	}, "\n")
	for _, tc := range []struct {
		row  Row
		log  string
		cut  bool
		most int
		want []string
	}{
		{Row{Output: OutputClaude}, session, false, 9, []string{"a text", "→ Bash: go test ./...", "red", "a text"}},
		{Row{Output: OutputClaude}, session, false, 2, []string{"red", "a text"}},
		{Row{Output: OutputClaude}, "half of a line\n" + says, true, 9, []string{"a text"}},
		{Row{Output: OutputText}, "one\n\n\x1b[1mtwo\x1b[0m\nlast", false, 9, []string{"one", "two", "last"}},
		{Row{Output: OutputText}, "", true, 9, nil},
	} {
		if got := tc.row.LogLines([]byte(tc.log), tc.cut, tc.most); !slices.Equal(got, tc.want) {
			t.Errorf("%q is told as %q, want %q", tc.log, got, tc.want)
		}
	}
}
