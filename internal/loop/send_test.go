package loop_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// An ending is told although another process looks at that moment whether there is a
// sender.
func TestTellBesideLook(t *testing.T) {
	project, l, ev, step := ended(t, 0)
	unlock, err := l.Store.LockSender(0)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, unlock)
	l.Notify(t.Context(), ev, step)
	told, err := os.ReadFile(filepath.Join(project, "told"))
	if err != nil || bytes.Count(told, []byte("told")) != 1 || l.Untold() != 0 {
		t.Errorf("told %q, %v, with %d left; want it once", told, err, l.Untold())
	}
}

// A record that cannot be read may have a notice: that is an error, not nothing to tell.
func TestTellWithoutRecord(t *testing.T) {
	_, l, _, _ := ended(t, time.Hour)
	err := os.WriteFile(filepath.Join(l.At.StatePath(), "state.json"), []byte("{"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Tell(t.Context()); err == nil {
		t.Error("nobody says that the notice is not told")
	}
}

// ended returns a loop that ended so long ago, and whose ending is not told yet, with the step that ended it.
func ended(t *testing.T, age time.Duration) (project string, l *loop.Loop, ev loop.Event, step *loop.Step) {
	t.Helper()
	project = t.TempDir()
	folder := filepath.Join(project, loopdir.Below, "demo")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	list := []byte(`[{"passes": true}]`)
	if err := os.WriteFile(filepath.Join(folder, loopdir.ListFile), list, 0o644); err != nil {
		t.Fatal(err)
	}
	env := loop.Env{
		Catch:   context.WithCancel,
		Program: "host", Agent: "host", Cwd: project, StateDir: t.TempDir(), LoopDir: folder, Vars: os.Environ(),
		OnComplete: "echo told>>told",
	}
	ev = loop.Event{
		Report: decide.Report{Event: decide.EventStop, Session: "run-1"},
		Name:   "exit", At: time.Now().Add(-age), Timeout: 5 * time.Minute,
	}
	l, err := loop.Find(env, ev)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	step, err = l.Step(t.Context(), ev)
	if err != nil || step.Decision.Verdict != decide.End {
		t.Fatalf("%+v, %v; want an end", step.Decision, err)
	}
	return project, l, ev, step
}
