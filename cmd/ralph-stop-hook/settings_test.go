package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// TestSettingsEdited has somebody edit the settings between our reading and writing them.
func TestSettingsEdited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"model": "a"}`)
	entry := client.Entry{Type: "command", Command: program, Args: []string{"hook"}, Timeout: 60}
	f := settingsEdit{path: path, entry: entry}
	if err := f.merge(); err != nil {
		t.Fatal(err)
	}
	write(`{"model": "a", "language": "b"}`)
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), `"language": "b"`) || !strings.Contains(string(text), program) {
		t.Errorf("%s, %v", text, err)
	}
}
