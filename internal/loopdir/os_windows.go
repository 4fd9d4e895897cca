package loopdir

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

var (
	errNotDir   error = windows.ERROR_PATH_NOT_FOUND
	errReadOnly error = windows.ERROR_WRITE_PROTECT
	errNoLocks  error = windows.ERROR_NOT_SUPPORTED
)

// nonblock is nothing here: Windows has no FIFOs among its files.
const nonblock = 0

// userStateDir returns the system's folder for the state of the user's programs, or "" if
// it is unknown.
func userStateDir(getenv func(string) string) string { return getenv("LOCALAPPDATA") }

// checkOwner refuses nothing here. The owner alone does not tell who may write a folder on
// Windows, and other users cannot write a user's profile.
func checkOwner(fs.FileInfo, string, string) error { return nil }

func foreign(fs.FileInfo, string) bool { return false }

// private refuses nothing here, for the same reason.
func private(fs.FileInfo) error { return nil }

// oneName assumes one name: os.FileInfo does not count the names here.
func oneName(fs.FileInfo) bool { return true }

// TryLock takes the lock in a file that is open for writing, or returns false if another open
// file has it. Closing the file frees the lock.
func TryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

// awaitLock is TryLock that waits until it is no longer needed.
func awaitLock(f *os.File, left <-chan struct{}) error {
	for {
		got, err := TryLock(f)
		if got || err != nil {
			return err
		}
		select {
		case <-left:
			return ErrLocked
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// heldByReader returns false: this system does not tell who holds a lock.
func heldByReader(*os.File) bool { return false }

// syncDir does nothing: Windows cannot flush a folder, and NTFS keeps a journal of names.
func syncDir(*os.File) error { return nil }

// Writable always returns true: only an attempt to write tells on Windows.
func Writable(string) bool { return true }

// Free returns how many bytes can be written below a folder, or below the nearest folder above it that exists.
func Free(dir string) (bytes int64, known bool) {
	dir, _, err := nearest(dir)
	if err != nil {
		return 0, false
	}
	name, err := windows.UTF16PtrFromString(dir)
	var free uint64
	if err != nil || windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return 0, false
	}
	return int64(free), true
}
