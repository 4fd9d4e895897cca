package loopdir

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// TestShare takes a step of a loop while another goroutine runs checks of its, one of which may change the record.
func TestShare(t *testing.T) {
	for what, forge := range map[string]bool{"an honest check": false, "a check that completes the loop": true} {
		t.Run(what, func(t *testing.T) {
			l := newLoop(t)
			s, other := opened(t, l), opened(t, l)
			if err := s.Locked(time.Second, func() error { return s.SaveState(record(1)) }); err != nil {
				t.Fatal(err)
			}
			changed, err := s.Share(time.Second, "", func() {
				if _, err := s.lockIn(lockFile, 0, false); !errors.Is(err, ErrLocked) {
					t.Errorf("another process gets the lock: %v", err)
				}
				if err := other.Locked(time.Second, func() error { return other.SaveState(record(2)) }); err != nil {
					t.Error(err)
				}
				if !forge {
					return
				}
				done := []byte(`{"schema": 1, "status": "COMPLETE", "iteration": 2}`)
				if err := os.WriteFile(filepath.Join(l.StatePath(), stateFile), done, 0o600); err != nil {
					t.Error(err)
				}
			})
			if err != nil || (changed != "") != forge {
				t.Errorf("%q was changed, %v", changed, err)
			}
			state, err := s.State()
			if err != nil || state.Iteration != 2 || state.Status != decide.InProgress {
				t.Errorf("the record is at iteration %d, %s, %v", state.Iteration, state.Status, err)
			}
			if err := other.Locked(time.Second, func() error { return nil }); err != nil {
				t.Errorf("the lock is not free again: %v", err)
			}
		})
	}
}

// TestShareStep has a check change the record while a step keeps the record for a command of its own. The step finds
// that and undoes it, and the check hears of it.
func TestShareStep(t *testing.T) {
	l := newLoop(t)
	s, other := opened(t, l), opened(t, l)
	if err := s.Locked(time.Second, func() error { return s.SaveState(record(1)) }); err != nil {
		t.Fatal(err)
	}
	changed, err := s.Share(time.Second, "", func() {
		err := other.Locked(time.Second, func() error {
			kept, err := other.Backup("")
			if err != nil {
				return err
			}
			done := []byte(`{"schema": 1, "status": "COMPLETE", "iteration": 1}`)
			if err := os.WriteFile(filepath.Join(l.StatePath(), stateFile), done, 0o600); err != nil {
				return err
			}
			changed, err := other.Restore(kept)
			if changed == "" {
				t.Error("the step does not find it")
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	if err != nil || changed == "" {
		t.Errorf("%q was changed, %v", changed, err)
	}
}

// TestShareTrouble shares the lock, and something goes wrong. Afterwards everybody gets the lock again.
func TestShareTrouble(t *testing.T) {
	for what, run := range map[string]func(t *testing.T, s, other *Store){
		"checks panic": func(*testing.T, *Store, *Store) { panic("a bug") },
		"a step cannot read the record for a moment": func(t *testing.T, s, other *Store) {
			if runtime.GOOS == "windows" {
				t.Skip("an open folder cannot be moved")
			}
			states := filepath.Dir(other.Loop.stateDir)
			if err := errors.Join(os.Rename(states, states+".away"), os.WriteFile(states, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := other.Locked(time.Second, func() error { return nil }); err == nil {
				t.Error("control: the record could be read")
			}
			if err := errors.Join(os.Remove(states), os.Rename(states+".away", states)); err != nil {
				t.Fatal(err)
			}
		},
		"the store that shares takes a step, after another one": func(t *testing.T, s, other *Store) {
			err := other.Locked(time.Second, func() error { return other.SaveState(record(2)) })
			err = errors.Join(err, s.Locked(time.Second, func() error {
				state, err := s.State()
				if state.Iteration != 2 {
					t.Errorf("it is at iteration %d", state.Iteration)
				}
				return err
			}))
			if err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := newLoop(t)
			s, other := opened(t, l), opened(t, l)
			if err := s.Locked(time.Second, func() error { return s.SaveState(record(1)) }); err != nil {
				t.Fatal(err)
			}
			done := make(chan bool)
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				if _, err := s.Share(time.Second, "", func() { run(t, s, other) }); err != nil {
					t.Error(err)
				}
			}()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for ever")
			}
			f, err := s.lockIn(lockFile, 0, false)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Locked(0, func() error { return nil }); !errors.Is(err, ErrLocked) {
				t.Errorf("with the lock taken, another store gets it: %v", err)
			}
			f.Close()
			if err := other.Locked(time.Second, func() error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
}

func record(iteration int) decide.State {
	return decide.State{
		Schema:  decide.SchemaVersion,
		Ending:  decide.Ending{Status: decide.InProgress},
		Counted: decide.Counted{Iteration: iteration},
	}
}

// TestRequests asks for several things while the lock is taken.
func TestRequests(t *testing.T) {
	s := opened(t, newLoop(t))
	lock(t, s)
	asked := []Request{
		{Verb: RequestNote, Text: "use tabs"},
		{Verb: RequestPause, Now: true},
		{Verb: RequestEvent, Name: "SessionEnd", Of: &decide.Report{Event: decide.EventEnd, Session: "s1"}},
		{Verb: RequestCancel},
	}
	for _, r := range asked {
		if err := s.Ask(r); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Requests()
	if len(got) != len(asked) {
		t.Fatalf("%d requests, want %d", len(got), len(asked))
	}
	for i, want := range asked {
		if got[i].Verb != want.Verb || got[i].Text != want.Text || got[i].Now != want.Now || got[i].Name != want.Name {
			t.Errorf("request %d is %+v, want %+v", i, got[i], want)
		}
	}
	if of := got[2].Of; of == nil || of.Event != decide.EventEnd || of.Session != "s1" {
		t.Errorf("the event is %+v", of)
	}
	s.Done(got[:2])
	if s.HasRequest(RequestPause) || !s.HasRequest(RequestCancel) || !s.HasStopRequest() {
		t.Errorf("left are %+v", s.Requests())
	}
}
