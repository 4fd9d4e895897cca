package loopdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead) // a buffer that grows later is copied
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > limit { // the file has grown since
		return nil, tooLarge(f.Name(), limit)
	}
	return data.Bytes(), nil
}

func tooLarge(path string, limit int64) error {
	if limit < 1<<20 {
		return fmt.Errorf("%s is larger than %d KB; make it smaller", path, limit>>10)
	}
	return fmt.Errorf("%s is larger than %d MB; make it smaller", path, limit>>20)
}

// Glob returns the paths in a folder that match a pattern with slashes, sorted. No character of the folder's own path
// is a part of the pattern, as it would be for filepath.Glob.
func Glob(dir, pattern string) (paths []string) {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // the pattern is right
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return paths
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

// openAny opens the regular file at path to read it. It does not wait for the writer of a FIFO.
func openAny(path string) (f *os.File, info fs.FileInfo, err error) {
	notRegular := fmt.Errorf("%s is not a regular file", path)
	info, err = os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // to open a device may do something
		return nil, nil, notRegular
	}
	f, err = os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	// The path may have come to name another file since, so the open file is checked too.
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
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

// Replace sets the content of the file name in root. A reader sees the old content or the
// new content, never a mixture. A nil error means that the new content is on stable
// storage; after an error the file has the old or the new content. A new file gets the mode
// perm. An existing file keeps its mode, and its owner, group and extended attributes as
// far as the system lets us, unless perm is 0600. Replace refuses a name that
// is not a regular file.
func Replace(root *os.Root, name string, data []byte, perm os.FileMode) error {
	return replace(root, name, data, perm, false, nil)
}

// ReplaceCopy is Replace for a copy of what is on the disk elsewhere. It does not wait for the disk, so the copy may be
// lost if the system goes down.
func ReplaceCopy(root *os.Root, name string, data []byte) error {
	return renameCopy(root, name, data)
}

// tempName returns a new name of a temporary file of the file name. Temporary knows it by its many digits.
func tempName(name string) string { return "." + name + strconv.FormatInt(rand.Int64()|1<<62, 10) }

// ErrChanged means that a file was edited after it was read.
var ErrChanged = errors.New("somebody else edited it at the same time; try again")

// ReplaceIf is Replace for a path that other programs edit. It makes the folder. It returns
// ErrChanged, and changes nothing, if the content is not was any more; nil means that there was
// no file. It refuses a file of another user, who would lose it.
func ReplaceIf(path string, was, data []byte) error {
	dir, name := filepath.Split(path)
	root, err := makeRoot(dir, 0o755)
	if err != nil {
		return err
	}
	defer root.Close()
	if bytes.Equal(was, data) {
		Sweep(root, name)
		return nil
	}
	if info, err := root.Lstat(name); err == nil && !canKeepOwner(info) {
		return fmt.Errorf("%s belongs to another user, who alone can edit it", path)
	}
	return replace(root, name, data, 0o644, false, unchanged(root, was))
}

// unchanged returns what confirms that a file still has the text was; nil: that there is none.
func unchanged(root *os.Root, was []byte) func(name string) error {
	return func(name string) error {
		now, err := optional(read(root, name, max(int64(len(was)), 1)))
		if err != nil || (now == nil) != (was == nil) || !bytes.Equal(now, was) {
			return ErrChanged
		}
		return nil
	}
}

// replace is Replace. locked says that the caller holds the loop's lock, so that nobody
// else writes a temporary file of this name. If confirm is not nil, replace calls it right
// before the rename, and its error prevents the rename. On Linux it also gets the name of the
// file that was replaced, and its error puts that back.
func replace(
	root *os.Root, name string, data []byte, perm os.FileMode, locked bool,
	confirm func(name string) error,
) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	age := abandoned
	if locked {
		age = 0
	}
	sweep(root, d, name, age)
	if err := regular(root, name); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := rename(root, name, data, perm, confirm); err != nil {
		if locked {
			sweep(root, d, name, 0) // after some errors renameio leaves its temporary file
		}
		return fmt.Errorf("%s: %w", filepath.Join(root.Name(), name), withoutPath(err))
	}
	return syncDir(d)
}

// withoutPath removes the path from an error. The path is that of a temporary file, which
// means nothing to a person.
func withoutPath(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		return link.Err
	}
	return err
}

// abandoned is the age after which a temporary file is garbage: a write takes far less
// than that.
const abandoned = time.Minute

// Sweep removes the temporary files that killed processes left in root: those of the file
// name or, if name is empty, those of any file. It needs no lock, because it removes only
// files that nobody has written for a minute.
func Sweep(root *os.Root, name string) {
	if d, err := root.Open("."); err == nil {
		sweep(root, d, name, abandoned)
		d.Close()
	}
}

// tempDigits is the least number of digits at the end of a temporary file's name. The
// digits are a random number of 63 bits. A person's file may end in a date and a time,
// which has 14 digits.
const tempDigits = 15

const decimal = "0123456789"

// sweep removes the temporary files of the file name that are at least as old as age. With
// age 0 it removes all of them, whatever the clock says; only a caller with the lock may
// do that.
func sweep(root *os.Root, d *os.File, name string, age time.Duration) {
	_, _ = d.Seek(0, io.SeekStart)
	names, _ := d.Readdirnames(-1) // the next stop sweeps what this one could not read
	for _, n := range names {
		if !Temporary(n, name) {
			continue
		}
		info, err := root.Lstat(n)
		if err == nil && info.Mode().IsRegular() && (age == 0 || time.Since(info.ModTime()) >= age) {
			_ = root.Remove(n)
		}
	}
}

// Temporary reports whether n is the name of a temporary file of the file name or, if name
// is empty, of any file.
func Temporary(n, name string) bool {
	digits, ours := strings.CutPrefix(n, "."+name)
	if name == "" {
		digits = digits[len(strings.TrimRight(digits, decimal)):]
	}
	return ours && len(digits) >= tempDigits && strings.Trim(digits, decimal) == ""
}
