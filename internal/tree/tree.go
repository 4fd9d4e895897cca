// Package tree looks at a work tree: its fingerprint changes when work is done in
// it, and the hash of its contents names what a check was run on.
package tree

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Bounds of what is looked at. Of the files above maxFiles a fingerprint knows
// nothing; a tree with more of them, or with more than maxBytes in them, has no
// hash of its contents, so that what was proven on it is proven again.
const (
	timeout  = 10 * time.Second
	maxList  = 64 << 20 // bytes of git's list of files
	maxFiles = 200_000
	maxBytes = 4 << 30
)

// Fingerprint returns the fingerprint of the work tree at dir, which is in the
// repository at top (empty: in none): git's HEAD and its index, and path, size and
// time of every file that git tracks or would track; without git, of every file.
// Files and folders of except, absolute, are left out. A tree that is too slow
// to look at counts as one that does not change, so that trouble ends a loop
// rather than extends it.
func Fingerprint(ctx context.Context, dir, top string, except []string) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sum := sha256.New()
	head, both := []byte(nil), sync.WaitGroup{}
	if top != "" {
		both.Go(func() {
			defer func() { _ = recover() }() // here, it would end the process with status 2
			// Where there is no commit yet it says nothing.
			head, _ = git(ctx, top, "rev-parse", "--quiet", "--verify", "HEAD")
		})
	}
	files, err := list(ctx, dir, top)
	both.Wait()
	if err != nil && ctx.Err() == nil {
		files, _ = list(ctx, dir, "") // no git, or one that refuses to look
	}
	sum.Write(head)
	at := cmp.Or(top, dir)
	for _, f := range files[:min(len(files), maxFiles)] {
		if !excepted(filepath.Join(at, f.name), except) {
			fmt.Fprintf(sum, "%q %s\n", f.name, f.index)
		}
	}
	_ = each(ctx, at, files[:min(len(files), maxFiles)], except, func(name string, info fs.FileInfo) error {
		fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if ctx.Err() != nil {
		return "too slow"
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Contents returns a hash of what is in the work tree at dir, which is in the
// repository at top (empty: in none): path, kind and contents of every file that
// git tracks or would track; without git, of every file. A commit does not change
// it. Files and folders of except, absolute, are left out. It is empty where the
// tree could not be read in time. ignored is a hash of what says which files git
// would not track: under other rules, what is not in the contents may be other too.
func Contents(ctx context.Context, dir, top string, except []string) (contents, ignored string) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	files, err := list(ctx, dir, top)
	if err != nil || len(files) > maxFiles {
		return "", ""
	}
	at := cmp.Or(top, dir)
	root, err := os.OpenRoot(at)
	if err != nil {
		return "", ""
	}
	defer root.Close()
	sum, rules, left := sha256.New(), sha256.New(), int64(maxBytes)
	fmt.Fprintf(rules, "%q\n", top)
	err = each(ctx, at, files, except, func(name string, info fs.FileInfo) error {
		to := io.Writer(sum)
		if filepath.Base(name) == ".gitignore" {
			to = io.MultiWriter(sum, rules)
		}
		fmt.Fprintf(to, "%q %v ", name, info.Mode()&(fs.ModeType|0o100))
		return read(root, name, info, to, &left)
	})
	if err != nil {
		return "", ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), hex.EncodeToString(rules.Sum(nil)[:16])
}

// Files returns the paths, below dir, of every file there that git tracks or would
// track, of every file where top is empty.
func Files(ctx context.Context, dir, top string) (names []string, err error) {
	files, err := list(ctx, dir, top)
	for _, f := range files {
		if name, err := filepath.Rel(dir, filepath.Join(cmp.Or(top, dir), f.name)); err == nil && filepath.IsLocal(name) {
			names = append(names, name)
		}
	}
	return slices.Compact(names), err
}

// file is a file by its path; index is what git's index has of it.
type file struct{ name, index string }

// list returns the files by their paths, once each, in order. Git only lists
// them: to compare them it would run filters that the repository's configuration
// names.
func list(ctx context.Context, dir, top string) (files []file, err error) {
	if top == "" {
		err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil && path == dir:
				return err
			case err != nil: // unreadable: counts as not changing
			case len(files) > maxFiles:
				return fs.SkipAll
			case entry.IsDir() && entry.Name() == ".git":
				return fs.SkipDir
			case !entry.IsDir():
				files = append(files, file{name: strings.TrimPrefix(path, dir+string(filepath.Separator))})
			}
			return ctx.Err()
		})
		return files, err
	}
	// What .git and the user's own files ignore besides is not believed: it could
	// hide what a check rests on.
	out, err := git(ctx, top, "ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-per-directory=.gitignore")
	var lines []string // to be sorted: names hold no NUL
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		// "? NAME", or "H MODE HASH STAGE<tab>NAME"
		if name, other := bytes.CutPrefix(entry, []byte("? ")); other {
			lines = append(lines, string(name)+"\x00")
		} else if index, name, found := bytes.Cut(entry, []byte("\t")); found {
			lines = append(lines, string(name)+"\x00"+string(index))
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		name, index, _ := strings.Cut(line, "\x00")
		files = append(files, file{filepath.FromSlash(name), index})
	}
	return files, err
}

// git runs a git at the repository's top, which is the work tree whatever its
// configuration says, and returns what it prints.
func git(ctx context.Context, top string, args ...string) ([]byte, error) {
	out := &proc.Head{Limit: maxList}
	c := proc.Git(top, append([]string{"--work-tree=" + top}, args...)...)
	c.Stdout = out
	err := proc.Run(ctx, c).Err
	if len(out.Bytes()) >= maxList {
		err = errors.New("too many files")
	}
	return out.Bytes(), err
}

func excepted(path string, except []string) bool {
	return slices.ContainsFunc(except, func(e string) bool {
		return path == e || strings.HasPrefix(path, e+string(filepath.Separator))
	})
}

// each calls see for the files that are there, by their paths below dir, and for
// those in a folder among them: a repository of its own.
func each(ctx context.Context, dir string, files []file, except []string, see func(name string, info fs.FileInfo) error) error {
	last := ""
	for _, f := range files {
		if f.name == last { // in the index at more than one stage
			continue
		}
		last = f.name
		err := filepath.WalkDir(filepath.Join(dir, f.name), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), excepted(path, except):
				return nil // tracked, and deleted; or not looked at
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == ".git":
				return fs.SkipDir
			case entry.IsDir():
				return nil
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			return see(strings.TrimPrefix(path, dir+string(filepath.Separator)), info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// read takes what is in one file into the hash.
func read(root *os.Root, name string, info fs.FileInfo, sum io.Writer, left *int64) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		fmt.Fprintf(sum, "%q\n", target)
		return err
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
