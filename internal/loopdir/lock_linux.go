package loopdir

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// whole is a lock of the whole file. It belongs to the open file, like one of flock(2), but
// only a process that can write the file can have it (F_OFD_SETLK of fcntl(2)).
func whole() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart} }

// TryLock takes the lock in a file that is open for writing, or returns false if another open
// file has it. Closing the file frees the lock.
func TryLock(f *os.File) (bool, error) {
	for {
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, whole())
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
			return false, nil
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			return flock(f) // a system that has only that one
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

// awaitLock is TryLock that waits.
func awaitLock(f *os.File, _ <-chan struct{}) error {
	for {
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLKW, whole())
		switch {
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			return awaitFlock(f)
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}

// heldByReader reports whether a lock stops us that a process can have which can only read
// the file. We take no such lock.
func heldByReader(f *os.File) bool {
	by := whole()
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, by) == nil && by.Type == unix.F_RDLCK
}
