package verb

import (
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// The texts of the files of a new loop.

// schemas is the URL of the folder of the JSON Schemas, for editors.
const schemas = "https://raw.githubusercontent.com/ralph-stop-hook/ralph-stop-hook/main/hooks/"

// ExampleList is the list of a loop for which a person has none yet.
const ExampleList = `{
  "$schema": "` + schemas + `features.schema.json",
  "features": [
    {
      "id": "hello",
      "title": "Say hello",
      "description": "hello.txt holds one line: Hello, world.",
      "passes": false
    },
    {
      "id": "goodbye",
      "title": "Say goodbye",
      "description": "goodbye.txt holds one line: Goodbye, world.",
      "dependencies": ["hello"],
      "passes": false
    }
  ]
}
`

// IgnoreText keeps what the program writes for itself out of git.
const IgnoreText = `# what the hook writes for itself
hook.log*
checks.log*
stops.jsonl*
*.bak
.*.txt[0-9]*
`

// NewConfig is what a person says of a new loop.
type NewConfig struct {
	Task       string
	List       string // as in ralph.json; empty: in the loop's folder
	Limits     decide.Limits
	Given      func(flag string) bool // whether the person gave the flag of a limit
	Checks     []string               // shell commands; see PerFeature
	Confine    bool
	OnComplete []string // shell commands
}

// PerFeature tells whether the shell command of a check is about one feature: it names the variable that has the
// feature's id. In a check of the whole loop that is empty.
func PerFeature(check string) bool { return strings.Contains(check, "RALPH_FEATURE") }

// Text returns the text of ralph.json.
func (n NewConfig) Text() ([]byte, error) {
	var checks []map[string]string
	for _, c := range n.Checks {
		check := map[string]string{"command": c}
		if PerFeature(c) && n.List != config.ListNone {
			check["when"] = decide.WhenFeature
		}
		checks = append(checks, check)
	}
	return jsontext.Indent(struct {
		Task       string              `json:"task"`
		List       string              `json:"list,omitempty"`
		Bind       string              `json:"bind"`
		Continue   string              `json:"continue_with"`
		Limits     map[string]any      `json:"limits"`
		Checks     []map[string]string `json:"checks,omitempty"`
		Confine    bool                `json:"confine,omitempty"`
		OnComplete []string            `json:"on_complete,omitempty"`
	}{n.Task, n.List, decide.BindPrompt, config.ContinueAuto, limitsJSON(n.Limits, n.Given), checks, n.Confine,
		n.OnComplete})
}
