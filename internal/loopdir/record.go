package loopdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// Limits of what is read, far above what we or an agent write.
const (
	maxState    = 1 << 20
	maxProgress = 16 << 20
	maxTrust    = 16 << 20  // with the hashes of files
	maxReceipts = 256 << 20 // some 300 bytes a feature and check
)

// State returns the record, with Schema 0 where there is none. A record that
// cannot be read is an error, never a fresh one.
func (s *Store) State() (decide.State, error) {
	var state decide.State
	data, err := s.private(stateFile, maxState)
	if err == nil && data != nil {
		state, err = parseState(data)
	}
	if err != nil {
		return decide.State{}, fmt.Errorf("the record %s cannot be used: %w", filepath.Join(s.state.Name(), stateFile), err)
	}
	return state, nil
}

// private reads a file of the state folder that nobody else may have put
// there, nil where there is none.
func (s *Store) private(name string, limit int64) ([]byte, error) {
	data, info, err := readInfo(s.state, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = private(info)
	}
	return data, err
}

// maxYear is far ahead, and its times can still be written in any zone.
const maxYear = 9000

func parseState(data []byte) (decide.State, error) {
	var state decide.State
	if err := state.Fields().Read(data); err != nil {
		return decide.State{}, fmt.Errorf("%w; move it away to start over", err)
	}
	switch {
	case state.Schema > decide.SchemaVersion:
		return decide.State{}, fmt.Errorf("a later version of ralph-stop-hook wrote it (schema %d); use that version", state.Schema)
	case state.Schema != decide.SchemaVersion || state.Status == "" || state.Iteration < 1 || state.Endings < 0,
		state.StartedAt.UTC().Year() > maxYear, state.EndedAt.UTC().Year() > maxYear:
		return decide.State{}, errors.New("fields are missing or make no sense; move it away to start over")
	}
	return state, nil
}

func (s *Store) replaceJSON(name string, record jsontext.Object, limit int) error {
	data, err := record.Lines()
	if err != nil {
		return err
	}
	if len(data) >= limit {
		return fmt.Errorf("%s: it would be larger than it may be read", name)
	}
	return replace(s.state, name, append(data, '\n'), 0o600, true, nil)
}

// Progress returns the content of progress.txt, nil where there is none.
func (s *Store) Progress() ([]byte, error) { return optional(read(s.loop, ProgressFile, maxProgress)) }

// optional is what was read, nil where there is no such file.
func optional(data []byte, err error) ([]byte, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Commit makes next the record and shows it in progress.txt. The rename of
// state.json is the commit point: a crash before it leaves all as it was, one
// after it leaves a header that the next run completes. progress.txt is read
// anew in between, so that a note that came meanwhile stays.
func (s *Store) Commit(next decide.State) error {
	if err := s.replaceJSON(stateFile, next.Fields(), maxState); err != nil {
		return fmt.Errorf("cannot save the loop's state in %w", err)
	}
	if err := s.show(next); err != nil {
		return err
	}
	_ = s.state.Remove(troubleFile) // that is over; mostly there is none
	return nil
}

// show brings progress.txt up to the record.
func (s *Store) show(next decide.State) error {
	if err := s.restore(); err != nil {
		return fmt.Errorf("cannot make the loop folder again: %w", err)
	}
	text, err := s.Progress()
	if err != nil {
		return err
	}
	edited := progress.Edit(text, next.Header)
	if text != nil && bytes.Equal(text, edited) {
		return nil
	}
	if err := replace(s.loop, ProgressFile, edited, 0o644, true, nil); err != nil {
		return fmt.Errorf("cannot write %w", err)
	}
	return nil
}

// Complete finishes a write of progress.txt that was cut off: the header is
// still the one of before. It takes the lock only if there is something to do.
func (s *Store) Complete(wait time.Duration) {
	unshown := func() (decide.State, bool) {
		state, err := s.State()
		text, unread := s.Progress()
		h := progress.Parse(text)
		return state, err == nil && unread == nil && text != nil && h == state.Before && h != state.Header
	}
	if _, is := unshown(); !is {
		return
	}
	unlock, err := s.Lock(wait)
	if err != nil {
		return
	}
	defer unlock()
	if state, is := unshown(); is {
		_ = s.show(state) // tried again by the next run
	}
}

// WriteFile writes a file of the loop folder, under the lock.
func (s *Store) WriteFile(name string, data []byte) error {
	return replace(s.loop, name, data, 0o644, true, nil)
}

// SaveState commits a record whose header has not changed.
func (s *Store) SaveState(next decide.State) error {
	return s.replaceJSON(stateFile, next.Fields(), maxState)
}

// restore makes a loop folder that is gone, as after `git clean -fdx`.
func (s *Store) restore() error {
	if s.loop != nil {
		return nil
	}
	root, err := openRoot(s.Loop.Project)
	if err != nil {
		return err
	}
	defer root.Close()
	rel, err := filepath.Rel(s.Loop.Project, s.Loop.Dir)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is outside the project %s", s.Loop.Dir, s.Loop.Project)
	}
	if err := root.MkdirAll(rel, 0o755); err != nil {
		return err
	}
	s.loop, err = root.OpenRoot(rel)
	return err
}

// TellOnce notes that trouble of that id is told, and reports false if it was told
// before. Trouble that cannot be noted is told.
func (s *Store) TellOnce(id string) bool {
	if told, err := read(s.state, troubleFile, maxPathBytes); err == nil && string(told) == id {
		return false
	}
	if s.state != nil {
		_ = Replace(s.state, troubleFile, []byte(id), 0o600)
	}
	return true
}

// CancelAsked tells whether a person's `cancel` waits to be honoured.
func (s *Store) CancelAsked() bool {
	if s.state == nil {
		return false
	}
	_, err := s.state.Lstat(cancelFile)
	return err == nil
}

// AskCancel leaves word that the loop is to end. It needs no lock, so that it
// works while a hook runs and on a damaged folder.
func (s *Store) AskCancel() error {
	if err := s.openState(true); err != nil {
		return err
	}
	f, err := s.state.OpenFile(cancelFile, os.O_WRONLY|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// ClearCancel takes a `cancel` back.
func (s *Store) ClearCancel() error {
	if err := s.state.Remove(cancelFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
