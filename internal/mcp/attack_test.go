package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// TestSlowPattern asks for a pattern of 960 bytes whose program has 72,000 instructions. A match of it took some 16 s,
// at each stop.
func TestSlowPattern(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rule := func(pattern string) string {
		return `{"validationRules": [{"type": "content_pattern", "name": "n", "config": {"pattern": "` + pattern + `"}}]}`
	}
	text, isError := w.call("iteration_start", rule(strings.Repeat("(a{1,900}b)", 80)))
	if !isError || !strings.Contains(text, "the pattern repeats too much; use smaller counts, or * and +") {
		t.Errorf("a slow pattern: %s", text)
	}
	text, isError = w.call("iteration_start", rule(strings.Repeat("x", 900)))
	if isError {
		t.Errorf("a long pattern: %s", text)
	}
}

// TestWrongNumbers gives numbers that no field can have.
func TestWrongNumbers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for arguments, want := range map[string]string{
		`{"executionStep": 9223372036854775808}`: "executionStep cannot be the number 9223372036854775808",
		`{"expiresIn": 1e300}`:                   "expiresIn cannot be the number 1e300",
	} {
		if text, isError := w.call("checkpoint_create", arguments); !isError || !strings.Contains(text, want) {
			t.Errorf("%s: %s", arguments, text)
		}
	}
}

// TestNameOfOwnHook registers a hook by the name of the loop's own.
func TestNameOfOwnHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text, isError := w.call("hook_register", `{"hookType": "default", "hookId": "default"}`)
	if !isError || !strings.Contains(text, "the hook default is a person's; that is for a person") {
		t.Errorf("%s", text)
	}
}

// TestManyAtOnce makes 300 calls without waiting for an answer. None is refused because the others have the lock.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call("iteration_start", "{}")
	answers := make(chan string, 300)
	for range cap(answers) {
		go func() {
			call := &mcp.CallToolParams{Name: "checkpoint_create", Arguments: map[string]any{}}
			r, err := w.client.CallTool(w.t.Context(), call)
			if err == nil && !r.IsError {
				answers <- ""
			} else {
				answers <- toJSON(r) + toJSON(err)
			}
		}()
	}
	for range cap(answers) {
		if text := <-answers; text != "" {
			t.Error(text)
		}
	}
}

// TestForgedSession calls as the session of another living client.
func TestForgedSession(t *testing.T) {
	if !proc.Alive(os.Getppid(), "") { // under Wine
		t.Skip("the process that stands for the other client does not live")
	}
	t.Parallel()
	w := newWorld(t)
	w.give()
	r, err := w.client.CallTool(t.Context(), &mcp.CallToolParams{
		Name: "iteration_complete", Arguments: map[string]any{"completionPromise": "BLOCKED"},
		Meta: mcp.Meta{sessionKey: "another"},
	})
	if err != nil || !r.IsError || !strings.Contains(toJSON(r), "is worked by another session") {
		t.Errorf("%v: %s", err, toJSON(r))
	}
}

// TestFinish has a server killed after it has committed an ending, and before it wrote progress.txt. The next call
// finishes that.
func TestFinish(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call("iteration_start", "{}")
	path := filepath.Join(w.project, filepath.FromSlash(loopdir.Below), "demo", loopdir.ProgressFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.claim("a", "b", "c")
	const claim = `{"completionPromise": "COMPLETE"}`
	if text, _ := w.call("iteration_complete", claim); !strings.Contains(text, "completedAt") {
		t.Fatalf("not complete: %s", text)
	}
	if err := os.WriteFile(path, before, 0o644); err != nil {
		t.Fatal(err)
	}
	w.start()
	text, _ := w.call("iteration_complete", claim)
	after, err := os.ReadFile(path)
	finished := strings.Contains(text, `"accepted":true`) && strings.HasPrefix(string(after), "Status: COMPLETE\n")
	if err != nil || !finished {
		t.Errorf("%v: %s\n%s", err, text, after)
	}
}

// TestPlacesTaken puts a folder in the place of each file that the tools read, and a pipe and a link where there are
// such. Each call answers, and tells nothing of what a link names.
func TestPlacesTaken(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("c3cr3t\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"@" + agenthook.File, "@" + agenthook.CheckpointsFile, "@state.json", "@trust.json", "feature_list.json",
		loopdir.ConfigFile, loopdir.ProgressFile, loopdir.PromptFile, loopdir.HookLog, "../current",
	} {
		for kind, put := range takers(secret) {
			t.Run(strings.TrimPrefix(name, "../")+" "+kind, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.call("iteration_start", "{}")
				w.call("checkpoint_create", "{}")
				path := filepath.Join(w.project, filepath.FromSlash(loopdir.Below), "demo", name)
				if file, isRecord := strings.CutPrefix(name, "@"); isRecord {
					path = filepath.Join(w.stateOf("demo"), file)
				}
				_ = os.Remove(path) // it may not be there
				if err := put(path); err != nil {
					t.Skip(err)
				}
				w.t = t
				w.allAnswer()
			})
		}
	}
}

// allAnswer calls every tool.
func (w *world) allAnswer() {
	w.t.Helper()
	answers := make(chan string, 300)
	go func() {
		defer close(answers)
		for _, name := range []string{
			"task_get", "iteration_start", "iteration_validate", "iteration_next", "hook_evaluate", "hook_list",
			"hook_clear", "checkpoint_create", "checkpoint_list", "checkpoint_resume",
		} {
			r, err := w.client.CallTool(w.t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
			answers <- name + ": " + toJSON(r) + toJSON(err)
		}
	}()
	last := "nothing"
	for late := time.After(time.Minute); ; { // a watchdog: a call that never ends
		select {
		case text, more := <-answers:
			if !more {
				return
			}
			last = text
			if strings.Contains(text, "c3cr3t") {
				w.t.Errorf("it tells what the link names: %s", text)
			}
		case <-late:
			w.t.Fatalf("a call hangs; the last answer is %s", last)
		}
	}
}
