package loopdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

// FuzzState gives any bytes as the record and what lies beside it: an error or a
// sound record, never a fresh one, and the file as it was.
func FuzzState(f *testing.F) {
	seeds.Add(f, "*state*.json", "*.jsonl", "*.json")
	for _, seed := range []string{
		`{"schema":1,"status":"IN_PROGRESS","iteration":3}`, `{"schema":2,"status":"IN_PROGRESS","iteration":3}`, `null`, `{}`, ``,
		`{"schema":1,"status":"COMPLETE","iteration":3,"endings":1,"startedAt":"2026-11-21T03:00:00+01:00","notices":[{"deliveryId":"x","payload":{"a":[1]}}]}`,
	} {
		f.Add([]byte(seed))
	}
	l := newLoop(f)
	s, err := l.Open()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	unlock, err := s.Lock(lockedAtOnce)
	if err != nil {
		f.Fatal(err)
	}
	unlock()
	f.Fuzz(func(t *testing.T, data []byte) {
		for path, perm := range map[string]os.FileMode{filepath.Join(s.StatePath(), stateFile): 0o600, filepath.Join(s.StatePath(), receiptsFile): 0o600, filepath.Join(l.Dir, IterationLog): 0o644} {
			if err := os.WriteFile(path, data, perm); err != nil {
				t.Fatal(err)
			}
		}
		state, err := s.State()
		if err := sound(data, state, err); err != nil {
			t.Fatal(err)
		}
		if after, unread := os.ReadFile(filepath.Join(s.StatePath(), stateFile)); unread != nil || !bytes.Equal(after, data) {
			t.Fatalf("%q became %q by being read: %v", data, after, unread)
		}
		if err == nil { // no record that is accepted is too much for a decision
			decide.Decide(decide.Snapshot{Event: decide.Stop, Session: state.Session, State: state})
		}
		if all, err := s.Receipts(); err != nil && all != nil {
			t.Fatalf("receipts beside %v: %v", err, all)
		}
		if n := s.LogIteration(); n < 0 || n > maxIteration {
			t.Fatalf("iteration %d", n)
		}
	})
}

// lockedAtOnce is for a lock that nobody else has.
const lockedAtOnce = 0

// sound is for what State returns of data: an error, or a record that goes on and
// can be written again.
func sound(data []byte, state decide.State, err error) error {
	if err != nil {
		if !reflect.DeepEqual(state, decide.State{}) {
			return fmt.Errorf("a record beside the error %v", err)
		}
		return nil
	}
	if !json.Valid(data) || state.Schema != decide.SchemaVersion || state.Iteration < 1 || state.Status == "" || state.Endings < 0 {
		return fmt.Errorf("%q is taken for %+v", data, state)
	}
	written, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("a record that cannot be written: %w", err)
	}
	again, err := parseState(written)
	if err != nil {
		return fmt.Errorf("a record that cannot be read again: %w", err)
	}
	if rewritten, err := json.Marshal(again); err != nil || !bytes.Equal(rewritten, written) {
		return fmt.Errorf("%s became %s: %w", written, rewritten, err)
	}
	return nil
}

// TestStateControls shows that the property sees what it exists to see.
func TestStateControls(t *testing.T) {
	good := decide.State{Schema: decide.SchemaVersion, Status: decide.InProgress, Iteration: 1}
	if err := sound([]byte("{}"), good, nil); err != nil {
		t.Fatal(err)
	}
	none := good
	none.Iteration = 0
	for name, err := range map[string]error{
		"a fresh record":        sound([]byte("{}"), decide.State{}, nil),
		"no iteration":          sound([]byte("{}"), none, nil),
		"a record of half":      sound([]byte("{"), good, nil),
		"a record beside error": sound([]byte("{"), good, errors.New("x")),
	} {
		if err == nil {
			t.Errorf("control: %s was not caught", name)
		}
	}
}
