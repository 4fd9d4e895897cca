package mcp

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// TestHookHoldsStop registers a hook that holds the loop back at a stop, too, until its rule holds.
func TestHookHoldsStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("a", "b", "c")
	w.call("iteration_start",
		`{"validationRules": [{"type": "file_existence", "name": "built", "config": {"paths": ["built"]}}]}`)
	w.call("hook_register", `{"hookType": "validation", "hookId": "mine", "when": "complete"}`)
	if text, _ := w.call("hook_evaluate", "{}"); !strings.Contains(text, `"hookId":"mine"`) ||
		!strings.Contains(text, `"action":"continue"`) {
		t.Errorf("hook_evaluate: %s", text)
	}
	d := w.stop("real", os.Getpid(), "done")
	if d.Verdict != decide.Continue || d.Answer.By != "mine" || !strings.Contains(d.Answer.Prompt, "missing: built") {
		t.Errorf("%s by %q: %+v", d.Verdict, d.Answer.By, d.Answer)
	}
	w.write("built", "x")
	d = w.stop("real", os.Getpid(), "done")
	if d.Verdict != decide.End || d.Next.Status != decide.Complete {
		t.Errorf("%s %s", d.Verdict, d.Next.Status)
	}
}

// TestQuotedPromise writes about a promise at a stop, where only the end of a message makes one.
func TestQuotedPromise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claim("a", "b", "c")
	w.call("iteration_start", "{}")
	w.call("hook_register", `{"hookType": "default"}`)
	d := w.stop("real", os.Getpid(), "The guide explains `<promise>BLOCKED</promise>` now.")
	if d.Verdict != decide.End || d.Next.Status != decide.Complete {
		t.Errorf("%s %s: %s", d.Verdict, d.Next.Status, d.Next.Needs)
	}
}

// TestAnotherSession reads a loop of another living session, and changes nothing of it.
func TestAnotherSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.give()
	was := w.state()
	text, isError := w.call("task_get", "{}")
	if isError || !strings.Contains(text, `"owner":"another_session"`) {
		t.Errorf("task_get: %s", text)
	}
	for _, name := range []string{"hook_list", "checkpoint_list"} {
		if text, isError := w.call(name, "{}"); isError {
			t.Errorf("%s: %s", name, text)
		}
	}
	for name, arguments := range map[string]string{
		"iteration_start": "{}", "iteration_validate": "{}", "iteration_next": "{}",
		"iteration_complete": `{"completionPromise": "BLOCKED"}`, "hook_register": `{"hookType": "default"}`,
		"hook_evaluate": "{}", "hook_clear": "{}", "checkpoint_create": "{}",
	} {
		text, isError := w.call(name, arguments)
		if !isError || !strings.Contains(text, "is worked by another session") ||
			!strings.Contains(text, "in a terminal of their own: ralph-stop-hook use demo --session ID") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if now := w.state(); now.Session != was.Session || now.Status != was.Status || now.Iteration != was.Iteration {
		t.Errorf("the record changed from %+v to %+v", was, now)
	}
}

// TestClientStops has another process's session stop: it does not get the loop that this client began by a tool.
func TestClientStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call("iteration_start", "{}")
	if d := w.stop("stranger", os.Getppid(), "done"); d.Verdict != decide.Pass {
		t.Errorf("a stranger's stop: %s", d.Verdict)
	}
	if d := w.stop("real", os.Getpid(), "done"); d.Verdict != decide.Continue || d.Next.Session != "real" {
		t.Errorf("the client's stop: %s, session %q", d.Verdict, d.Next.Session)
	}
}

// TestTwoLoops has the client's process work two loops, one after the other, as after /resume. Calls are about the one
// that it works now, whichever is first by name.
func TestTwoLoops(t *testing.T) {
	t.Parallel()
	for _, order := range [][2]string{{"demo", "other"}, {"other", "demo"}} {
		w := newWorld(t)
		w.works(order[0], "first", decide.InProgress, time.Minute)
		w.works(order[1], "second", decide.InProgress, 0)
		if text, _ := w.call("task_get", "{}"); !strings.Contains(text, `"id":"`+order[1]+`"`) {
			t.Errorf("after %s: %s", order, text)
		}
		w.works(order[0], "first", decide.Interrupted, 0)
		if text, _ := w.call("iteration_start", "{}"); !strings.Contains(text, `"taskId":"`+order[1]+`"`) {
			t.Errorf("after %s, with the first interrupted: %s", order, text)
		}
	}
}

// TestNoLoopForSure has two loops that wait for a session, while the session has none. A call must name its loop, and
// changes nothing until it does. A loop that nobody has worked yet is in nobody's way.
func TestNoLoopForSure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.works("demo", "first", decide.Interrupted, time.Minute)
	if text, isError := w.call("checkpoint_create", "{}"); isError {
		t.Errorf("with one loop that waits: %s", text)
	}
	w.works("other", "", decide.InProgress, 0)
	const want = "this session works on no loop, and several wait for one: demo, other; call iteration_start"
	if text, isError := w.call("task_get", "{}"); isError || !strings.Contains(text, `"needs":"`+want) {
		t.Errorf("task_get: %s", text)
	}
	was := w.state()
	for name, arguments := range map[string]string{
		"iteration_start": `{"maxIterations": 2}`, "iteration_validate": "{}", "iteration_next": "{}",
		"iteration_complete": `{"completionPromise": "BLOCKED"}`, "hook_register": `{"hookType": "default"}`,
		"hook_evaluate": "{}", "hook_clear": "{}", "hook_list": "{}", "checkpoint_create": "{}",
		"checkpoint_list": "{}", "checkpoint_resume": "{}",
	} {
		if text, isError := w.call(name, arguments); !isError || !strings.Contains(text, want) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if now := w.state(); now.Session != was.Session || now.Status != was.Status || now.MaxIterations != was.MaxIterations {
		t.Errorf("the record changed from %+v to %+v", was, now)
	}
	if text, isError := w.call("iteration_start", `{"taskId": "other"}`); isError {
		t.Errorf("by name: %s", text)
	}
	if text, _ := w.call("task_get", "{}"); !strings.Contains(text, `"id":"other"`) {
		t.Errorf("after iteration_start by name: %s", text)
	}
}
