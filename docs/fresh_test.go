package docs

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// fresh plays a session that ralph-runner has started: it does the feature that the prompt is about and prints what
// Claude Code prints then. Without a feature, it says that it is done, and writes the plan that it is asked for. If
// the prompt is a loop's own, the hook drives the session.
func (a *agent) fresh(stdin io.Reader) error {
	data, err := io.ReadAll(stdin)
	if err != nil {
		return err
	}
	prompt, said := string(data), "I did what I could.\n\n<promise>COMPLETE</promise>"
	id := regexp.MustCompile(`(?m)^  id: (.*)$`).FindStringSubmatch(prompt)
	switch {
	case strings.HasPrefix(prompt, loopdir.Marker):
		err = a.driven(prompt)
	case strings.HasPrefix(prompt, "You are the planner."):
		err = os.WriteFile(filepath.Join(a.project, "PLAN.md"), []byte("All at once.\n"), 0o600)
	case id != nil:
		said = id[1] + " is done."
		err = a.claim(id[1])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"type": "result", "subtype": "success", "is_error": false, "result": said, "total_cost_usd": 0.1,
		"modelUsage": map[string]any{"sonnet": map[string]any{"inputTokens": 4000, "outputTokens": 500}},
	})
}

// claim claims a feature in the loop's list.
func (a *agent) claim(id string) error {
	path, list, err := a.list()
	if err != nil { // on a worker's machine there is no loop, but the list
		path = filepath.Join(a.project, "feature_list.json")
		data, missing := os.ReadFile(path)
		if missing != nil {
			return err
		}
		list, err = features.Parse(data)
		if err != nil {
			return err
		}
	}
	item, is := list.Find(id)
	if !is {
		return fmt.Errorf("the list has no %s", id)
	}
	return writeClaim(path, list, item)
}
