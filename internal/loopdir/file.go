package loopdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNotRegular says that a name is a link, a FIFO, a device or a folder.
var ErrNotRegular = errors.New("not a regular file; remove it or put the file itself there")

// regular refuses what is not a regular file. An os.Root keeps links from
// leading out, but follows them inside, also with O_NOFOLLOW.
func regular(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	}
	return nil
}

// openRoot is os.OpenRoot for what is a folder: it would wait for ever for a
// writer of a FIFO.
func openRoot(path string) (*os.Root, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(path)
}

// read returns the content of a regular file of at most limit bytes.
func read(root *os.Root, name string, limit int64) ([]byte, error) {
	data, _, err := readInfo(root, name, limit)
	return data, err
}

func readInfo(root *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	if err := regular(root, name); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	// Looked at again through the open file: the name may have changed hands.
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(root.Name(), name)
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "use", Path: path, Err: ErrNotRegular}
	}
	if info.Size() > limit {
		return nil, nil, tooLarge(path, limit)
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, nil, err
	}
	if int64(data.Len()) > limit {
		return nil, nil, tooLarge(path, limit)
	}
	return data.Bytes(), info, nil
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("%s is larger than %d MB; make it smaller", path, max(1, limit>>20))
}
