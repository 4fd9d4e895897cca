package tree

import (
	"bytes"
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
	"strings"
	"syscall"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Bounds of what Contents reads. A larger tree has no hash, so that what was
// proven on it is proven again.
const (
	maxContents = 200_000 // files
	maxBytes    = 4 << 30
)

// Contents returns a hash of what is in the work tree at dir: path, kind and
// contents of every file that git tracks or would track, of every file where it
// is in no repository (top is empty). A commit does not change it. Files and
// folders of except, absolute, are left out. It is empty where the tree could
// not be read in time.
func Contents(ctx context.Context, dir, top string, except []string) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	names, err := Files(ctx, dir, top)
	if err != nil || len(names) > maxContents {
		return ""
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer root.Close()
	slices.Sort(names)
	sum, left := sha256.New(), int64(maxBytes)
	for _, name := range slices.Compact(names) {
		path := filepath.Join(dir, name)
		if slices.ContainsFunc(except, func(e string) bool { return path == e || strings.HasPrefix(path, e+string(filepath.Separator)) }) {
			continue
		}
		if err := contents(root, name, sum, &left); err != nil || ctx.Err() != nil {
			return ""
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Files returns the paths, below dir, of every file that git tracks or would
// track, of every file where top is empty.
func Files(ctx context.Context, dir, top string) (names []string, err error) {
	if top != "" {
		list := &proc.Head{Limit: maxStatus}
		// What .git and the user's own files ignore besides is not believed: it
		// could hide what a check rests on.
		c := proc.Git(dir, "ls-files", "-z", "--cached", "--others", "--exclude-per-directory=.gitignore")
		c.Stdout = list
		r := proc.Run(ctx, c)
		if list.Len() >= maxStatus {
			return nil, errors.New("too many files")
		}
		for name := range bytes.SplitSeq(list.Bytes(), []byte{0}) {
			if len(name) > 0 {
				names = append(names, filepath.FromSlash(string(name)))
			}
		}
		return names, r.Err
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return ctx.Err()
		}
		if len(names) > maxContents {
			return fs.SkipAll
		}
		names = append(names, strings.TrimPrefix(path, dir+string(filepath.Separator)))
		return nil
	})
	return names, err
}

// contents takes one file into the hash.
func contents(root *os.Root, name string, sum hash.Hash, left *int64) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // tracked, and deleted
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%q %v ", name, info.Mode()&(fs.ModeType|0o100))
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		fmt.Fprintf(sum, "%q\n", target)
		return err
	case info.IsDir():
		return errors.New("a repository of its own, whose contents are not known here")
	case !info.Mode().IsRegular():
		return nil // what no check should rest on
	}
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // it may have become a FIFO
	}
	f, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("not the file that it was"))
	}
	one := sha256.New()
	n, err := io.Copy(one, io.LimitReader(f, *left+1))
	if *left -= n; err == nil && *left < 0 {
		err = errors.New("too large")
	}
	fmt.Fprintf(sum, "%x\n", one.Sum(nil))
	return err
}
