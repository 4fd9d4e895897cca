package loopdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrLocked means that another process held the lock for the whole wait.
var ErrLocked = errors.New("another process holds it; try again when that is done")

// Lock takes the loop's lock. It waits for at most the given time and then returns
// ErrLocked. A decision loads everything after Lock and commits before unlock.
func (s *Store) Lock(wait time.Duration) (unlock func(), err error) { return s.lock(lockFile, wait) }

// LockSender makes this process the sender, which runs the loop's notifiers. It stays the
// sender until unlock or until it dies: the kernel frees the lock then. LockSender waits
// for at most the given time and then returns ErrLocked.
func (s *Store) LockSender(wait time.Duration) (unlock func(), err error) {
	return s.lock(senderFile, wait)
}

// LockChecks makes this process the only one that runs the loop's checks, evaluators and
// tracker. What they run can write the record; see Keep. So nobody else writes what no
// check may change meanwhile. LockChecks waits for at most the given time and then returns
// ErrLocked.
func (s *Store) LockChecks(wait time.Duration) (unlock func(), err error) {
	if unlock, err = s.lock(checksFile, wait); errors.Is(err, ErrLocked) {
		err = errChecks{}
	}
	return unlock, err
}

// errChecks is the ErrLocked of LockChecks.
type errChecks struct{}

func (errChecks) Error() string {
	return "checks of the loop run now; try again when they are done, or end the loop with 'cancel'"
}

func (errChecks) Is(err error) bool { return err == ErrLocked }

// LockAlone is Lock for a change that nobody may make while checks run.
func (s *Store) LockAlone(wait time.Duration) (unlock func(), err error) {
	checks, err := s.LockChecks(wait)
	if err != nil {
		return nil, err
	}
	lock, err := s.Lock(wait)
	if err != nil {
		checks()
		return nil, err
	}
	return func() { lock(); checks() }, nil
}

// Locked calls do while it holds the loop's lock.
func (s *Store) Locked(wait time.Duration, do func() error) error { return locked(s.Lock, wait, do) }

// Alone is Locked for a change that nobody may make while checks run.
func (s *Store) Alone(wait time.Duration, do func() error) error {
	return locked(s.LockAlone, wait, do)
}

func locked(lock func(time.Duration) (func(), error), wait time.Duration, do func() error) error {
	unlock, err := lock(wait)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// lock takes the lock in a file. A process that can only read the file can hold a lock in
// it, too: such a lock stops nobody. The file is replaced by a new one then.
func (s *Store) lock(name string, wait time.Duration) (unlock func(), err error) {
	if err := s.openState(true); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	for pause, end := time.Millisecond, time.Now().Add(wait); err == nil; pause = min(2*pause, 20*time.Millisecond) {
		var f *os.File
		if f, _, err = openFile(s.state, name, os.O_RDWR|os.O_CREATE); err != nil {
			break
		}
		var got, replaced bool
		if got, err = tryLock(f); got && s.names(name, f) {
			return func() { f.Close() }, nil // closing the file frees the lock
		}
		if err == nil && !got && heldByReader(f) {
			replaced, err = true, s.replaceLock(name, f)
		}
		f.Close()
		if err == nil && !got && !replaced && !time.Now().Before(end) {
			err = ErrLocked
			break
		}
		if !got && !replaced {
			time.Sleep(pause)
		}
	}
	return nil, fmt.Errorf("cannot lock the loop with %s: %w", filepath.Join(s.state.Name(), name), withRemedy(err))
}

// names reports whether name is still that of the open file f.
func (s *Store) names(name string, f *os.File) bool {
	is, err := f.Stat()
	now, missing := s.state.Lstat(name)
	return err == nil && missing == nil && os.SameFile(is, now)
}

// replaceLock puts a new file in the place of f, unless f is no more what stops us.
func (s *Store) replaceLock(name string, f *os.File) error {
	over := errors.New("nobody has to be kept from the lock")
	err := replace(s.state, name, nil, 0o600, false, func() error {
		if !s.names(name, f) || !heldByReader(f) {
			return over
		}
		return nil
	})
	if errors.Is(err, over) {
		return nil
	}
	return err
}
