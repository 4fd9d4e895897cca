package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// TestStopped waits on while the Stop hook has ended the loop INTERRUPTED, which is no person's doing.
func TestStopped(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, loopdir.Below, "demo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	at, err := loopdir.Find(loopdir.Where{StateDir: t.TempDir(), LoopDir: dir, Cwd: top})
	if err != nil {
		t.Fatal(err)
	}
	store, err := at.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	unlock, err := store.Lock(0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	for _, tc := range []struct {
		status           decide.Status
		fresh, inSession bool // whether a run of that kind stops waiting
	}{
		{decide.InProgress, false, false},
		{decide.Interrupted, true, false},
		{decide.Handover, true, false},
		{decide.Paused, true, true},
		{decide.Cancelled, true, true},
	} {
		state := decide.State{
			Schema:  decide.SchemaVersion,
			Loop:    dir,
			Ending:  decide.Ending{Status: tc.status},
			Counted: decide.Counted{Iteration: 1},
		}
		if err := store.SaveState(state); err != nil {
			t.Fatal(err)
		}
		fresh := Run{store: store}
		inSession := Run{store: store, Record: record.Run{Options: record.Options{InSession: true}}}
		if fresh.stopped() != tc.fresh || inSession.stopped() != tc.inSession {
			t.Errorf("%s: %v, and %v in a session", tc.status, fresh.stopped(), inSession.stopped())
		}
	}
}
