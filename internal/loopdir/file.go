package loopdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
		return nil, nil, fmt.Errorf("%s is larger than %d MB", path, max(1, limit>>20))
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, info, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if int64(len(data)) > limit {
			return nil, nil, fmt.Errorf("%s is larger than %d MB", path, max(1, limit>>20))
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// maxLog is where a log is put aside as NAME.1 and begun anew.
const maxLog = 1 << 20

// appendLog adds one line in one write. Logs are for looking at: they are
// neither flushed nor waited for.
func appendLog(root *os.Root, name string, line []byte) error {
	info, err := root.Lstat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return &fs.PathError{Op: "use", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
	case err == nil && info.Size()+int64(len(line)) > maxLog:
		if err := root.Rename(name, name+".1"); err != nil {
			return err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|nonblock, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// logTail returns the last n bytes of a log.
func logTail(root *os.Root, name string, n int64) []byte {
	if regular(root, name) != nil {
		return nil
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	data := make([]byte, min(n, info.Size()))
	read, _ := f.ReadAt(data, info.Size()-int64(len(data)))
	return data[:read]
}

// sweep removes temporary files that a killed process left of the file name.
// It must hold the lock, under which any such file is garbage.
func sweep(root *os.Root, name string) {
	d, err := root.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, n := range names {
		digits, ours := strings.CutPrefix(n, "."+name)
		if ours && len(digits) > 5 && strings.Trim(digits, "0123456789") == "" && regular(root, n) == nil {
			_ = root.Remove(n) // tried again at the next stop
		}
	}
}
