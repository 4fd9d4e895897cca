package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPluginCalls has cmd.exe run what the plugin's entries call: the program on PATH, else the one in the plugin's
// data folder, else a message, once.
func TestPluginCalls(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "..", "hooks", "run.cmd"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("ralph-stop-hook")
	if err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(t.TempDir(), "its data")
	call := func(path, data string) string {
		cmd := exec.Command("cmd.exe", "/d", "/c", script, "version")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "PATH="+path, "RALPH_BINARY=stranger.exe", "CLAUDE_PLUGIN_DATA="+data)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("with PATH=%s: %v", path, err)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.MkdirAll(filepath.Join(data, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	nowhere := t.TempDir()
	if said := call(filepath.Dir(program), data); !strings.Contains(said, "ralph-stop-hook ") {
		t.Errorf("with the program on PATH it says %q", said)
	}
	const missing = `{"systemMessage":"ralph-stop-hook: the plugin does not find`
	if said := call(nowhere, data); !strings.Contains(said, missing) {
		t.Errorf("without the program it says %q", said)
	}
	if said := call(nowhere, data); strings.Contains(said, "systemMessage") {
		t.Errorf("the second time it says %q", said)
	}
	text, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "bin", "ralph-stop-hook.exe"), text, 0o700)
	}
	if said := call(nowhere, data); err != nil || !strings.Contains(said, "ralph-stop-hook ") {
		t.Errorf("with the program in the data folder it says %q, %v", said, err)
	}
}
