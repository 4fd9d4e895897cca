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
		for path, perm := range map[string]os.FileMode{filepath.Join(s.Loop.StatePath(), stateFile): 0o600, filepath.Join(s.Loop.StatePath(), receiptsFile): 0o600, filepath.Join(l.Dir, IterationLog): 0o644} {
			if err := os.WriteFile(path, data, perm); err != nil {
				t.Fatal(err)
			}
		}
		state, err := s.State()
		if err := sound(data, state, err); err != nil {
			t.Fatal(err)
		}
		if after, unread := os.ReadFile(filepath.Join(s.Loop.StatePath(), stateFile)); unread != nil || !bytes.Equal(after, data) {
			t.Fatalf("%q became %q by being read: %v", data, after, unread)
		}
		if err == nil { // no record that is accepted is too much for a decision
			decide.Decide(decide.Snapshot{Event: decide.EventStop, Session: state.Session, State: state})
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
	written, err := state.Fields().Lines()
	if err != nil {
		return fmt.Errorf("a record that cannot be written: %w", err)
	}
	again, err := parseState(written)
	if err != nil {
		return fmt.Errorf("a record that cannot be read again: %w", err)
	}
	if rewritten, err := again.Fields().Lines(); err != nil || !bytes.Equal(rewritten, written) {
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
		"a loop elsewhere":      beside("/a/loops", &Loop{Dir: "/a/loops/../x"}, nil),
	} {
		if err == nil {
			t.Errorf("control: %s was not caught", name)
		}
	}
}

// FuzzPlaces gives any text where a loop can be named: by a prompt, by a `current`
// that is a file, by a session's file, and as a name. What is found lies beside the
// project's other loops.
func FuzzPlaces(f *testing.F) {
	for _, seed := range []string{"checkout", "..", "../checkout", ".", "current", "/etc", "a/../checkout", "checkout\x00", "\u202echeckout", ".claude/data/ralph-loops/checkout", `..\checkout`, "checkout/.", "gitdir: ../x/.git/worktrees/y"} {
		f.Add(seed)
	}
	l := newLoop(f)
	below, err := filepath.EvalSymlinks(filepath.Dir(l.Dir))
	if err != nil {
		f.Fatal(err)
	}
	// A loop outside, to which a way could lead.
	if err := os.MkdirAll(filepath.Join(l.Project, "..", "checkout"), 0o755); err != nil {
		f.Fatal(err)
	}
	w := Where{StateDir: l.stateDir, ProjectDir: l.Project, Cwd: l.Project, Session: "s"}
	f.Fuzz(func(t *testing.T, text string) {
		for path, content := range map[string]string{filepath.Join(below, current): text, filepath.Join(l.Project, ".git"): "gitdir: " + text} {
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		named, err := w.Named(text)
		if err := beside(below, named, err); err != nil {
			t.Fatal(err)
		}
		for _, prompt := range []string{text, Marker + text, Marker + filepath.ToSlash(Below) + "/" + text} {
			marked, err := w.Marked(prompt)
			if err := beside(below, marked, err); err != nil {
				t.Fatal(err)
			}
		}
		found, err := w.Current()
		if err := beside(below, found, err); err != nil {
			t.Fatal(err)
		}
		if CheckName(text) == nil && (filepath.Base(text) != text || !filepath.IsLocal(text)) {
			t.Fatalf("%q is taken for a name", text)
		}
		if ValidSession(text) && (filepath.Base(text) != text || !filepath.IsLocal(text)) {
			t.Fatalf("%q is taken for a session", text)
		}
	})
}

func beside(below string, l *Loop, err error) error {
	if l != nil && err == nil && filepath.Dir(l.Dir) != below {
		return fmt.Errorf("%s is not below %s", l.Dir, below)
	}
	return nil
}
