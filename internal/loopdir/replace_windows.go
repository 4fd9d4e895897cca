package loopdir

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// rename writes a temporary file beside its target, under .NAME<digits> as
// renameio does, asks last, and renames it: renameio exports nothing on Windows. The rename is tried again
// for a while: virus scanners and indexers hold a file open for moments, and a
// rename onto an open file fails here.
func rename(root *os.Root, name string, data []byte, perm os.FileMode, last func() error) error {
	temp := "." + name + strconv.FormatInt(rand.Int64(), 10)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && last != nil {
		err = last()
	}
	for wait := time.Millisecond; err == nil; wait *= 2 {
		moved := root.Rename(temp, name)
		if moved == nil {
			return nil
		}
		if wait > time.Second || !errors.Is(moved, windows.ERROR_ACCESS_DENIED) && !errors.Is(moved, windows.ERROR_SHARING_VIOLATION) {
			err = moved
		}
		time.Sleep(wait)
	}
	_ = root.Remove(temp)
	return err
}
