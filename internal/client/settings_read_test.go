package client

import (
	"strings"
	"testing"
)

func TestReadSettings(t *testing.T) {
	f, err := Find(Usual).ReadSettings([]byte(`{"disableAllHooks": false,
		"enabledPlugins": {"ralph-loop@market": true, "other@market": false, "pinned@market": ["1.0"]},
		"hooks": {"Stop": [{"matcher": "", "hooks": [
				{"type": "command", "command": "say done"}, {"type": "prompt", "prompt": "ok?"}]},
			{"hooks": [{"type": "command", "command": "ralph-stop-hook", "args": ["hook", "--timeout", "60s"], "timeout": 60}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "command": "/a/ralph-stop-hook hook --timeout=9s"}]}]}}`))
	if err != nil || f.Disabled.Bool() || !f.Disabled.Exists() {
		t.Errorf("%+v, %v", f, err)
	}
	if got := strings.Join(f.Plugins, " "); got != "ralph-loop@market pinned@market" {
		t.Errorf("the plugins %q", got)
	}
	if len(f.Hooks) != 4 {
		t.Fatalf("%+v", f.Hooks)
	}
	if f.Hooks[0].Ours || f.Hooks[3].Exec || f.Hooks[3].Event != "SessionEnd" {
		t.Errorf("%+v", f.Hooks)
	}
	if exec := f.Hooks[2]; !exec.Ours || !exec.Exec || exec.Timeout != 60 {
		t.Errorf("%+v", exec)
	}
	words := map[int]string{0: "say done", 2: "hook --timeout 60s", 3: "/a/ralph-stop-hook hook --timeout=9s"}
	for i, want := range words {
		if got := strings.Join(f.Hooks[i].Args, " "); got != want {
			t.Errorf("the words of %v are %q, want %q", f.Hooks[i], got, want)
		}
	}
	// Files that the host ignores as a whole, as measured with 2.1.329.
	for in, want := range map[string]string{
		"{broken":                     "line 1, column 2",
		"[]":                          "not a JSON object",
		`{"disableAllHooks": "true"}`: `line 1, column 21: "disableAllHooks" is not true or false`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "a", "args": "b"}]}]}}`:     `"args" is not an array`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "a", "timeout": "60"}]}]}}`: `"timeout" is not a number above 0`,
		`{"hooks": {"Stop": [{"hooks": [{"command": "a", "timeout": 0}]}]}}`:    `"timeout" is not a number above 0`,
		`{"permissions": 5}`:                   `"permissions" is not an object`,
		`{"env": []}`:                          `"env" is not an object`,
		`{"enabledPlugins": []}`:               `"enabledPlugins" is not an object`,
		`{"model": 5}`:                         `"model" is not text`,
		`{"hooks": []}`:                        `"hooks" is not an object`,
		"{\n\"hooks\": {\"Stop\": {}}}":        `line 2, column 19: "Stop" is not an array`,
		`{"hooks": {"Stop": [{"hooks": {}}]}}`: `without an array "hooks"`,
		`{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}`: `without a "command"`,
	} {
		if _, err := Find(Usual).ReadSettings([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Find(Usual).ReadSettings(%s) = %v, want %q", in, err, want)
		}
	}
}
