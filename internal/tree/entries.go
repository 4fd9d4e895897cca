package tree

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Entry is a file of a tree, or a link, or what else there is beside folders.
type Entry struct {
	Path    string // from Top on, separated by slashes
	Mode    fs.FileMode
	Size    int64
	Ignored bool // a rule ignores it; git tracks it, or it was asked for

	Written time.Time // as programs may set it
	Changed time.Time // by the time that no program can set; zero where the system has none
	Stamp   string    // another one if the file has changed, as far as its times show that
}

// Entries is what is in a tree.
type Entries struct {
	List    []Entry
	Folders []string // from Top on, separated by slashes
	Hidden  []string // what rules ignore, without what is below that; git may track some of it
	Closed  error    // why something cannot be read
	Shut    []string // files and folders that cannot be read

	files *files // that have these entries
}

// Entries returns all that is in the tree, also beside Dir, and those of the files in also that are there. It does
// without what git tracks if git cannot be asked.
func (t Tree) Entries(ctx context.Context, also []string) (e Entries, err error) {
	files, err := t.walk(ctx)
	if err != nil {
		return e, err
	}
	defer files.root.Close()
	for _, name := range also {
		t.tracked(ctx, files, filepath.FromSlash(name))
	}
	files.see()
	switch {
	case len(files.list) > maxFiles:
		return e, errTooLarge
	case slices.Contains(files.shut, "."): // so it looks as if all were gone
		return e, files.err
	}
	e.List = make([]Entry, 0, len(files.list))
	for i, f := range files.list {
		if f.info.IsDir() {
			e.Folders = append(e.Folders, filepath.ToSlash(f.name))
			continue
		}
		e.List = append(e.List, Entry{
			Path: filepath.ToSlash(f.name), Mode: f.info.Mode(), Size: f.info.Size(), Ignored: i >= files.unignored,
			Written: f.info.ModTime(), Changed: changed(f.info), Stamp: StampOf(f.info),
		})
	}
	e.files = files
	e.Hidden = files.hidden
	e.Closed = files.err
	e.Shut = files.shut
	return e, ctx.Err()
}

// Hidden returns what rules ignore in a tree of which nobody knows what git tracks, without what is below that.
func (t Tree) Hidden(ctx context.Context) ([]string, error) {
	root, err := os.OpenRoot(t.Top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := &files{root: root, seen: map[string]bool{".": true}, rules: map[string]string{}}
	t.folder(ctx, files, "", nil)
	return files.hidden, files.err
}

// coarsest is how far apart two changes of a file may be that give it one time, on some file system.
const coarsest = 2 * time.Second

// ChangedSince reports whether a file may have changed since a time. To git a file looks as it was if it has its old
// size and its old time, and was changed within the same second.
func (e Entry) ChangedSince(since time.Time) bool {
	at := e.Changed
	if at.IsZero() {
		at = e.Written
	}
	return e.Mode.IsRegular() && !at.Before(since.Add(-coarsest))
}

// ChangedAt returns when a file changed, by the time that no program can set; zero if there is none.
func ChangedAt(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	return changed(info)
}

// Stamp returns a text that changes with the file at path, or with the link there: the times that no program can set.
// Where there are none, as on Windows, it has the file's size and the time of its last write. It is "" if there is no
// such file.
func Stamp(path string) string {
	link, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	file, err := os.Stat(path)
	if err != nil {
		return ""
	}
	at := changed(file)
	if at.IsZero() {
		return fmt.Sprint(file.Size(), file.ModTime().UnixNano())
	}
	return fmt.Sprint(changed(link).UnixNano(), at.UnixNano()) // without inodes: some file systems invent them
}

// StampOf returns a text that is another one if the file has changed, as far as its times show that, or if another file
// has taken its place: two files that were written at one time may have the same times.
func StampOf(info fs.FileInfo) string {
	return string(strconv.AppendUint(append(appendStamp(nil, info), ' '), inode(info), 10))
}

// Sweep removes all that is in a folder but not in keep, unless stays says that it stays. keep has the paths of files,
// separated by slashes, and those of the folders above them, which are true. Something else in the place of one of them
// goes, too. Sweep returns the files of keep that are there.
func Sweep(ctx context.Context, dir string, keep map[string]bool, stays func(path string) bool) ([]Entry, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &sweeper{root: root, keep: keep, stays: stays}
	if err := s.folder(ctx, ""); err != nil {
		return nil, err
	}
	return s.entries(), nil
}

// sweeper sweeps for Sweep.
type sweeper struct {
	root  *os.Root
	keep  map[string]bool
	stays func(path string) bool
	kept  []file
}

func (t *sweeper) folder(ctx context.Context, name string) error {
	dir := filepath.Join(t.root.Name(), name)
	info, err := os.Lstat(dir)
	if err == nil && info.Mode()&0o700 != 0o700 { // a check has closed it
		err = t.root.Chmod(cmp.Or(name, "."), info.Mode().Perm()|0o700)
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(name, entry.Name())
		slashed := filepath.ToSlash(path)
		folder, kept := t.keep[slashed]
		switch {
		case folder && entry.IsDir():
			err = t.folder(ctx, path)
		case kept && !folder && (entry.Type().IsRegular() || entry.Type() == fs.ModeSymlink):
			t.kept = append(t.kept, file{name: slashed, entry: entry})
		case kept, !t.stays(slashed):
			err = removeAll(t.root, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes what is at a path, also below folders that a check has closed.
func removeAll(root *os.Root, name string) error {
	err := root.RemoveAll(name)
	if err == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), filepath.ToSlash(name), func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = root.Chmod(filepath.FromSlash(path), 0o700)
		}
		return nil
	})
	return root.RemoveAll(name)
}

// entries returns the files of keep that are there.
func (t *sweeper) entries() []Entry {
	all := make([]Entry, len(t.kept))
	each(len(t.kept), func(i int) {
		info, err := t.kept[i].entry.Info()
		if err == nil {
			all[i] = Entry{Path: t.kept[i].name, Mode: info.Mode(), Changed: changed(info), Stamp: StampOf(info)}
		}
	})
	return all
}
