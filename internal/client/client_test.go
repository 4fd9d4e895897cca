package client_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

func nothing(string) string { return "" }

// TestEntries puts the entries of each client into settings, finds them there, and takes them out again.
func TestEntries(t *testing.T) {
	for i := range client.All {
		h := &client.All[i]
		before := []byte("{\n\t\"model\": {\"name\": \"x\"},\n\t\"permissions\": []\n}\n")
		if h.Strict {
			before = []byte("{\n\t\"model\": \"x\"\n}\n")
		}
		for _, name := range []string{"ralph-stop-hook", "/a b/ralph-stop-hook"} {
			project := t.TempDir()
			in := client.Install{Client: h, Get: nothing, Home: t.TempDir(), Project: project}
			path := in.Files("project")[0]
			text := before
			for _, event := range h.Events {
				e := h.Entry(event, name, 660*time.Second)
				var err error
				text, err = client.Merge(text, event, e)
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			hooks := in.Entries(path, "")
			if len(hooks) != len(h.Events) || len(h.Missing(hooks)) > 0 || !in.Hooked() || in.Everywhere() {
				t.Errorf("%s: %+v", h.Name, hooks)
				continue
			}
			for _, hook := range hooks {
				words := strings.Join(hook.Args, " ")
				short := strings.HasSuffix(words, "--timeout 1s")
				isNamed := strings.Contains(words, "--client "+h.Name) != (h.Name == client.Usual)
				if !hook.Exec || !isNamed || hook.Command != name {
					t.Errorf("%s: %+v", h.Name, hook)
				}
				if wait := time.Duration(hook.Timeout) * h.Unit; short != (wait == 3*time.Second) {
					t.Errorf("%s: %s has %v for %s", h.Name, hook.Event, wait, words)
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
		in := client.Install{Client: h, Get: get, Home: "/home/dev", Project: "/p"}
		if got := filepath.ToSlash(in.Files("user")[0]); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if h, err := client.Of("claude"); h.Name != client.Usual || err != nil {
		t.Errorf("claude: %v, %v", h, err)
	}
	if _, err := client.Of("cdx"); err == nil {
		t.Error("an unknown name is a client")
	}
}

// TestEnviron checks that a session is not taken for the command of the agent that has started it.
func TestEnviron(t *testing.T) {
	for _, h := range client.All[1:] {
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
