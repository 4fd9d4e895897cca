package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

// Contents returns a hash, in hex, of the path, the kind, the permissions and the contents of
// everything in the tree, and of the targets of its links. A commit does not change it. It is
// empty if something cannot be read: a closed file, a FIFO or a device, or more than can be read
// in time.
func (t Tree) Contents(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return within(ctx, func() string { return t.contents(ctx) })
}

// within returns what look returns, or nothing if ctx is over before: a read may hang.
func within[T any](ctx context.Context, look func() T) (found T) {
	result := make(chan T, 1)
	go func() {
		var found T
		defer func() {
			_ = recover() // a panic here would end the process with status 2
			result <- found
		}()
		found = look()
	}()
	select {
	case found = <-result:
	case <-ctx.Done():
	}
	return found
}

func (t Tree) contents(ctx context.Context) string {
	files, err := t.walk(ctx)
	if err != nil {
		return ""
	}
	defer files.root.Close()
	real, err := filepath.EvalSymlinks(t.root())
	dir, _ := filepath.Rel(t.root(), t.Dir)
	if err != nil || files.err != nil || files.noIndex != nil || files.isFull || files.excepts(filepath.ToSlash(dir)) {
		return ""
	}
	s := &summer{
		ctx: ctx, sum: sha256.New(), real: real, files: files, left: maxBytes, linked: map[string]bool{},
	}
	if !s.readAll(t) {
		return ""
	}
	for _, e := range slices.Concat(files.list, files.folders) {
		if err := s.add(files.root, e.Path, e.Path, e); err != nil {
			return ""
		}
	}
	return hex.EncodeToString(s.sum.Sum(nil)[:16])
}

// summer makes the hash of a tree's contents.
type summer struct {
	ctx    context.Context
	sum    hash.Hash
	real   string // the path of the root, without links
	files  *files
	left   int64           // how many bytes may still be read
	linked map[string]bool // the targets of links, outside of the tree
}

// readAll reads the regular files of the tree. It reports whether all of them can be read.
func (s *summer) readAll(t Tree) bool {
	var regular []*Entry
	for i := range s.files.list {
		e := &s.files.list[i]
		if e.Mode.IsRegular() {
			regular = append(regular, e)
			s.left -= e.Size
		}
	}
	return s.left >= 0 && t.readFiles(s.ctx, regular) &&
		!slices.ContainsFunc(regular, func(e *Entry) bool { return e.hash == "" })
}

// add adds the file at name in root to the hash, and calls it by its path. It is read if nobody has.
func (s *summer) add(root *os.Root, name, path string, e Entry) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	mode := e.Mode
	fmt.Fprintf(s.sum, "%q %v ", path, mode)
	switch {
	case mode.IsDir(), mode&fs.ModeSocket != 0: // a socket cannot be read
		fmt.Fprintln(s.sum)
		return nil
	case mode&fs.ModeSymlink != 0:
		text, err := root.Readlink(name)
		fmt.Fprintf(s.sum, "%q ", text)
		if err != nil {
			return err
		}
		return s.follow(filepath.Join(root.Name(), name))
	case !mode.IsRegular():
		return fmt.Errorf("%s has no contents that are known", path)
	case e.hash == "" && e.Size > s.left:
		return errTooLarge
	}
	says, err := e.hash, error(nil)
	if says == "" {
		one := sha256.New()
		err = readFile(root, name, one, &s.left)
		says = hex.EncodeToString(one.Sum(nil))
	}
	fmt.Fprintln(s.sum, says)
	return err
}

// follow adds the target of the link at path, unless that is in the tree.
func (s *summer) follow(path string) error {
	nothing := func(err error) bool {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
	}
	if _, err := os.Stat(path); nothing(err) {
		fmt.Fprintln(s.sum, "to nothing")
		return nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	in, err := filepath.Rel(s.real, target)
	if err == nil && s.files.has(filepath.ToSlash(in)) {
		fmt.Fprintln(s.sum, "in the tree")
		return nil
	}
	fmt.Fprintf(s.sum, "%q\n", target)
	return filepath.WalkDir(target, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if s.linked[path] {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		s.linked[path] = true
		if len(s.linked) > maxLinked {
			return errTooLarge
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.IsDir() {
			return s.add(nil, "", path, entryOf(info))
		}
		root, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return err
		}
		defer root.Close()
		return s.add(root, entry.Name(), path, entryOf(info))
	})
}

var errTooLarge = errors.New("there is too much to look through")

// readFile writes a regular file to w. It subtracts the file's size from left, and fails if
// left would become negative.
func readFile(root *os.Root, name string, w io.Writer, left *int64) error {
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // in case it has become a FIFO
	}
	f, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("the file was replaced meanwhile"))
	}
	buffer := make([]byte, min(max(info.Size()+1, 512), 64<<10)) // most files are small
	n, err := io.CopyBuffer(w, io.LimitReader(f, *left+1), buffer)
	*left -= n
	if err == nil && *left < 0 {
		err = errTooLarge
	}
	return err
}
