package loopdir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// swap renames a file of a folder in one step. If there is a file of that name, as exists says, that one gets the old
// name. The error is errors.ErrUnsupported if the file system cannot do that, and ErrChanged if the other file came or
// went just now.
func swap(folder *os.File, temp, name string, exists bool) error {
	flags := uint(unix.RENAME_NOREPLACE)
	if exists {
		flags = unix.RENAME_EXCHANGE
	}
	err := unix.Renameat2(int(folder.Fd()), temp, int(folder.Fd()), name, flags)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return errors.ErrUnsupported
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	}
	return err
}
