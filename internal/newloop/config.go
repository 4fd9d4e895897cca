package newloop

import (
	"cmp"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// ignoreText keeps what the program writes for itself out of git.
const ignoreText = `# what the hook writes for itself; over progress.txt git would refuse to switch branches
progress.txt
hook.log*
checks.jsonl*
checks.log*
stops.jsonl*
*.bak
.*.txt[0-9]*
`

// perFeature tells whether the shell command of a check is about one feature: it names the variable that has the
// feature's id. In a check of the whole loop that is empty.
func perFeature(check string) bool { return strings.Contains(check, "RALPH_FEATURE") }

// config returns the text of ralph.json.
func (m *Maker) config() ([]byte, error) {
	var checks []map[string]string
	for _, c := range m.Checks {
		checks = append(checks, map[string]string{"command": c})
	}
	return jsontext.Indent(struct {
		Task       string              `json:"task"`
		List       string              `json:"list,omitempty"`
		Bind       string              `json:"bind"`
		Limits     map[string]any      `json:"limits"`
		Checks     []map[string]string `json:"checks,omitempty"`
		Room       bool                `json:"room,omitempty"`
		Work       []string            `json:"work,omitempty"`
		OnComplete []string            `json:"on_complete,omitempty"`
	}{cmp.Or(m.Task.Line, m.Name), m.List, decide.BindPrompt, m.limitsJSON(), checks, m.Room, m.Work, m.OnComplete})
}
