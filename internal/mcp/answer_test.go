package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// evaluator has a person trust an evaluator of demo that gives the agent this.
func (w *world) evaluator(gives string) {
	w.t.Helper()
	if runtime.GOOS == "windows" {
		w.t.Skip("needs a POSIX shell")
	}
	w.write("answer.json", `{"action": "continue", "reason": "r", "checkpointData": `+gives+`}`)
	w.write(loopdir.Below+"/demo/ralph.json",
		`{"evaluate": [{"command": "cat answer.json"}]}`)
	w.trust()
}

// TestCheckpointAtStop has an evaluator give something for the agent at a stop. It is kept once in an iteration. What
// cannot be kept changes nothing else.
func TestCheckpointAtStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("a", "b", "c")
	w.evaluator(`{"left": 2}`)
	w.call("iteration_start", "{}")
	stop := func(iteration int) {
		t.Helper()
		d := w.stop("real", os.Getpid(), "done")
		if d.Verdict != decide.Continue || d.Next.Iteration != iteration {
			t.Errorf("%s, iteration %d; want %d", d.Verdict, d.Next.Iteration, iteration)
		}
	}
	has := func(context string, kept int) {
		t.Helper()
		text, _ := w.call("checkpoint_resume", "{}")
		list, _ := w.call("checkpoint_list", "{}")
		if !strings.Contains(text, `"restoredPhase":"evaluated"`) || !strings.Contains(text, `"agentContext":`+context) ||
			strings.Count(list, `"id"`) != kept {
			t.Errorf("want %s and %d checkpoints: %s\n%s", context, kept, text, list)
		}
	}
	if text, _ := w.call("hook_evaluate", "{}"); !strings.Contains(text, `"checkpointCreated":true`) {
		t.Errorf("hook_evaluate: %s", text)
	}
	stop(2) // it says the same in the same iteration
	has(`{"left":2}`, 1)
	w.evaluator(`{"left": 1}`)
	stop(3)
	has(`{"left":1}`, 2)
	w.evaluator(`"no object"`)
	stop(4)
	has(`{"left":1}`, 2)
	w.evaluator(fmt.Sprintf(`{"long": %q}`, strings.Repeat("x", 30<<10)))
	stop(5)
	has(`{"left":1}`, 2)
	w.logged("a checkpoint of an evaluator is not kept: agentContext has 30")

	// A folder in the place of the file: the stop counts all the same.
	path := filepath.Join(w.stateOf("demo"), agenthook.CheckpointsFile)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	w.evaluator(`{"left": 0}`)
	stop(6)
	w.logged("a checkpoint of an evaluator is not kept: ")
}

// stateOf returns the folder of a loop's record.
func (w *world) stateOf(name string) string {
	w.t.Helper()
	l := w.openNamed(name)
	defer l.Close()
	return l.At.StatePath()
}

// logged asserts that the newest trouble in demo's log has a text.
func (w *world) logged(text string) {
	w.t.Helper()
	l := w.openNamed("demo")
	defer l.Close()
	log, _ := l.Store.OpenLog(loopdir.HookLog, 100)
	lines := strings.Split(string(log), " error ")
	if last := lines[len(lines)-1]; len(lines) < 2 || !strings.Contains(last, text) {
		w.t.Errorf("no trouble %q in %s", text, log)
	}
}
