package loopdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// Kept is the record as it was before a command of the loop ran. What the command runs may
// be an agent's, and runs as the user, so it can write the record.
type Kept struct {
	folders []keptFolder
	files   []keptFile
	state   decide.State
	session keptFile // below the state folder: which loop the session works
}

type keptFolder struct {
	path    string
	was, at fs.FileInfo // of the name and, if that is a link, of what it names, nil if that is nothing
}

type keptFile struct {
	name  string
	limit int64
	data  []byte // nil: there was no such file
}

func lookAt(path string) (keptFolder, error) {
	was, err := os.Lstat(path)
	f := keptFolder{path: path, was: was, at: was}
	if err == nil && was.Mode()&fs.ModeSymlink != 0 {
		f.at, _ = os.Stat(path)
	}
	return f, err
}

// is reports whether the folder is the same one, with the same rights.
func (f keptFolder) is(other keptFolder) bool {
	return other.at != nil && os.SameFile(f.was, other.was) && os.SameFile(f.at, other.at) &&
		f.at.Mode() == other.at.Mode()
}

// Keep returns the record of a loop that a session works. The caller holds the lock. state
// is the record as the caller has read it, which another process may have changed since then, or as a first event would
// begin it.
func (s *Store) Keep(state decide.State, session string) (*Kept, error) {
	k := &Kept{state: state}
	stateDir := s.Loop.stateDir
	for _, path := range []string{
		stateDir, RecordsFolder(stateDir), s.Loop.StatePath(), SessionsFolder(stateDir),
	} {
		f, err := lookAt(path)
		if errors.Is(err, fs.ErrNotExist) && path == SessionsFolder(stateDir) {
			continue // no session has begun a loop yet
		}
		if err == nil && f.at == nil {
			err = fmt.Errorf("%s is a link that leads to no folder; remove it", path)
		}
		if err != nil {
			return nil, err
		}
		k.folders = append(k.folders, f)
	}
	var err error
	for _, f := range []keptFile{
		{name: stateFile, limit: maxState}, {name: trustFile, limit: maxTrust},
		{name: receiptsFile, limit: maxReceipts},
		{name: baselineFile, limit: features.MaxBytes}, {name: sourceFile, limit: features.MaxBytes},
	} {
		f.data, err = s.private(f.name, f.limit)
		if err != nil {
			return nil, err
		}
		k.files = append(k.files, f)
	}
	if data := k.files[0].data; data != nil {
		k.state, err = parseState(data)
		if err != nil {
			return nil, err
		}
		k.state.Loop = state.Loop
		k.state.Name = state.Name
		k.state.List = state.List
	}
	if ValidSession(session) {
		k.session = keptFile{name: session, limit: maxPathBytes}
		k.session.data, err = optional(ReadFile(SessionsFolder(stateDir), session, maxPathBytes))
	}
	return k, err
}

// Mend takes the lock and puts the record back to what was kept. It returns what had
// changed, or "". What a person or another event may do meanwhile stays; see
// decide.State.Follows.
func (s *Store) Mend(k *Kept, wait time.Duration) (changed string, unlock func(), err error) {
	unlock, unlocked := s.Lock(wait)
	changed, err = s.mend(k) // also without the lock, which what ran may have broken
	if changed != "" || unlocked != nil {
		if unlocked == nil {
			unlock() // the file may be gone
		}
		unlock, unlocked = s.Lock(wait)
	}
	if unlocked == nil && err != nil {
		unlock()
	}
	return changed, unlock, errors.Join(err, unlocked)
}

func (s *Store) mend(k *Kept) (changed string, err error) {
	note := func(path string) {
		if changed == "" {
			changed = path
		}
	}
	for _, was := range k.folders {
		now, unread := lookAt(was.path)
		if unread != nil && !errors.Is(unread, fs.ErrNotExist) {
			return changed, unread // nobody can tell what is there
		}
		if unread != nil || !was.is(now) {
			note(was.path)
			err = errors.Join(err, was.restore())
		}
	}
	if changed != "" && s.state != nil {
		s.state.Close()
		s.state = nil
	}
	if err := errors.Join(err, s.openState(true)); err != nil {
		return changed, err
	}
	for _, name := range []string{lockFile, senderFile, checksFile, firstFile} {
		if errors.Is(regular(s.state, name), ErrNotRegular) {
			note(filepath.Join(s.state.Name(), name))
			_ = s.state.RemoveAll(name) // if it stays, whoever wants the lock says so
		}
	}
	for _, f := range k.files {
		now, unread := s.private(f.name, f.limit)
		if unread == nil && k.mayBe(f, now) {
			continue
		}
		if diskFailed(unread) {
			err = errors.Join(err, unread)
			continue
		}
		note(filepath.Join(s.state.Name(), f.name))
		err = errors.Join(err, f.restore(s.state))
	}
	return changed, errors.Join(err, s.mendSession(k, note))
}

// diskFailed reports whether a file could not be read for a reason that nobody's change of
// the file gives. Nothing is put back then: a write might fail too, and lose the file.
func diskFailed(err error) bool {
	errno := syscall.Errno(0)
	return errors.As(err, &errno) && !errors.Is(err, fs.ErrPermission)
}

// mayBe reports whether a file of the record may be what it is now.
func (k *Kept) mayBe(f keptFile, now []byte) bool {
	if bytes.Equal(f.data, now) && (f.data == nil) == (now == nil) {
		return true
	}
	if f.name != stateFile || now == nil {
		return false
	}
	state, err := parseState(now)
	return err == nil && state.Follows(k.state)
}

// mendSession does the same with the file that says which loop the session works. If the
// session has left the loop meanwhile, the file may name another one.
func (s *Store) mendSession(k *Kept, note func(string)) error {
	if k.session.name == "" {
		return nil
	}
	dir := SessionsFolder(s.Loop.stateDir)
	now, err := optional(ReadFile(dir, k.session.name, maxPathBytes))
	if state, unread := s.State(); unread == nil && state.Session != k.session.name &&
		k.state.Session == k.session.name {
		return nil
	}
	if err == nil && bytes.Equal(now, k.session.data) {
		return nil
	}
	if diskFailed(err) {
		return err
	}
	note(filepath.Join(dir, k.session.name))
	root, err := openRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return k.session.restore(root)
}

// restore makes the folder the one that it was, or a new one.
func (f keptFolder) restore() error {
	now, err := os.Lstat(f.path)
	if err == nil && !os.SameFile(now, f.was) {
		err = os.RemoveAll(f.path) // a link is removed, not what it names
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	return os.Chmod(f.path, f.at.Mode().Perm())
}

func (f keptFile) restore(root *os.Root) error {
	if f.data == nil || errors.Is(regular(root, f.name), ErrNotRegular) {
		if err := root.RemoveAll(f.name); err != nil || f.data == nil {
			return err
		}
	}
	return replace(root, f.name, slices.Clone(f.data), 0o600, true, nil)
}
