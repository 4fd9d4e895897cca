package client_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

func nothing(string) string { return "" }

// TestEntries puts the entries of each client into settings, finds them there, and takes them out again.
func TestEntries(t *testing.T) {
	before := []byte("{\n\t\"model\": {\"name\": \"x\"},\n\t\"permissions\": []\n}\n")
	for i := range client.Others {
		h := &client.Others[i]
		for _, bare := range []bool{true, false} {
			project := t.TempDir()
			path := h.Path("project", project, "", nothing)
			text := before
			for _, event := range h.Events {
				e := h.Entry(event, "project", "/a b/ralph-stop-hook", bare, 660*time.Second)
				var err error
				if text, _, err = client.Merge(text, event, e); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			places := client.Places(project, t.TempDir(), nothing)
			if len(places) != 1 || places[0].Path != path || len(places[0].Missing()) > 0 {
				t.Errorf("%s: %+v", h.Name, places)
				continue
			}
			for _, hook := range places[0].Hooks {
				short := hook.Flag("--timeout") == "1s"
				if !hook.Exec || hook.Flag("--client") != h.Name || bare == (hook.Command == "/a b/ralph-stop-hook") {
					t.Errorf("%s: %+v", h.Name, hook)
				}
				if wait := time.Duration(hook.Timeout) * h.Unit; short != (wait == 3*time.Second) {
					t.Errorf("%s: %s has %v for %s", h.Name, hook.Event, wait, hook.Flag("--timeout"))
				}
			}
			if after, err := client.Remove(text); err != nil || !bytes.Equal(after, before) {
				t.Errorf("%s: afterwards %q, %v", h.Name, after, err)
			}
		}
	}
}

func TestPath(t *testing.T) {
	get := func(name string) string { return map[string]string{"CODEX_HOME": "/else"}[name] }
	for name, want := range map[string]string{"codex": "/else/hooks.json", "qwen": "/home/dev/.qwen/settings.json"} {
		h, err := client.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := filepath.ToSlash(h.Path("user", "/p", "/home/dev", get)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if h, err := client.Of("claude"); h != nil || err != nil {
		t.Errorf("claude: %v, %v", h, err)
	}
	if _, err := client.Of("cdx"); err == nil {
		t.Error("an unknown name is a client")
	}
}

// TestEnviron checks that a session is not taken for the command of the agent that has started it.
func TestEnviron(t *testing.T) {
	for _, h := range client.Others {
		if left := agent.Environ([]string{h.ToolVar + "=1"}); len(left) > 0 {
			t.Errorf("%s: %q is left", h.Name, left)
		}
	}
}

// TestCaller checks that only variables of an agent's own commands make a caller.
func TestCaller(t *testing.T) {
	for i, vars := range []map[string]string{
		{"CODEX_THREAD_ID": "s"}, {"GEMINI_CLI": "1", "GEMINI_SESSION_ID": "s"},
		{"QWEN_CODE": "1", "QWEN_CODE_SESSION_ID": "s"},
	} {
		get := func(name string) string { return vars[name] }
		if !client.ByAgent(get) || client.Caller(get) != "s" {
			t.Errorf("%d: no caller", i)
		}
	}
	hook := func(name string) string { // as Qwen Code calls a hook
		return map[string]string{"QWEN_CODE_SESSION_ID": "s", "QWEN_PROJECT_DIR": "/p"}[name]
	}
	if client.ByAgent(hook) || client.Caller(hook) != "" {
		t.Error("the client's own call counts as the agent's")
	}
}
