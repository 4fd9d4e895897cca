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
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/seeds"
)

// FuzzState writes any bytes as the record, the receipts and the log. Reading must give an
// error or a sound record, never a fresh one, and must not change the file.
func FuzzState(f *testing.F) {
	seeds.Add(f, "*state*.json", "*.jsonl", "*.json")
	for _, seed := range []string{
		`{"schema":1,"status":"IN_PROGRESS","iteration":3}`,
		`{"schema":2,"status":"IN_PROGRESS","iteration":3}`,
		`null`, `{}`, ``,
		`{"schema":1,"status":"COMPLETE","iteration":3,"endings":1,"startedAt":"2026-11-21T03:00:00+01:00",` +
			`"notices":[{"deliveryId":"x","payload":{"a":[1]}}]}`,
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
	record, receipts := filepath.Join(l.StatePath(), stateFile), filepath.Join(l.StatePath(), receiptsFile)
	log := filepath.Join(l.Dir, StopLog)
	f.Fuzz(func(t *testing.T, data []byte) {
		for path, perm := range map[string]os.FileMode{record: 0o600, receipts: 0o600, log: 0o644} {
			if err := os.WriteFile(path, data, perm); err != nil {
				t.Fatal(err)
			}
		}
		state, err := s.State()
		if err := sound(data, state, err); err != nil {
			t.Fatal(err)
		}
		if after, unread := os.ReadFile(record); unread != nil || !bytes.Equal(after, data) {
			t.Fatalf("reading changed %q to %q: %v", data, after, unread)
		}
		if err == nil { // a decision must cope with each record that is accepted
			decide.Decide(decide.Snapshot{
				Report: decide.Report{Event: decide.EventStop, Session: state.Session},
				Folder: decide.Folder{State: state},
			})
		}
		if all, err := s.Receipts(); err != nil && all != nil {
			t.Fatalf("receipts with the error %v: %v", err, all)
		}
		if n := s.LogIteration(); n < 0 || n > maxIteration {
			t.Fatalf("iteration %d", n)
		}
	})
}

// lockedAtOnce is the wait for a lock that nobody else holds.
const lockedAtOnce = 0

// sound checks what State returned for data. It must be an error, or a valid record that is
// the same after it was written and read again.
func sound(data []byte, state decide.State, err error) error {
	if err != nil {
		if !reflect.DeepEqual(state, decide.State{}) {
			return fmt.Errorf("a record with the error %v", err)
		}
		return nil
	}
	valid := state.Schema >= 1 && state.Schema <= decide.SchemaVersion && state.Iteration >= 1 && state.Status != "" &&
		state.Endings >= 0
	if !json.Valid(data) || !valid {
		return fmt.Errorf("%q was read as %+v", data, state)
	}
	written, err := jsontext.Indent(state)
	if err != nil {
		return fmt.Errorf("a record that cannot be written: %w", err)
	}
	again, err := parseState(written)
	if err != nil {
		return fmt.Errorf("a record that cannot be read again: %w", err)
	}
	if rewritten, err := jsontext.Indent(again); err != nil || !bytes.Equal(rewritten, written) {
		return fmt.Errorf("%s became %s: %w", written, rewritten, err)
	}
	return nil
}

// TestStateControls checks that the properties above reject bad results.
func TestStateControls(t *testing.T) {
	good := decide.State{
		Schema:  decide.SchemaVersion,
		Ending:  decide.Ending{Status: decide.InProgress},
		Counted: decide.Counted{Iteration: 1},
	}
	if err := sound([]byte("{}"), good, nil); err != nil {
		t.Fatal(err)
	}
	none := good
	none.Iteration = 0
	for name, err := range map[string]error{
		"a fresh record":        sound([]byte("{}"), decide.State{}, nil),
		"no iteration":          sound([]byte("{}"), none, nil),
		"half a record":         sound([]byte("{"), good, nil),
		"a record and an error": sound([]byte("{"), good, errors.New("x")),
		"a loop elsewhere":      beside("/a/loops", &Loop{Dir: "/a/loops/../x"}, nil),
	} {
		if err == nil {
			t.Errorf("control: %s was not caught", name)
		}
	}
}

// FuzzPlaces uses any text in each place that can name a loop: a prompt, a `current` that is
// a file, a .git file and a name. A loop that is found must be in the project's folder of
// loops.
func FuzzPlaces(f *testing.F) {
	for _, seed := range []string{
		"checkout", "..", "../checkout", ".", "current", "/etc", "a/../checkout", "checkout\x00", "\u202echeckout",
		".claude/data/ralph-loops/checkout", `..\checkout`, "checkout/.", "gitdir: ../x/.git/worktrees/y",
	} {
		f.Add(seed)
	}
	l := newLoop(f)
	below, err := filepath.EvalSymlinks(filepath.Dir(l.Dir))
	if err != nil {
		f.Fatal(err)
	}
	// A folder outside, which a hostile name could reach.
	if err := os.MkdirAll(filepath.Join(l.Project, "..", "checkout"), 0o755); err != nil {
		f.Fatal(err)
	}
	w := Where{StateDir: l.stateDir, ProjectDir: l.Project, Cwd: l.Project, Session: "s"}
	pointer, git := filepath.Join(below, current), filepath.Join(l.Project, ".git")
	f.Fuzz(func(t *testing.T, text string) {
		for path, content := range map[string]string{pointer: text, git: "gitdir: " + text} {
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		named, err := w.Named(text)
		if err := beside(below, named, err); err != nil {
			t.Fatal(err)
		}
		for _, prompt := range []string{text, Marker + text, Marker + filepath.ToSlash(Below) + "/" + text} {
			marked, err := w.PromptLoop(prompt)
			if err := beside(below, marked, err); err != nil {
				t.Fatal(err)
			}
		}
		found, err := w.Current()
		if err := beside(below, found, err); err != nil {
			t.Fatal(err)
		}
		if CheckName(text) == nil && (filepath.Base(text) != text || !filepath.IsLocal(text)) {
			t.Fatalf("%q is accepted as a name", text)
		}
		if ValidSession(text) && (filepath.Base(text) != text || !filepath.IsLocal(text)) {
			t.Fatalf("%q is accepted as a session", text)
		}
	})
}

// beside checks that a loop that was found is in the folder below.
func beside(below string, l *Loop, err error) error {
	if l != nil && err == nil && filepath.Dir(l.Dir) != below {
		return fmt.Errorf("%s is not below %s", l.Dir, below)
	}
	return nil
}
