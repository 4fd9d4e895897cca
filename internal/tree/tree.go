// Package tree looks at a work tree. Its fingerprint changes when work is done in
// it; the hash of its contents names what a check was run on.
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

// Tree is a work tree.
type Tree struct {
	Env    []string // the environment that git runs in
	Dir    string   // the project's root, absolute
	Top    string   // the root of the repository that Dir is in; "": it is in none
	Except string   // an absolute file or folder that is left out; "": none
	List   string   // another one, which may be in Except
}

// Fingerprint returns the fingerprint of the tree: git's HEAD and its index, and
// path, size and time of every file that git tracks or would track; without git, of
// every file. A tree that takes too long counts as one that does not change, so
// that trouble ends a loop and does not extend it.
func (t Tree) Fingerprint(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sum := sha256.New()
	head, both := []byte(nil), sync.WaitGroup{}
	if t.Top != "" {
		both.Go(func() {
			defer func() { _ = recover() }() // a panic here would end the process with status 2
			// Without a commit git says nothing.
			head, _ = t.git(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
		})
	}
	files, err := t.list(ctx)
	both.Wait()
	if err != nil && ctx.Err() == nil {
		files, _ = t.walk(ctx) // no git, or one that refuses to look
	}
	sum.Write(head)
	at := t.root()
	for _, f := range files[:min(len(files), maxFiles)] {
		if !t.excepted(filepath.Join(at, f.name)) {
			fmt.Fprintf(sum, "%q %s\n", f.name, f.index)
		}
	}
	_ = t.each(ctx, at, files[:min(len(files), maxFiles)], func(name string, info fs.FileInfo) error {
		fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if ctx.Err() != nil {
		return "too slow"
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// root is the folder that the paths of files begin at.
func (t Tree) root() string { return cmp.Or(t.Top, t.Dir) }

// Contents returns a hash of what is in the tree: path, kind and contents of every
// file that git tracks or would track; without git, of every file. A commit does not
// change it. It is empty if the tree could not be read in time. ignored is a hash of
// the rules by which git ignores files: under other rules, what is left out of the
// contents may have changed too.
func (t Tree) Contents(ctx context.Context) (contents, ignored string) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	files, err := t.list(ctx)
	if err != nil || len(files) > maxFiles {
		return "", ""
	}
	at := t.root()
	root, err := os.OpenRoot(at)
	if err != nil {
		return "", ""
	}
	defer root.Close()
	sum, rules, left := sha256.New(), sha256.New(), int64(maxBytes)
	fmt.Fprintf(rules, "%q\n", t.Top)
	err = t.each(ctx, at, files, func(name string, info fs.FileInfo) error {
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

// Files returns the paths, below Dir, of every file there that git tracks or would
// track; without a repository, of every file.
func (t Tree) Files(ctx context.Context) (names []string, err error) {
	files, err := t.list(ctx)
	for _, f := range files {
		name, err := filepath.Rel(t.Dir, filepath.Join(t.root(), f.name))
		if err == nil && filepath.IsLocal(name) {
			names = append(names, name)
		}
	}
	return slices.Compact(names), err
}

// file is a file by its path; index is what git's index says of it.
type file struct{ name, index string }

// walk returns every file below Dir but git's own, in order.
func (t Tree) walk(ctx context.Context) (files []file, err error) {
	err = filepath.WalkDir(t.Dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == t.Dir:
			return err
		case err != nil: // unreadable: counts as not changing
		case len(files) > maxFiles:
			return fs.SkipAll
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.IsDir():
			files = append(files, file{name: strings.TrimPrefix(path, t.Dir+string(filepath.Separator))})
		}
		return ctx.Err()
	})
	return files, err
}

// list returns the files by their paths, once each, in order. Git only lists them:
// to compare them it would run filters that the repository's configuration names.
func (t Tree) list(ctx context.Context) (files []file, err error) {
	if t.Top == "" {
		return t.walk(ctx)
	}
	// The ignore rules of .git and of the user's own files are not believed: they
	// could hide what a check rests on.
	out, err := t.git(ctx, "ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-per-directory=.gitignore")
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

// git runs git at the repository's root, which is the work tree whatever its
// configuration says, and returns what git prints.
func (t Tree) git(ctx context.Context, args ...string) ([]byte, error) {
	out := &proc.Head{Limit: maxList}
	c := proc.Git(t.Env, t.Top, append([]string{"--work-tree=" + t.Top}, args...)...)
	c.Stdout = out
	err := proc.Run(ctx, c).Err
	if len(out.Bytes()) >= maxList {
		err = errors.New("too many files")
	}
	return out.Bytes(), err
}

func (t Tree) excepted(path string) bool {
	below := func(e string) bool {
		return e != "" && (path == e || strings.HasPrefix(path, e+string(filepath.Separator)))
	}
	return below(t.Except) || below(t.List)
}

// each calls see for the files that are there, by their paths below dir. A folder
// among them is a repository of its own: its files are seen.
func (t Tree) each(ctx context.Context, dir string, files []file, see func(name string, info fs.FileInfo) error) error {
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
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), t.excepted(path):
				return nil // tracked, and deleted; or left out
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

// read adds the content of one file to the hash.
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
