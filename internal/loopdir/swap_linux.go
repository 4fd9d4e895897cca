package loopdir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// swap gives two files of a folder each other's name, in one step, or gives the name to the first if there is no other.
// The error is errors.ErrUnsupported if the file system cannot do that.
func swap(root *os.Root, temp, name string) error {
	flags := uint(unix.RENAME_EXCHANGE)
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		flags = unix.RENAME_NOREPLACE
	}
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	err = unix.Renameat2(int(d.Fd()), temp, int(d.Fd()), name, flags)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return errors.ErrUnsupported
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist): // it came or went just now
		return ErrChanged
	}
	return err
}
