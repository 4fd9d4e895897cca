package loopdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNotRegular means that a name is a link, a FIFO, a device or a folder.
var ErrNotRegular = errors.New("not a regular file; remove it or put the file itself there")

// regular refuses a name that is not a regular file. An os.Root does not follow links that
// lead out of it, but it follows other links, even with O_NOFOLLOW. A nil root stands for a
// folder that does not exist: it has no files.
func regular(root *os.Root, name string) error {
	if root == nil {
		return fs.ErrNotExist
	}
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	}
	return err
}

// openFile opens a regular file. It creates the file if flag has os.O_CREATE.
func openFile(root *os.Root, name string, flag int) (*os.File, fs.FileInfo, error) {
	if err := regular(root, name); err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, flag|nonblock, 0o600)
	if err != nil {
		return nil, nil, err
	}
	// The name may have become another file since the check, so the open file is checked too.
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openRoot is os.OpenRoot, but it refuses a path that is not a folder. os.OpenRoot would
// wait for ever for the writer of a FIFO.
func openRoot(path string) (*os.Root, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(path + slash)
}

// makeRoot is openRoot, and makes the folder if it does not exist.
func makeRoot(path string, perm os.FileMode) (*os.Root, error) {
	if err := os.MkdirAll(path, perm); err != nil {
		return nil, err
	}
	return openRoot(path)
}

// slash, at the end of a path, has the system refuse what is no folder, also if the name has become a FIFO meanwhile.
const slash = string(filepath.Separator)

// OpenFolder opens a folder below root. It follows no link out of root, and does not wait for the writer of a FIFO: an
// os.Root opens all but the last part of a path as folders.
func OpenFolder(root *os.Root, name string) (*os.Root, error) {
	return root.OpenRoot(name + slash + ".")
}

// read returns the content of a regular file of at most limit bytes.
func read(root *os.Root, name string, limit int64) ([]byte, error) {
	data, _, err := readInfo(root, name, limit)
	return data, err
}

// readInfo is read, and returns what the system knows of the file too.
func readInfo(root *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := openFile(root, name, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	data, err := readAll(f, info, limit)
	return data, info, err
}

// readAll returns the content of an open file of at most limit bytes.
func readAll(f *os.File, info fs.FileInfo, limit int64) ([]byte, error) {
	if info.Size() > limit {
		return nil, tooLarge(f.Name(), limit)
	}
	// One allocation of the file's size is faster than a buffer that grows, because each
	// growth clears and copies memory. The extra byte lets ReadAt report the end of the file.
	data := make([]byte, min(info.Size(), limit)+1)
	n, err := f.ReadAt(data, 0)
	for err == nil && int64(n) <= limit { // the file has grown since Stat
		data = append(data, make([]byte, min(int64(len(data)), limit+1-int64(n)))...)
		var more int
		more, err = f.ReadAt(data[n:], int64(n))
		n += more
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if int64(n) > limit {
		return nil, tooLarge(f.Name(), limit)
	}
	return data[:n], nil
}

func tooLarge(path string, limit int64) error {
	if limit < 1<<20 {
		return fmt.Errorf("%s is larger than %d KB; make it smaller", path, limit>>10)
	}
	return fmt.Errorf("%s is larger than %d MB; make it smaller", path, limit>>20)
}

// ReadFile returns the content of the regular file at path. The path must not lead out of
// dir. A file of more than limit bytes is an error.
func ReadFile(dir, path string, limit int64) ([]byte, error) {
	root, err := openRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, path, limit)
}

// ReadAny returns the content of the regular file at path. The path may be anywhere and may
// have links. A file of more than limit bytes is an error. ReadAny does not wait for the
// writer of a FIFO.
func ReadAny(path string, limit int64) ([]byte, error) {
	f, info, err := openAny(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, info, limit)
}

// TailAny returns the last n bytes of the regular file at path. The path may be anywhere and may have links. TailAny
// does not wait for the writer of a FIFO.
func TailAny(path string, n int64) ([]byte, error) {
	f, info, err := openAny(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return tailOf(f, info, n)
}

// openAny opens a regular file to read it.
func openAny(path string) (f *os.File, info fs.FileInfo, err error) {
	notRegular := fmt.Errorf("%s is not a regular file", path)
	if info, err = os.Stat(path); err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // to open a device may do something
		return nil, nil, notRegular
	}
	if f, err = os.OpenFile(path, os.O_RDONLY|nonblock, 0); err != nil {
		return nil, nil, err
	}
	// The path may have come to name another file since, so the open file is checked too.
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notRegular
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// tailOf returns the last n bytes of an open file.
func tailOf(f *os.File, info fs.FileInfo, n int64) ([]byte, error) {
	data := make([]byte, min(n, info.Size()))
	read, err := f.ReadAt(data, info.Size()-int64(len(data)))
	if err == io.EOF {
		err = nil
	}
	return data[:read], err
}
