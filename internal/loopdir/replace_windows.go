package loopdir

import (
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// Replace sets the content of the file name in root, whole or not at all. nil
// means that it is on stable storage; after an error the file is the old or
// the new one. renameio exports nothing on Windows, so this is our own.
func Replace(root *os.Root, name string, data []byte, perm os.FileMode) error {
	if err := regular(root, name); err != nil && !os.IsNotExist(err) {
		return err
	}
	temp := "." + name + strconv.FormatInt(rand.Int64(), 10)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = rename(root, temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// rename tries again for a while: virus scanners and indexers hold a file open
// for moments, and a rename onto an open file fails here.
func rename(root *os.Root, from, to string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := root.Rename(from, to)
		if err == nil || wait > time.Second ||
			!errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(wait)
	}
}
