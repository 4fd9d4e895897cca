package loopdir

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// rename writes a temporary file .NAME<digits> beside its target, calls confirm and renames
// the file. renameio, which does this elsewhere, exports nothing on Windows. A rename onto
// an open file fails here, and virus scanners and indexers open files for a moment. So
// rename tries again for about two seconds.
func rename(root *os.Root, name string, data []byte, perm os.FileMode, confirm func(string) error) error {
	temp := tempName(name)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && confirm != nil {
		err = confirm(name)
	}
	for wait := time.Millisecond; err == nil; wait *= 2 {
		moved := root.Rename(temp, name)
		if moved == nil {
			return nil
		}
		open := errors.Is(moved, windows.ERROR_ACCESS_DENIED) || errors.Is(moved, windows.ERROR_SHARING_VIOLATION)
		if wait > time.Second || !open {
			err = moved
		}
		time.Sleep(wait)
	}
	_ = root.Remove(temp)
	return err
}

// renameCopy is rename with all that makes it succeed while others have the file open.
func renameCopy(root *os.Root, name string, data []byte) error {
	return rename(root, name, data, 0o644, nil)
}

// canKeepOwner reports whether a file that we replace can belong to whom it belongs to now.
// Here the folder says whom a file belongs to.
func canKeepOwner(fs.FileInfo) bool { return true }
