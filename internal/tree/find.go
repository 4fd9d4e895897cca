package tree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find walks the disk below Dir, also where git ignores files. It calls see for everything that is
// not a folder, with its slash-separated path from Dir. enter decides whether to walk a folder.
// ignored: git ignores it. closed lists the folders that could not be read.
func (t Tree) Find(ctx context.Context, enter func(folder string, ignored bool) bool,
	see func(path string, kind fs.FileMode)) (closed []string, err error) {
	root, err := os.OpenRoot(t.root())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f := &finder{Tree: t, files: &files{root: root, rules: map[string]string{}}, enter: enter, see: see}
	var above *rules
	to, err := filepath.Rel(t.root(), t.Dir)
	if err != nil {
		return nil, err
	}
	at := ""
	for name := range strings.SplitSeq(to, string(filepath.Separator)) {
		if name == "." {
			break
		}
		entries, err := os.ReadDir(filepath.Join(t.root(), at))
		if err != nil {
			return nil, err
		}
		above = t.rulesOf(f.files, at, entries, above)
		at = filepath.Join(at, name)
	}
	err = f.folder(ctx, at, above, false)
	return f.closed, err
}

// finder walks for Find.
type finder struct {
	Tree
	*files
	enter  func(folder string, ignored bool) bool
	see    func(path string, kind fs.FileMode)
	count  int
	closed []string
}

// folder walks the folder with this path from the root.
func (f *finder) folder(ctx context.Context, name string, above *rules, ignored bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	here, err := filepath.Rel(f.Dir, filepath.Join(f.Tree.root(), name))
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(f.Tree.root(), name))
	if err != nil {
		f.closed = append(f.closed, filepath.ToSlash(here))
		return nil
	}
	r := f.rulesOf(f.files, name, entries, above)
	own := filepath.ToSlash(filepath.Join(name, ignoreFile))
	if !ignored && r != above && r.ignore(own, false) { // the folder says itself that it is ignored
		ignored = true
		if here != "." && !f.enter(filepath.ToSlash(here), true) {
			return nil
		}
	}
	for _, entry := range entries {
		path, below := filepath.Join(name, entry.Name()), filepath.Join(here, entry.Name())
		if f.excepted(filepath.Join(f.Dir, below)) {
			continue
		}
		if f.count++; f.count > maxFiles {
			return errTooLarge
		}
		below = filepath.ToSlash(below)
		if !entry.IsDir() {
			f.see(below, entry.Type())
			continue
		}
		hidden := ignored || r.ignore(filepath.ToSlash(path), true)
		if f.enter(below, hidden) {
			if err := f.folder(ctx, path, r, hidden); err != nil {
				return err
			}
		}
	}
	return nil
}
