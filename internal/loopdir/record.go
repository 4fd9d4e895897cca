package loopdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
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

// Trust returns what a person has trusted, or nil. A record that is not protected
// an agent may have written.
func (s *Store) Trust() (*config.Trust, error) {
	if !s.Protected {
		return nil, nil
	}
	data, err := s.private(trustFile, maxTrust)
	if err == nil && data == nil {
		return nil, nil
	}
	var t config.Trust
	if err == nil {
		t, err = config.ParseTrust(data)
	}
	if err != nil {
		return nil, fmt.Errorf("the trust record %s cannot be used: %w; run 'ralph-stop-hook trust'", filepath.Join(s.state.Name(), trustFile), err)
	}
	return &t, nil
}

// ErrUnprotected says that no trust can be recorded.
var ErrUnprotected = errors.New("the state folder cannot be written, or is in the project, so commands cannot be kept out of an agent's reach; set RALPH_STATE_DIR to another folder")

// SetTrust records what a person has trusted, and keeps the list at path as it is;
// without a path the one that is kept stays.
func (s *Store) SetTrust(t config.Trust, path string) error {
	if !s.Protected {
		return ErrUnprotected
	}
	if len(t.Features) > 0 && path != "" {
		list, err := optional(readList(path, []string{s.Loop.Dir, s.Loop.Project})) // it may not be written yet
		if err == nil {
			err = replace(s.state, baselineFile, list, 0o600, true, nil)
		}
		if err != nil {
			return err
		}
	}
	return s.replaceJSON(trustFile, t.Fields(), maxTrust)
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

// Config returns the text of ralph.json, nil where there is none.
func (s *Store) Config() ([]byte, error) { return optional(read(s.loop, ConfigFile, config.MaxBytes)) }

// UserConfig returns a person's own configuration and its path, from the system's
// folder for users' configuration; nil if there is none.
func UserConfig(folder string) (text []byte, path string, err error) {
	if folder == "" {
		return nil, "", nil // without a home nobody has set a ceiling
	}
	dir := filepath.Join(folder, "ralph-stop-hook")
	path = filepath.Join(dir, "config.json")
	text, err = optional(ReadFile(dir, filepath.Base(path), config.MaxBytes))
	return text, path, err
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

// ListPath is where the list is: what ralph.json names, below the project's
// root; else where the record says it was, so that a lost ralph.json loses no
// list; else feature_list.json in the loop folder.
func (l *Loop) ListPath(named, recorded string) string {
	switch {
	case named != "":
		return filepath.Join(l.Project, filepath.FromSlash(named))
	case recorded != "":
		return recorded
	}
	return filepath.Join(l.Dir, ListFile)
}

// List reads the list at path, which is in the loop folder or below the project's root.
func (s *Store) List(path string) decide.List { return ReadList(path, s.Loop.Dir, s.Loop.Project) }

// ReadList reads the list at path, which must be in one of these folders.
func ReadList(path string, folders ...string) decide.List {
	file, tag := features.Named(path)
	data, err := readList(path, folders)
	if errors.Is(err, fs.ErrNotExist) {
		return decide.List{Missing: true, Err: fmt.Errorf("no list at %s", file)}
	}
	if err != nil {
		return decide.List{Err: err}
	}
	list, err := features.ParseTag(data, tag)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return decide.List{List: list, Err: err}
}

func readList(path string, folders []string) ([]byte, error) {
	root, name, err := listRoot(path, folders)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, name, features.MaxBytes)
}

func (s *Store) listRoot(path string) (root *os.Root, name string, err error) {
	return listRoot(path, []string{s.Loop.Dir, s.Loop.Project})
}

// listRoot opens the folder of the list at path, which must not lead out of all of
// these folders.
func listRoot(path string, folders []string) (root *os.Root, name string, err error) {
	path, _ = features.Named(path)
	for _, dir := range folders {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		root, err = openRoot(dir)
		if below := filepath.Dir(rel); err == nil && below != "." {
			defer root.Close()
			root, err = root.OpenRoot(below)
		}
		return root, filepath.Base(rel), err
	}
	return nil, "", fmt.Errorf("the list %s is outside the project %s", path, folders[len(folders)-1])
}

// Reopen makes the features of these ids in was not pass in the list at path,
// under the lock. Before the first time the list is kept as list.bak. An agent may
// edit the list meanwhile: then its bytes are edited.
func (s *Store) Reopen(path string, was features.List, ids []string) error {
	root, name, err := s.listRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := s.restore(); err != nil {
		return err
	}
	_, tag := features.Named(path)
	moved := errors.New("it changes all the time")
	for range 5 {
		data, err := read(root, name, features.MaxBytes)
		if err != nil {
			return err
		}
		list, err := features.ParseTag(data, tag)
		if err != nil {
			return err
		}
		edited, err := list.Reopen(data, was, ids)
		if err != nil {
			return err
		}
		if _, err := s.loop.Lstat(backupFile); errors.Is(err, fs.ErrNotExist) {
			if err := replace(s.loop, backupFile, data, 0o600, true, nil); err != nil {
				return err
			}
		}
		err = replace(root, name, edited, 0o644, true, func() error {
			if now, err := read(root, name, features.MaxBytes); err != nil || !bytes.Equal(now, data) {
				return errors.Join(err, moved)
			}
			return nil
		})
		if !errors.Is(err, moved) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", path, moved)
}

// SweepList removes, under the lock, what a killed run left of its edit of the list at
// path: that lies where no other write comes by.
func (s *Store) SweepList(path string) {
	root, name, err := s.listRoot(path)
	if err != nil {
		return
	}
	defer root.Close()
	for name, in := range map[string]*os.Root{name: root, backupFile: s.loop} {
		if in == nil {
			continue
		}
		if d, err := in.Open("."); err == nil {
			sweep(in, d, name, 0)
			d.Close()
		}
	}
}

// RestoreList puts the list at path back as it was when it was trusted, with what
// passes in it now.
func (s *Store) RestoreList(path string) error {
	baseline, err := s.private(baselineFile, features.MaxBytes)
	if err != nil || baseline == nil {
		return errors.Join(err, errors.New("no list was trusted; 'ralph-stop-hook trust' does that where there are checks"))
	}
	root, name, err := s.listRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	now, err := optional(read(root, name, features.MaxBytes))
	if err != nil {
		return err // what passes in it would be lost
	}
	_, tag := features.Named(path)
	list, _ := features.ParseTag(now, tag) // of a broken one nothing is known to pass
	restored, err := list.Restore(baseline)
	if err != nil {
		return err
	}
	if now != nil && s.loop != nil {
		if err := replace(s.loop, backupFile, now, 0o600, true, nil); err != nil {
			return err
		}
	}
	return replace(root, name, restored, 0o644, true, nil)
}

// Receipts returns the stored results of checks.
func (s *Store) Receipts() (all []decide.Receipt, err error) {
	data, err := s.private(receiptsFile, maxReceipts)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the receipts in %s cannot be used: %w; move the file away to prove everything again", filepath.Join(s.state.Name(), receiptsFile), err)
	}
	for i := range all {
		all[i].Passed = true // no other is stored
	}
	return all, nil
}

// SetReceipts stores the results of checks.
func (s *Store) SetReceipts(all []decide.Receipt) error {
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return replace(s.state, receiptsFile, append(data, '\n'), 0o600, true, nil)
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

// Bind makes the session find this loop, wherever its working folder goes.
func (s *Store) Bind(session string) error {
	dir := filepath.Join(s.Loop.stateDir, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := openRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if data, err := read(root, session, maxPathBytes); err == nil && string(data) == s.Loop.Dir+"\n" {
		return nil
	}
	Sweep(root, "") // its session may never come again
	return replace(root, session, []byte(s.Loop.Dir+"\n"), 0o600, true, nil)
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
