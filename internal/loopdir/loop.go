package loopdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// The names in a loop's state folder.
const (
	stateFile  = "state.json"
	trustFile  = "trust.json"
	cancelFile = "cancelled"
	lockFile   = "lock"

	sourceFile   = "source.json" // a tracker's list, as it was last asked for
	receiptsFile = "receipts.json"
	baselineFile = "baseline.json" // the list as it was trusted
	backupFile   = "list.bak"      // in the loop folder: the list before our first edit
	troubleFile  = "trouble"       // id of what was told last although it could not be recorded
)

// ErrLocked says that another process kept the lock for all of the wait.
var ErrLocked = errors.New("another process holds it; try again when that is done")

// Store is a loop's open folders. Close must be called.
type Store struct {
	*Loop
	Protected bool     // the record is outside the project; else nothing in it is trusted
	loop      *os.Root // nil: the folder is gone
	state     *os.Root // nil: there is no folder yet
}

// Open opens the loop's folders as far as they exist. It creates nothing.
func (l *Loop) Open() (*Store, error) {
	if l.stateErr != nil {
		return nil, l.stateErr
	}
	s := &Store{Loop: l}
	var err error
	if s.loop, err = openRoot(l.Dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	root, err := openRoot(s.StatePath())
	if err == nil {
		if info, err := root.Stat("."); err == nil {
			if err := checkOwner(info, s.StatePath(), s.stateDir); err != nil {
				root.Close()
				return fmt.Errorf("state folder: %w", err)
			}
		}
		s.state, s.Protected = root, !inside(s.StatePath(), s.Project)
		return nil
	}
	if _, there := os.Lstat(s.stateDir); errors.Is(err, fs.ErrPermission) && there == nil {
		// The record may be there: that it cannot be read does not make a new one.
		return fmt.Errorf("%w; give the folder back to yourself: chown, chmod u+rwx", err)
	}
	fallback := false
	if s.loop != nil {
		_, missing := s.loop.Lstat(fallbackDir)
		fallback = missing == nil
	}
	switch {
	case create && errors.Is(err, fs.ErrNotExist):
		if err = os.MkdirAll(s.StatePath(), 0o700); err == nil {
			s.state, err = openRoot(s.StatePath())
			s.Protected = err == nil && !inside(s.StatePath(), s.Project)
			return err
		}
	case errors.Is(err, fs.ErrNotExist) && (!fallback || creatable(s.StatePath())),
		!create && !fallback && unwritable(err):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		err = fs.ErrPermission
	}
	if !unwritable(err) || s.loop == nil {
		return err
	}
	if create && !fallback {
		if err := s.loop.Mkdir(fallbackDir, 0o700); err != nil {
			return err
		}
	}
	s.state, err = s.loop.OpenRoot(fallbackDir)
	return err
}

// inside tells whether a folder is in another one, whatever their names are.
func inside(dir, other string) bool {
	want, err := os.Stat(other)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, want) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// Protects tells whether a record below dir could be kept, and out of the project.
func Protects(dir, project string) bool {
	return creatable(filepath.Join(dir, "loops", "key")) && !inside(dir, project)
}

// creatable tells whether a folder could be made, by the nearest one above it
// that is there.
func creatable(dir string) bool {
	for {
		dir = filepath.Dir(dir)
		if info, err := os.Stat(dir); err == nil {
			return info.IsDir() && Writable(dir)
		} else if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// unwritable tells whether err means that a folder of ours can never be made there.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnly) || errors.Is(err, errNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// Lock takes the loop's lock, waiting at most so long. Whatever is decided is
// loaded after it and committed before unlock.
func (s *Store) Lock(wait time.Duration) (unlock func(), err error) {
	if err := s.openState(true); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	f, _, err := openFile(s.state, lockFile, os.O_RDWR|os.O_CREATE)
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
