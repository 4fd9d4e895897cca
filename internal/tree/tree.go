// Package tree looks at a work tree. The fingerprint of a tree changes when somebody works
// in it. The hash of its contents identifies the files that a check was run on.
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

// Bounds of what is looked at. A fingerprint covers the first maxFiles files. A tree of more
// files, or of more than maxBytes in them, has no hash of its contents; a check on it is
// then run again each time.
const (
	timeout  = 10 * time.Second
	maxList  = 64 << 20 // bytes in git's list of files
	maxFiles = 200_000
	maxBytes = 4 << 30
)

// Tree is a work tree.
type Tree struct {
	Env    []string // the environment that git runs in
	Dir    string   // the project's root, absolute
	Top    string   // the root of the repository that Dir is in, or "" if there is none
	Except string   // the absolute path of a file or folder to leave out, or ""
	List   string   // a second path to leave out; it may be below Except
}

// Fingerprint returns the fingerprint of the tree. It covers git's HEAD and index, and the
// path, size and time of each file that git tracks or would track. Without git it covers
// each file. For a tree that takes too long it returns a fixed text: the tree then counts
// as unchanged, so that trouble ends a loop and does not extend it.
func (t Tree) Fingerprint(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	sum := sha256.New()
	head, both := []byte(nil), sync.WaitGroup{}
	if t.Top != "" {
		both.Go(func() {
			defer func() { _ = recover() }() // a panic here would end the process with status 2
			// Git prints nothing if there is no commit yet.
			head, _ = t.git(ctx, "rev-parse", "--quiet", "--verify", "HEAD")
		})
	}
	files, err := t.list(ctx)
	both.Wait()
	if err != nil && ctx.Err() == nil {
		files, _ = t.walk(ctx) // there is no git, or it refuses this repository
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

// root returns the folder to which the paths of list are relative.
func (t Tree) root() string { return cmp.Or(t.Top, t.Dir) }

// Contents returns two hashes, in hex. contents covers the path, the kind and the contents
// of each file that git tracks or would track; without git, of each file. A commit does not
// change it. ignored covers the rules by which git ignores files: if they change, contents
// may leave out other files than before. Both are empty if the tree is too large or cannot
// be read in time.
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

// Files returns the paths, relative to Dir, of each file below Dir that git tracks or would
// track. Without a repository it returns each file.
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

// file is one file of a list.
type file struct {
	name  string // its path
	index string // "TAG MODE HASH STAGE" from git's index; empty for a file that git does not track
}

// walk returns each file below Dir in order, without the .git folders.
func (t Tree) walk(ctx context.Context) (files []file, err error) {
	err = filepath.WalkDir(t.Dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == t.Dir:
			return err
		case err != nil: // what cannot be read counts as unchanged
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

// list returns the files of the tree, sorted by path. Git only lists them. If git compared
// them, it would run the filters that the repository's configuration names.
func (t Tree) list(ctx context.Context) (files []file, err error) {
	if t.Top == "" {
		return t.walk(ctx)
	}
	// Only the rules of .gitignore files count. An agent can edit the rules in .git and in the
	// user's configuration, and these could hide files that a check depends on.
	out, err := t.git(ctx, "ls-files", "-z", "-t", "--stage", "--cached", "--others",
		"--exclude-per-directory=.gitignore")
	var lines []string // NAME<NUL>INDEX, which sorts by name: a name has no NUL
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		// An entry is "? NAME" or "H MODE HASH STAGE<tab>NAME".
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

// git runs git at the repository's root and returns what git prints. The root is the work
// tree, even if the repository's configuration names another one.
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

// excepted reports whether the absolute path is left out of the tree.
func (t Tree) excepted(path string) bool {
	below := func(e string) bool {
		return e != "" && (path == e || strings.HasPrefix(path, e+string(filepath.Separator)))
	}
	return below(t.Except) || below(t.List)
}

// each calls see for each of the files that exists, with the file's path relative to dir. If
// a name in files is a folder, it is a repository of its own, and each calls see for the
// files in it.
func (t Tree) each(ctx context.Context, dir string, files []file, see func(name string, info fs.FileInfo) error) error {
	last := ""
	for _, f := range files {
		if f.name == last { // during a merge, the index has a file several times
			continue
		}
		last = f.name
		err := filepath.WalkDir(filepath.Join(dir, f.name), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), t.excepted(path):
				return nil // the file is tracked but deleted, or it is left out
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

// read writes a hash of one file's content to sum, or the target of a link. It subtracts the
// size from left and fails if left would become negative.
func read(root *os.Root, name string, info fs.FileInfo, sum io.Writer, left *int64) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		fmt.Fprintf(sum, "%q\n", target)
		return err
	case !info.Mode().IsRegular():
		return nil // a device or a FIFO has no content that a check could depend on
	}
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // in case it has become a FIFO
	}
	f, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("the file was replaced meanwhile"))
	}
	one := sha256.New()
	n, err := io.Copy(one, io.LimitReader(f, *left+1))
	if *left -= n; err == nil && *left < 0 {
		err = errors.New("too large")
	}
	fmt.Fprintf(sum, "%x\n", one.Sum(nil))
	return err
}
