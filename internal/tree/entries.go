package tree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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
	List   []Entry
	Closed error // why something cannot be read

	// Stamp is another one if anything in the tree has changed. It is empty if that cannot be told by the times of
	// files: the system has none that a program cannot set, or something has changed just now.
	Stamp string

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
	if len(files.list) > maxFiles {
		return e, errTooLarge
	}
	var stamp []byte
	newest, known := time.Time{}, true
	e.List = make([]Entry, 0, len(files.list))
	for i, f := range files.list {
		stamp = append(append(stamp, f.name...), 0)
		if f.info.IsDir() {
			continue
		}
		at := changed(f.info)
		one := Entry{
			Path: filepath.ToSlash(f.name), Mode: f.info.Mode(), Size: f.info.Size(), Ignored: i >= files.unignored,
			Written: f.info.ModTime(), Changed: at,
			Stamp: string(appendStamp(nil, f.info)),
		}
		if _, is := t.Beside[one.Path]; is {
			continue
		}
		e.List = append(e.List, one)
		stamp = append(append(stamp, one.Stamp...), 0)
		known = known && !at.IsZero()
		if at.After(newest) {
			newest = at
		}
	}
	e.files = files
	e.Closed = files.err
	if known && e.Closed == nil && time.Since(newest) > coarsest {
		sum := sha256.Sum256(stamp)
		e.Stamp = hex.EncodeToString(sum[:])
	}
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
	return e.Mode.IsRegular() && !e.Changed.Before(since.Add(-coarsest))
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

// ErrReplaced says that a folder of a tree is a link now.
var ErrReplaced = errors.New("a folder was replaced by a link")

// Sweep removes all that is in the tree but not in keep, and each .git. What a rule ignores stays, unless drop says
// that it goes. keep has the paths of files, from Top on and separated by slashes, and those of the folders above them,
// which are true. Something else in the place of one of them goes, too; a link in the place of a folder is ErrReplaced.
// changed are the files of keep that have changed since a time, are gone or are something else now, but for those
// beside. moved is true if one of its folders has changed: other files may be there that look as old as they are.
func (t Tree) Sweep(ctx context.Context, keep map[string]bool, drop func(path string) bool, since time.Time) (
	changed []string, moved bool, err error) {
	root, err := os.OpenRoot(t.Top)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	s := &sweeper{
		Tree: t, files: &files{root: root, rules: map[string]string{}}, keep: keep, drop: drop, since: since,
	}
	err = s.folder(ctx, "", nil)
	return s.changed(), s.moved, err
}

// sweeper sweeps for Sweep.
type sweeper struct {
	Tree
	*files
	keep  map[string]bool
	drop  func(path string) bool
	since time.Time
	kept  []file
	moved bool
}

func (t *sweeper) folder(ctx context.Context, name string, above *rules) error {
	entries, err := os.ReadDir(filepath.Join(t.Top, name))
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r := t.rulesOf(t.files, name, entries, above)
	for _, entry := range entries {
		path := filepath.Join(name, entry.Name())
		slashed := filepath.ToSlash(path)
		folder, kept := t.keep[slashed]
		switch {
		case folder && entry.Type()&fs.ModeSymlink != 0:
			return ErrReplaced
		case folder && entry.IsDir():
			info, gone := entry.Info()
			if gone != nil {
				return gone
			}
			t.moved = t.moved || !changed(info).Before(t.since)
			err = t.folder(ctx, path, r)
		case kept && !folder && (entry.Type().IsRegular() || entry.Type() == fs.ModeSymlink):
			t.kept = append(t.kept, file{name: slashed, entry: entry})
		case kept, entry.Name() == ".git", !r.ignore(slashed, entry.IsDir()), t.drop(slashed):
			err = t.files.root.RemoveAll(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changed returns the files that are not as they were at the time.
func (t *sweeper) changed() (names []string) {
	same := make([]bool, len(t.kept))
	each(len(t.kept), func(i int) {
		info, err := t.kept[i].entry.Info()
		same[i] = err == nil && changed(info).Before(t.since)
	})
	left := maps.Clone(t.keep)
	for i, one := range t.kept {
		if same[i] {
			delete(left, one.name)
		}
	}
	for name, folder := range left {
		if _, beside := t.Beside[name]; !folder && !beside {
			names = append(names, name)
		}
	}
	return names
}
