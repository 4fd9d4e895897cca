package loop_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// TestInProject runs a check in the project beside one in the copy, which writes what nobody may change there. That is
// nothing to the check in the project.
func TestInProject(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the checks are lines for sh")
	}
	wrote := filepath.Join(t.TempDir(), "wrote")
	text, err := json.Marshal(map[string]any{
		"parallel": 2,
		"protect":  []string{"check.sh"},
		"checks": []any{
			map[string]any{"name": "writes", "command": "echo >>check.sh && touch " + wrote, "when": "claim"},
			map[string]any{"name": "waits",
				"command": "until test -e " + wrote + "; do sleep 0.01; done; ! grep '^$' check.sh",
				"in":      "project", "when": "claim"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, tree := repository(t, "", string(text), false)
	p, _ := look(t, l, tree)
	trust, err := l.NewTrust(text, p.Snapshot.List, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Store.Locked(time.Second, func() error { return l.SetTrust(trust) }); err != nil {
		t.Fatal(err)
	}
	p, _ = look(t, l, tree)
	var runs []decide.Run
	for _, check := range p.Snapshot.Checks {
		runs = append(runs, decide.Run{Check: check, Feature: "a"})
	}
	results, err := p.RunChecks(t.Context(), runs, false, nil)
	if err != nil || len(results) != 2 || results[0].Passed || !results[1].Passed {
		t.Errorf("%+v, %v: want that only the check in the project passes", results, err)
	}
	script, err := os.ReadFile(filepath.Join(l.At.Project, "check.sh"))
	if err != nil || string(script) != "#!/bin/sh\nexec true\n" {
		t.Errorf("the script in the project is %q now: %v", script, err)
	}
}
