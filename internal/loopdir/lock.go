package loopdir

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// ErrLocked means that another process held the lock for the whole wait.
var ErrLocked = errors.New("another process holds it; try again when that is done")

// errChecks is the ErrLocked of the loop's lock, which a process has for long only while checks run.
type errChecks struct{}

func (errChecks) Error() string {
	return "checks of the loop run now; try again when they are done, or end the loop with 'cancel'"
}

func (errChecks) Is(err error) bool { return err == ErrLocked }

// Lock takes the loop's lock. It waits for at most the given time and then returns ErrLocked. Whoever changes the
// record has the lock from the first look at it until the change is written, also while checks run; see Backup.
func (s *Store) Lock(wait time.Duration) (unlock func(), err error) {
	unlock, err = s.lockLoop(wait, false)
	if errors.Is(err, ErrLocked) {
		err = errChecks{}
	}
	return unlock, err
}

// LockForStop is Lock for a stop, which nobody may hold up: a process that is stopped (SIGSTOP) while it holds the lock
// is killed. The record is whole at any moment, so it loses nothing by that.
func (s *Store) LockForStop(wait time.Duration) (unlock func(), err error) {
	return s.lockLoop(wait, true)
}

func (s *Store) lockLoop(wait time.Duration, kills bool) (unlock func(), err error) {
	if is, unlock, err := s.lockShared(wait); is {
		return unlock, err
	}
	s.locked, err = s.lockIn(lockFile, wait, kills)
	s.cache = map[string][]byte{}
	return s.unlock, err
}

func (s *Store) unlock() {
	if s.locked != nil {
		s.locked.Close() // that frees the lock
	}
	s.locked, s.cache = nil, nil
}

// LockSender makes this process the sender, which runs the loop's notifiers. It stays the
// sender until unlock or until it dies: the kernel frees the lock then. LockSender waits
// for at most the given time and then returns ErrLocked. A sender that is stopped is killed,
// as by LockForStop.
func (s *Store) LockSender(wait time.Duration) (unlock func(), err error) {
	return s.lock(senderFile, wait, true)
}

// isLocked reports whether another process has the lock in a file.
func (s *Store) isLocked(name string) bool {
	unlock, err := s.lock(name, 0, false)
	if err == nil {
		unlock()
	}
	return errors.Is(err, ErrLocked)
}

// Locked calls do while it holds the loop's lock.
func (s *Store) Locked(wait time.Duration, do func() error) error {
	unlock, err := s.Lock(wait)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// errReader means that a process which can only read the lock's file keeps us from the lock,
// however often it gets a new file.
var errReader = errors.New("a process that can only read it holds it again and again; find and end that process")

// lockLook is how often a process that waits for a lock looks at who has it.
const lockLook = 50 * time.Millisecond

// lock takes the lock in a file until unlock.
func (s *Store) lock(name string, wait time.Duration, kills bool) (unlock func(), err error) {
	f, err := s.lockIn(name, wait, kills)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// lockIn takes the lock in a file until that is closed. A process that can only read the file can hold a lock in
// it, too: such a lock stops nobody. The file is replaced by a new one then. If kills is set,
// a holder that is stopped is killed.
func (s *Store) lockIn(name string, wait time.Duration, kills bool) (f *os.File, err error) {
	if err := s.openState(true); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	for end := time.Now().Add(wait); ; {
		f, err = s.takeLock(name)
		if errors.Is(err, ErrLocked) && time.Now().Before(end) {
			f, err = s.waitLock(name, end, kills)
		}
		if err == nil {
			// Who has the lock; if that cannot be written, nobody can tell.
			_ = f.Truncate(0)
			_, _ = fmt.Fprintf(f, "%d %s\n", os.Getpid(), proc.Start(os.Getpid()))
			return f, nil
		}
		held := errors.Is(err, ErrLocked) || errors.Is(err, errReader)
		if !held || !time.Now().Before(end) {
			path := filepath.Join(s.state.Name(), name)
			return nil, fmt.Errorf("cannot lock the loop with %s: %w", path, withRemedy(err))
		}
	}
}

// waitLock waits in the system's queue until it gets the lock. The queue is only roughly in order: whoever comes just
// when the lock becomes free may get it first. It returns ErrLocked if the time is over, or if the file that it waits
// for is not the lock any more.
func (s *Store) waitLock(name string, end time.Time, kills bool) (*os.File, error) {
	f, _, err := openFile(s.state, name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	got := make(chan error, 1)
	left := make(chan struct{})
	go func() {
		defer func() { _ = recover() }()
		got <- awaitLock(f, left)
	}()
	look := time.NewTicker(lockLook)
	defer look.Stop()
	stopped := 0
	for {
		select {
		case err = <-got:
			if err == nil && s.names(name, f) {
				return f, nil
			}
			f.Close()
			return nil, cmp.Or(err, ErrLocked)
		case <-look.C:
		}
		if !time.Now().Before(end) || heldByReader(f) || !s.names(name, f) {
			break
		}
		holder := signed(f)
		if !kills || !proc.Stopped(holder) {
			stopped = 0
			continue
		}
		stopped++
		process, err := os.FindProcess(holder.PID)
		if err == nil && stopped > 1 { // at two looks, so not just for a moment
			_ = process.Kill()
		}
	}
	close(left)
	go func() {
		defer func() { _ = recover() }()
		<-got // perhaps much later
		f.Close()
	}()
	return nil, ErrLocked
}

// signed returns the process that has the lock in a file, as far as the file tells.
func signed(f *os.File) (p proc.Process) {
	text := make([]byte, 200)
	n, _ := f.ReadAt(text, 0)
	_, _ = fmt.Sscan(string(text[:n]), &p.PID, &p.Start)
	return p
}

// KilledTime is how long to wait for the lock of a process that may have been killed: it has its locks until it is
// gone, and so has a program that it was about to start.
const KilledTime = 5 * time.Second

// LockFile locks the file at path until it is closed. It makes the file if there is none. It waits for at most the
// given time and then returns ErrLocked.
func LockFile(path string, wait time.Duration) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(wait); ; time.Sleep(50 * time.Millisecond) {
		got, err := TryLock(f)
		if got {
			return f, nil
		}
		if err == nil && !time.Now().Before(end) {
			err = ErrLocked
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}

// takeLock takes the lock in a file once, or says who holds it.
func (s *Store) takeLock(name string) (*os.File, error) {
	f, _, err := openFile(s.state, name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	got, err := TryLock(f)
	if got && s.names(name, f) {
		return f, nil
	}
	defer f.Close()
	switch {
	case err != nil:
		return nil, err
	case !got && heldByReader(f):
		return s.replaceLock(name, f)
	}
	return nil, ErrLocked
}

// names reports whether name is still that of the open file f.
func (s *Store) names(name string, f *os.File) bool {
	is, err := f.Stat()
	now, missing := s.state.Lstat(name)
	return err == nil && missing == nil && os.SameFile(is, now)
}

// replaceLock puts a new file in the place of f, in which it has the lock by then. Its
// name is one that replace would have given it, so that it is swept if it is left.
func (s *Store) replaceLock(name string, f *os.File) (*os.File, error) {
	temp := fmt.Sprintf(".%s%019d", name, rand.Int64())
	n, err := s.state.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL|nonblock, 0o600)
	if err != nil {
		return nil, err
	}
	got, err := TryLock(n)
	if got && s.names(name, f) && heldByReader(f) {
		err = s.state.Rename(temp, name)
		if err == nil {
			return n, nil
		}
	}
	n.Close()
	return nil, errors.Join(err, errReader, s.state.Remove(temp))
}
