package loopdir

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

var (
	errNotDir   error = windows.ERROR_PATH_NOT_FOUND
	errReadOnly error = windows.ERROR_WRITE_PROTECT
)

const nonblock = 0

func userStateDir(getenv func(string) string) string { return getenv("LOCALAPPDATA") }

// checkOwner refuses nothing here: what Windows keeps of owners is not enough
// to refuse by, and a user's profile is closed to others.
func checkOwner(fs.FileInfo, string, string) error { return nil }

func private(fs.FileInfo) error { return nil }

func oneName(fs.FileInfo) bool { return true }

// tryLock takes the lock or returns false where another process has it.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

// syncDir does nothing: a folder cannot be flushed here, and NTFS journals names.
func syncDir(*os.File) error { return nil }

// Writable leaves it to the attempt: rights are not read off a folder here.
func Writable(string) bool { return true }
