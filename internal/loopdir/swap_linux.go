package loopdir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// swap renames a file in one step. If there is a file of that name, that one gets the old name. The error is
// errors.ErrUnsupported if the file system cannot do that, and ErrChanged if the other file came or went just now.
func swap(root *os.Root, temp, name string) (exchanged bool, err error) {
	_, err = root.Lstat(name)
	exchanged = err == nil
	flags := uint(unix.RENAME_NOREPLACE)
	if exchanged {
		flags = unix.RENAME_EXCHANGE
	}
	d, err := root.Open(".")
	if err != nil {
		return false, err
	}
	defer d.Close()
	err = unix.Renameat2(int(d.Fd()), temp, int(d.Fd()), name, flags)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		err = errors.ErrUnsupported
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		err = ErrChanged
	}
	return exchanged, err
}
