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

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// Backup is the record as it was before a command of the loop ran. What the command runs may
// be an agent's, and runs as the user, so it can write the record. Whoever has the lock puts it back.
type Backup struct {
	folders []folderBackup
	files   []fileBackup
	session fileBackup // below the state folder: which loop the session works
}

type folderBackup struct {
	path         string
	info, target fs.FileInfo // of the name and, if that is a link, of what it names, nil if that is nothing
}

type fileBackup struct {
	name  string
	limit int64
	data  []byte // nil: there was no such file
}

func lookAt(path string) (folderBackup, error) {
	was, err := os.Lstat(path)
	f := folderBackup{path: path, info: was, target: was}
	if err == nil && was.Mode()&fs.ModeSymlink != 0 {
		f.target, _ = os.Stat(path)
	}
	return f, err
}

// is reports whether the folder is the same one, with the same rights.
func (f folderBackup) is(other folderBackup) bool {
	return other.target != nil && os.SameFile(f.info, other.info) && os.SameFile(f.target, other.target) &&
		f.target.Mode() == other.target.Mode()
}

// Backup returns the record of a loop that a session works. The caller holds the lock.
func (s *Store) Backup(session string) (*Backup, error) {
	k := &Backup{}
	stateDir := s.Loop.stateDir
	proofs := filepath.Join(s.Loop.StatePath(), ProofFolder)
	for _, path := range []string{
		stateDir, RecordsFolder(stateDir), s.Loop.StatePath(), SessionsFolder(stateDir), proofs,
	} {
		f, err := lookAt(path)
		if errors.Is(err, fs.ErrNotExist) && (path == SessionsFolder(stateDir) || path == proofs) {
			continue // no session has started a loop yet, or nothing runs in a copy
		}
		if err == nil && f.target == nil {
			err = fmt.Errorf("%s is a link that leads to no folder; remove it", path)
		}
		if err != nil {
			return nil, err
		}
		k.folders = append(k.folders, f)
	}
	files := []fileBackup{
		{name: stateFile, limit: maxState}, {name: trustFile, limit: maxTrust},
		{name: receiptsFile, limit: maxReceipts},
		{name: sourceFile, limit: features.MaxBytes},
	}
	trust, err := s.Trust()
	if err == nil && trust != nil && trust.ListSHA256 != "" { // a record that is unreadable is kept as it is
		files = append(files, fileBackup{name: listPrefix + trust.ListSHA256, limit: features.MaxBytes})
	}
	for _, f := range files {
		f.data, err = s.record(f.name, f.limit)
		if err != nil {
			return nil, err
		}
		k.files = append(k.files, f)
	}
	if ValidSession(session) {
		k.session = fileBackup{name: session, limit: maxPathBytes}
		k.session.data, err = optional(ReadFile(SessionsFolder(stateDir), session, maxPathBytes))
	}
	return k, err
}

// Restore puts the record back to what was kept. It returns what had changed, or "". The caller holds the lock, of
// which Restore makes a new file if that was changed.
func (s *Store) Restore(k *Backup) (changed string, err error) {
	changed, err = s.restoreRecord(k)
	shared, is := shares.Load(filepath.Join(s.Loop.StatePath(), lockFile))
	if is && changed != "" { // checks that run beside may have done it
		shared.(*share).changed = changed
	}
	return changed, err
}

func (s *Store) restoreRecord(k *Backup) (changed string, err error) {
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
	for _, name := range []string{lockFile, senderFile, agentFile} {
		if errors.Is(regular(s.state, name), ErrNotRegular) {
			note(filepath.Join(s.state.Name(), name))
			_ = s.state.RemoveAll(name) // if it stays, whoever wants the lock says so
		}
	}
	if info, err := s.state.Lstat(requestFolder); err == nil && !info.IsDir() { // nobody could ask for anything
		note(filepath.Join(s.state.Name(), requestFolder))
		_ = s.state.Remove(requestFolder)
	}
	for _, f := range k.files {
		now, unread := readWithRetry(func() ([]byte, error) { return s.private(f.name, f.limit) })
		if unread == nil && f.is(now) {
			continue
		}
		if diskFailed(unread) {
			err = errors.Join(err, unread)
			continue
		}
		note(filepath.Join(s.state.Name(), f.name))
		err = errors.Join(err, f.restore(s.state))
	}
	return changed, errors.Join(err, s.mendSession(k, note), s.relock())
}

// relock takes the lock in the file that has its name now, if the lock that this process has is in another one.
func (s *Store) relock() (err error) {
	if s.locked == nil || s.names(lockFile, s.locked) {
		return nil
	}
	s.locked.Close()
	s.locked, err = s.lockIn(lockFile, KilledTime, true)
	return err
}

// readWithRetry reads a file once more if that fails: a virus scanner, for one, keeps others from a file for a moment,
// and the work of the whole stop would not count.
func readWithRetry(read func() ([]byte, error)) ([]byte, error) {
	data, err := read()
	if err != nil {
		data, err = read()
	}
	return data, err
}

// diskFailed reports whether a file could not be read for a reason that nobody's change of
// the file gives. Nothing is put back then: a write might fail too, and lose the file.
func diskFailed(err error) bool {
	errno := syscall.Errno(0)
	return errors.As(err, &errno) && !errors.Is(err, fs.ErrPermission)
}

// is reports whether the file has the same content, or is still not there.
func (f fileBackup) is(now []byte) bool {
	return bytes.Equal(f.data, now) && (f.data == nil) == (now == nil)
}

// mendSession does the same with the file that says which loop the session works.
func (s *Store) mendSession(k *Backup, note func(string)) error {
	if k.session.name == "" {
		return nil
	}
	dir := SessionsFolder(s.Loop.stateDir)
	now, err := readWithRetry(func() ([]byte, error) { return optional(ReadFile(dir, k.session.name, maxPathBytes)) })
	if err == nil && k.session.is(now) {
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
func (f folderBackup) restore() error {
	now, err := os.Lstat(f.path)
	if err == nil && !os.SameFile(now, f.info) {
		err = os.RemoveAll(f.path) // a link is removed, not what it names
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return err
	}
	return os.Chmod(f.path, f.target.Mode().Perm())
}

func (f fileBackup) restore(root *os.Root) error {
	if f.data == nil || errors.Is(regular(root, f.name), ErrNotRegular) {
		if err := root.RemoveAll(f.name); err != nil || f.data == nil {
			return err
		}
	}
	return replace(root, f.name, slices.Clone(f.data), 0o600, true, nil)
}
