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

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// The names in a loop's state folder.
const (
	stateFile  = "state.json"
	trustFile  = "trust.json"
	cancelFile = "cancelled"
	lockFile   = "lock"
)

// Limits of what is read, far above what we or an agent write.
const (
	maxState    = 1 << 20
	maxProgress = 16 << 20
	logLine     = 4096 // of the end of iterations.jsonl that is searched for its last line
)

// ErrLocked says that another process kept the lock for all of the wait.
var ErrLocked = errors.New("another process holds the loop's lock")

// Store is a loop's open folders. Close must be called.
type Store struct {
	*Loop
	Protected bool     // the record is outside the project
	loop      *os.Root // nil: the folder is gone
	state     *os.Root // nil: there is no record yet
}

// Open opens the loop's folders as far as they exist. It creates nothing.
func (l *Loop) Open() (*Store, error) {
	if l.stateDir == "" {
		return nil, errors.New("no folder for state: HOME is not set; set it, or RALPH_STATE_DIR to a folder of yours")
	}
	s := &Store{Loop: l}
	var err error
	if s.loop, err = os.OpenRoot(l.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("loop folder: %w", err)
	}
	if err := s.openState(false); err != nil {
		s.Close()
		return nil, fmt.Errorf("state folder: %w", err)
	}
	return s, nil
}

// Close closes the folders.
func (s *Store) Close() {
	for _, root := range []*os.Root{s.loop, s.state} {
		if root != nil {
			root.Close()
		}
	}
}

// StatePath is the loop's folder outside the project.
func (l *Loop) StatePath() string {
	return filepath.Join(l.stateDir, "loops", l.key)
}

// openState opens the folder of the record: the one outside the project, and
// only where that cannot be made, .state in the loop folder. One that lies
// there although the other could be made is not believed: an agent that writes
// the project may have put it there.
func (s *Store) openState(create bool) error {
	if s.state != nil {
		return nil
	}
	root, err := os.OpenRoot(s.StatePath())
	if err == nil {
		s.state, s.Protected = root, true
		return nil
	}
	inside := false
	if s.loop != nil {
		_, missing := s.loop.Lstat(fallbackDir)
		inside = missing == nil
	}
	if !create && !inside && (errors.Is(err, fs.ErrNotExist) || unwritable(err)) {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(s.StatePath(), 0o700); err == nil {
			s.state, err = os.OpenRoot(s.StatePath())
			s.Protected = err == nil
			return err
		}
	}
	if !unwritable(err) || s.loop == nil {
		return err
	}
	if create && !inside {
		if err := s.loop.Mkdir(fallbackDir, 0o700); err != nil {
			return err
		}
	}
	s.state, err = s.loop.OpenRoot(fallbackDir)
	return err
}

// unwritable tells whether err means that a folder of ours can never be made there.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) || errors.Is(err, errNotDir)
}

// Lock takes the loop's lock, waiting at most so long. Whatever is decided is
// loaded after it and committed before unlock.
func (s *Store) Lock(wait time.Duration) (unlock func(), err error) {
	if err := s.openState(true); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	f, err := s.openLock()
	for pause, end := time.Millisecond, time.Now().Add(wait); err == nil; pause = min(2*pause, 20*time.Millisecond) {
		var got bool
		if got, err = tryLock(f); got {
			return func() { f.Close() }, nil // closing lets the lock go
		}
		if err == nil && time.Now().After(end) {
			err = ErrLocked
		}
		time.Sleep(pause)
	}
	if f != nil {
		f.Close()
	}
	return nil, fmt.Errorf("cannot lock the loop with %s: %w", filepath.Join(s.state.Name(), lockFile), err)
}

func (s *Store) openLock() (*os.File, error) {
	if err := regular(s.state, lockFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s.state.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|nonblock, 0o600)
}

// State returns the record, with Schema 0 where there is none. A record that
// cannot be read is an error, never a fresh one.
func (s *Store) State() (decide.State, error) {
	var state decide.State
	if s.state == nil {
		return state, nil
	}
	data, info, err := readInfo(s.state, stateFile, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err == nil {
		err = private(info)
	}
	if err == nil {
		state, err = parseState(data)
	}
	if err != nil {
		return decide.State{}, fmt.Errorf("the record %s cannot be used: %w; move it away to start over", filepath.Join(s.state.Name(), stateFile), err)
	}
	return state, nil
}

func parseState(data []byte) (decide.State, error) {
	var state decide.State
	if err := json.Unmarshal(data, &state); err != nil {
		return decide.State{}, err
	}
	switch {
	case state.Schema > decide.SchemaVersion:
		return decide.State{}, fmt.Errorf("a later version of ralph-stop-hook wrote it (schema %d)", state.Schema)
	case state.Schema != decide.SchemaVersion || state.Status == "" || state.Iteration < 1 || state.Endings < 0:
		return decide.State{}, errors.New("fields are missing or make no sense")
	}
	return state, nil
}

// Trust returns what a person has trusted, or nil.
func (s *Store) Trust() (*config.Trust, error) {
	if s.state == nil {
		return nil, nil
	}
	data, info, err := readInfo(s.state, trustFile, 2*config.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = private(info)
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

// SetTrust records what a person has trusted.
func (s *Store) SetTrust(t config.Trust) error {
	return s.replaceJSON(trustFile, t)
}

func (s *Store) replaceJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return Replace(s.state, name, append(data, '\n'), 0o600)
}

// Config returns the text of ralph.json, nil where there is none.
func (s *Store) Config() ([]byte, error) { return s.optional(ConfigFile, config.MaxBytes) }

// Progress returns the content of progress.txt, nil where there is none.
func (s *Store) Progress() ([]byte, error) { return s.optional(ProgressFile, maxProgress) }

func (s *Store) optional(name string, limit int64) ([]byte, error) {
	if s.loop == nil {
		return nil, nil
	}
	data, err := read(s.loop, name, limit)
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

// List reads the list at path, which is in the loop folder or below the
// project's root.
func (s *Store) List(path string) decide.List {
	data, err := s.readList(path)
	if errors.Is(err, fs.ErrNotExist) {
		return decide.List{Missing: true, Err: fmt.Errorf("no list at %s", path)}
	}
	if err != nil {
		return decide.List{Err: err}
	}
	list, err := features.Parse(data)
	if err != nil && !errors.Is(err, features.ErrEmpty) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return decide.List{List: list, Err: err}
}

func (s *Store) readList(path string) ([]byte, error) {
	if rel, err := filepath.Rel(s.Dir, path); err == nil && filepath.IsLocal(rel) {
		if s.loop == nil {
			return nil, fs.ErrNotExist
		}
		return read(s.loop, rel, features.MaxBytes)
	}
	rel, err := filepath.Rel(s.Project, path)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("the list %s is outside the project %s", path, s.Project)
	}
	root, err := os.OpenRoot(s.Project)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, rel, features.MaxBytes)
}

// Commit makes next the record and shows it in progress.txt. The rename of
// state.json is the commit point: a crash before it leaves all as it was, one
// after it leaves a header that the next run completes.
func (s *Store) Commit(next decide.State, progress []byte) error {
	sweep(s.state, stateFile)
	if err := s.replaceJSON(stateFile, next); err != nil {
		return fmt.Errorf("cannot save the loop's state: %w", err)
	}
	if err := s.restore(); err != nil {
		return fmt.Errorf("cannot make the loop folder again: %w", err)
	}
	if now, err := s.Progress(); err == nil && now != nil && bytes.Equal(now, progress) {
		return nil
	}
	sweep(s.loop, ProgressFile)
	if err := Replace(s.loop, ProgressFile, progress, 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", ProgressFile, err)
	}
	return nil
}

// SaveState commits a record whose header has not changed.
func (s *Store) SaveState(next decide.State) error {
	return s.replaceJSON(stateFile, next)
}

// restore makes a loop folder that is gone, as after `git clean -fdx`.
func (s *Store) restore() error {
	if s.loop != nil {
		return nil
	}
	root, err := os.OpenRoot(s.Project)
	if err != nil {
		return err
	}
	defer root.Close()
	rel, err := filepath.Rel(s.Project, s.Dir)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is outside the project %s", s.Dir, s.Project)
	}
	if err := root.MkdirAll(rel, 0o755); err != nil {
		return err
	}
	s.loop, err = root.OpenRoot(rel)
	return err
}

// Bind makes the session find this loop, wherever its working folder goes.
func (s *Store) Bind(session string) error {
	dir := filepath.Join(s.stateDir, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if !s.Protected {
			return nil // no folder outside at all; `current` has to do
		}
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if data, err := read(root, session, maxPathBytes); err == nil && string(data) == s.Dir+"\n" {
		return nil
	}
	return Replace(root, session, []byte(s.Dir+"\n"), 0o600)
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

// LogIteration returns the iteration in the last line of iterations.jsonl, or 0.
func (s *Store) LogIteration() int {
	if s.loop == nil {
		return 0
	}
	lines := bytes.TrimRight(logTail(s.loop, IterationLog, logLine), "\n")
	last := lines[bytes.LastIndexByte(lines, '\n')+1:]
	if n := gjson.GetBytes(last, "iteration").Int(); gjson.ValidBytes(last) && n > 0 && n <= maxIteration {
		return int(n)
	}
	return 0
}

// maxIteration is where a number in iterations.jsonl, which an agent can
// write, is no longer taken for an iteration.
const maxIteration = 1e9

// Log adds a line for people to hook.log and, where entry is not nil, one for
// machines to iterations.jsonl. Trouble with a log never stops a loop.
func (s *Store) Log(line string, entry any) {
	if s.loop == nil {
		return
	}
	_ = appendLog(s.loop, HookLog, []byte(line+"\n"))
	if entry != nil {
		if data, err := json.Marshal(entry); err == nil {
			_ = appendLog(s.loop, IterationLog, append(data, '\n'))
		}
	}
}

// LogTail returns the last n bytes of hook.log.
func (s *Store) LogTail(n int64) []byte {
	if s.loop == nil {
		return nil
	}
	return logTail(s.loop, HookLog, n)
}

// ClearLogs puts the logs of an earlier run aside.
func (s *Store) ClearLogs() error {
	for _, name := range []string{HookLog, IterationLog} {
		if err := s.loop.Rename(name, name+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// MakeCurrent points the project's `current` at the loop: a link, or a
// one-line file where links cannot be made.
func (l *Loop) MakeCurrent() error {
	parent := filepath.Dir(l.Dir)
	root, err := os.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(current)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is itself a loop folder; rename it to make room", filepath.Join(parent, current))
	case err == nil:
		if target, err := root.Readlink(current); err == nil && target == l.Name {
			return nil
		}
		if err := root.Remove(current); err != nil {
			return err
		}
	}
	if root.Symlink(l.Name, current) == nil {
		return nil
	}
	return Replace(root, current, []byte(l.Name+"\n"), 0o644)
}
