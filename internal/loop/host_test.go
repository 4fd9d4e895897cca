package loop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// TestHost runs a loop of five features to COMPLETE with a host that is not Claude Code.
// It has one owner, and one step after each pretended session.
func TestHost(t *testing.T) {
	project, state := t.TempDir(), t.TempDir()
	folder := filepath.Join(project, loopdir.Below, "demo")
	list := filepath.Join(folder, loopdir.ListFile)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(passed int) {
		text := "[" + strings.Repeat(`{"passes": true},`, passed) + strings.Repeat(`{"passes": false},`, 5-passed)
		if err := os.WriteFile(list, []byte(strings.TrimSuffix(text, ",")+"]"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(0)
	env := loop.Env{Program: "host", Agent: "host", Cwd: project, StateDir: state, LoopDir: folder}
	for passed := 1; passed <= 5; passed++ {
		write(passed) // what the session did
		ev := loop.Event{
			Kind: decide.EventStop, Name: "exit", Session: "run-1", Client: os.Getpid(),
			At: time.Now(), Timeout: time.Minute,
		}
		l, err := loop.Find(env, ev)
		if err != nil {
			t.Fatal(err)
		}
		step, err := l.Step(t.Context(), ev)
		if err != nil {
			t.Fatal(err)
		}
		l.Notify(t.Context(), ev, step)
		l.Close()
		want, status := decide.Continue, decide.InProgress
		if passed == 5 {
			want, status = decide.End, decide.Complete
		}
		if d := step.Decision; d.Verdict != want || d.Next.Status != status || d.Next.Iteration != min(passed+1, 5) {
			t.Fatalf("after %d features: %s %s at iteration %d", passed, d.Verdict, d.Next.Status, d.Next.Iteration)
		}
	}
}
