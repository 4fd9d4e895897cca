package client

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestReadEvent(t *testing.T) {
	for name, want := range map[string]Event{
		"stop.json": {
			Name: "Stop", SessionID: "62cd9be3-64e1-430d-adba-94dad124a5a1", Cwd: "/home/dev/project",
			PermissionMode: "default", LastMessage: "a1",
		},
		"stop.active.json": {
			Name: "Stop", SessionID: "62cd9be3-64e1-430d-adba-94dad124a5a1", Cwd: "/home/dev/project",
			PermissionMode: "default", LastMessage: "a2", StopHookActive: true,
		},
		"stop.v2.0.76.json": {
			Name: "Stop", SessionID: "577d02f5-08c1-4ca8-8c3e-d0281b0e2322", Cwd: "/home/dev/project",
			PermissionMode: "default",
		},
		"stop-failure.rate_limit.json": {
			Name: "StopFailure", SessionID: "3e8c56de-4910-4393-b502-22197b23db83", Cwd: "/home/dev/project",
			LastMessage: "API Error: Request rejected (429) · This request would exceed your account rate limit",
			Error:       "rate_limit",
		},
		"subagent-stop.json": {
			Name: "SubagentStop", SessionID: "1c721fae-282d-4b58-a355-7a6a7856a22e", AgentID: "add61918a3c5db4c4",
			Cwd: "/home/dev/project", PermissionMode: "bypassPermissions", LastMessage: "main 4",
			Background: map[string]int{"subagent": 1},
		},
		"stop.background-subagent.json": {
			Name: "Stop", SessionID: "1c721fae-282d-4b58-a355-7a6a7856a22e", Cwd: "/home/dev/project",
			PermissionMode: "bypassPermissions", LastMessage: "main 2",
			Background: map[string]int{"subagent": 1},
		},
		"stop.background-shell.json": {
			Name: "Stop", SessionID: "ab3adb51-a435-48d2-91f8-9cfbf790e3fe", Cwd: "/home/dev/project",
			PermissionMode: "bypassPermissions", LastMessage: "main 2",
			Background: map[string]int{"shell": 1},
		},
		"stop.background-workflow.json": {
			Name: "Stop", SessionID: "436ce2f2-231a-4ae8-8e92-89e81eadbf2d",
			Cwd:            "/home/dev/project/.claude/worktrees/side",
			PermissionMode: "bypassPermissions", LastMessage: "monitor", StopHookActive: true,
			Background: map[string]int{"workflow": 1, "monitor": 1},
		},
		"stop.background-dream.json": {
			Name: "Stop", SessionID: "b6bae4f3-b409-493c-bec7-e07fc20a53a8", Cwd: "/home/dev/project",
			PermissionMode: "bypassPermissions", LastMessage: "second turn",
		},
		"stop.crons.json": {
			Name: "Stop", SessionID: "62cd9be3-64e1-430d-adba-94dad124a5a1", Cwd: "/home/dev/project",
			PermissionMode: "default", LastMessage: "a1",
			Background: map[string]int{"wake-up": 2},
		},
		"session-end.prompt_input_exit.json": {
			Name: "SessionEnd", SessionID: "1374161b-f813-4df1-b2b7-f35f51f7cc9d", Cwd: "/home/dev/project",
			Reason: "prompt_input_exit",
		},
		"session-start.resume.json": {
			Name: "SessionStart", SessionID: "d3c771a1-b68a-4e52-bdaf-dd13677582c3", Cwd: "/home/dev/project",
			Reason: "resume",
		},
		"user-prompt-submit.json": {
			Name: "UserPromptSubmit", SessionID: "1c721fae-282d-4b58-a355-7a6a7856a22e", Cwd: "/home/dev/project",
			PermissionMode: "bypassPermissions", Prompt: "hello",
		},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", "payloads", name))
		if err != nil {
			t.Fatal(err)
		}
		// These two differ in each payload and are long, so gjson reads the wanted values.
		want.PromptID = gjson.GetBytes(data, "prompt_id").Str
		want.Transcript = gjson.GetBytes(data, "transcript_path").Str
		if got, err := ReadEvent(bytes.NewReader(data), nil); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

func TestUnwrap(t *testing.T) {
	for in, want := range map[string]string{
		"\n\n<pasted_content id=\"795f\">\nralph-loop: x\n\nWork\n</pasted_content id=\"795f\">\n": "" +
			"ralph-loop: x\n\nWork\n</pasted_content id=\"795f\">\n",
		"\nralph-loop: x\n":                             "\nralph-loop: x\n",
		"<pasted_content id=\"1\">":                     "<pasted_content id=\"1\">",
		"see\n<pasted_content id=\"1\">\nralph-loop: x": "see\n<pasted_content id=\"1\">\nralph-loop: x",
	} {
		if got := unwrap(in); got != want {
			t.Errorf("unwrap(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "nothing on standard input",
		"{\"session_id\":\"x\"":         "the text ends too soon",
		"[]":                            "not an object",
		"{} {}":                         "not one JSON object",
		strings.Repeat("[", 2_000_000):  "nested deeper",
		strings.Repeat("x", maxBytes+1): "larger than 8 MB",
	} {
		if _, err := ReadEvent(strings.NewReader(in), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadEvent(%.20q, nil, nil) = %v, want %q", in, err, want)
		}
	}
}

func TestEncode(t *testing.T) {
	for want, a := range map[string]Answer{
		"": {},
		`{"decision":"block","reason":"a < b","systemMessage":"m"}`: {Prompt: "a < b", Message: "m"},
		`{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"a"}}`: {
			Prompt: "a", AsContext: true, Message: "m",
		},
		`{"continue":true,"systemMessage":"over"}`: {Message: "over", End: true},
		`{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`: {
			Message: "m", Context: "c",
		},
		`{"systemMessage":"trouble"}`: {Message: "trouble"},
	} {
		if want != "" {
			want += "\n"
		}
		if got := string(a.Encode()); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
