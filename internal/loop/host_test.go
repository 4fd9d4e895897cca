package loop_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// TestClaim runs a loop without a list to COMPLETE with a host that says, by an exit status for
// example, that its session claims to be done.
func TestClaim(t *testing.T) {
	project, state := t.TempDir(), t.TempDir()
	folder := filepath.Join(project, loopdir.Below, "demo")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(folder, loopdir.ConfigFile), `{"list": "none", "checks": [{"file_exists": "built"}]}`)
	env := loop.Env{Program: "host", Agent: "host", Cwd: project, StateDir: state, LoopDir: folder,
		Catch: context.WithCancel}
	for _, tc := range []struct {
		works, claims bool
		want          string
	}{
		{false, false, "continue IN_PROGRESS"},
		{false, true, "continue IN_PROGRESS"},
		{true, false, "continue IN_PROGRESS"},
		{true, true, "end COMPLETE all_checks_pass"},
	} {
		if tc.works {
			write(filepath.Join(project, "built"), "")
		}
		d := step(t, env, loop.Event{Report: decide.Report{Claimed: tc.claims}})
		got := strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Verdict, d.Next.Status, d.Next.ExitReason))
		if failed := d.Failure != nil; got != tc.want || failed != (tc.claims && !tc.works) {
			t.Errorf("%+v: %s, a check failed: %v", tc, got, failed)
		}
	}
}

// step answers a stop of the host's only session.
func step(t *testing.T, env loop.Env, ev loop.Event) decide.Decision {
	t.Helper()
	ev.Event, ev.Name, ev.Session, ev.Client = decide.EventStop, "exit", "run-1", os.Getpid()
	ev.At, ev.Timeout = time.Now(), time.Minute
	l, err := loop.Find(env, ev)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := l.Step(t.Context(), ev)
	if err != nil {
		t.Fatal(err)
	}
	l.Notify(t.Context(), ev, s)
	return s.Decision
}

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
	env := loop.Env{Program: "host", Agent: "host", Cwd: project, StateDir: state, LoopDir: folder,
		Catch: context.WithCancel}
	for passed := 1; passed <= 5; passed++ {
		write(passed) // what the session did
		d := step(t, env, loop.Event{})
		want, status := decide.Continue, decide.InProgress
		if passed == 5 {
			want, status = decide.End, decide.Complete
		}
		if d.Verdict != want || d.Next.Status != status || d.Next.Iteration != min(passed+1, 5) {
			t.Fatalf("after %d features: %s %s at iteration %d", passed, d.Verdict, d.Next.Status, d.Next.Iteration)
		}
	}
}
