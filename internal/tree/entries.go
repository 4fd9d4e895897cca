package tree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Entry is a file of a tree, or a link, or what else there is.
type Entry struct {
	Path    string // from Top on, separated by slashes
	Mode    fs.FileMode
	Size    int64
	Ignored bool // a rule ignores it; git tracks it, or it was asked for

	Written time.Time // as programs may set it
	Changed time.Time // by the time that no program can set; zero where the system has none
	inode   uint64    // zero where it is not looked up

	hash string // of what it says, as of readFiles
}

func entryOf(info fs.FileInfo) Entry {
	return Entry{
		Mode: info.Mode(), Size: info.Size(), Written: info.ModTime(), Changed: changed(info), inode: inode(info),
	}
}

// latest returns when a file changed, by the time that no program can set if there is one.
func (e *Entry) latest() time.Time {
	if e.Changed.IsZero() {
		return e.Written
	}
	return e.Changed
}

// appendTimes adds a text to line that is another one if the file has changed, as far as its times show that.
func (e *Entry) appendTimes(line []byte) []byte {
	line = strconv.AppendUint(line, uint64(e.Mode), 8)
	for _, n := range [...]int64{e.Size, e.Written.UnixNano(), e.Changed.UnixNano()} {
		line = strconv.AppendInt(append(line, ' '), n, 10)
	}
	return line
}

// appendStamp adds the stamp to line.
func (e *Entry) appendStamp(line []byte) []byte {
	return strconv.AppendUint(append(e.appendTimes(line), ' '), e.inode, 10)
}

// Stamp returns a text that is another one if the file has changed, as far as its times show that, or if another file
// has taken its place: two files that were written at one time may have the same times.
func (e *Entry) Stamp() string { return string(e.appendStamp(nil)) }

// HasStamp reports whether a file has a stamp. It is faster than Stamp.
func (e *Entry) HasStamp(stamp string) bool {
	var line [120]byte
	return stamp == string(e.appendStamp(line[:0]))
}

// HasChangeTime reports whether the stamp of a file has a time that no program can set.
func HasChangeTime(info fs.FileInfo) bool { return !changed(info).IsZero() }

// StampOf returns the stamp of a file.
func StampOf(info fs.FileInfo) string {
	e := entryOf(info)
	return e.Stamp()
}

// Lookup looks names up in a list that is sorted by them. It is fast if they are looked up in that order.
type Lookup struct {
	Len  int
	Name func(i int) string
	next int
}

// ByPath looks up paths of entries.
func ByPath(list []Entry) *Lookup {
	return &Lookup{Len: len(list), Name: func(i int) string { return list[i].Path }}
}

// Find returns where a name is, or where it would be.
func (l *Lookup) Find(name string) (i int, is bool) {
	i = l.next
	is = i < l.Len && l.Name(i) == name
	if !is {
		i, is = sort.Find(l.Len, func(i int) int { return strings.Compare(name, l.Name(i)) })
	}
	l.next = i
	if is {
		l.next++
	}
	return i, is
}

// Entries is what is in a tree.
type Entries struct {
	List    []Entry  // all but folders, sorted by path
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
	if len(also) > 0 {
		t.addTracked(ctx, files, also)
	}
	switch {
	case files.isFull:
		return e, errTooLarge
	case slices.Contains(files.shut, "."): // so it looks as if all were gone
		return e, files.err
	}
	for _, folder := range files.folders {
		e.Folders = append(e.Folders, folder.Path)
	}
	e.List = files.list
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
	files := &files{root: root, rules: map[string]string{}, excepts: t.exceptions()}
	t.folder(ctx, files, "", nil)
	files.sort()
	return files.hidden, files.err
}

// coarsest is how far apart two changes of a file may be that give it one time, on some file system.
const coarsest = 2 * time.Second

// ChangedSince reports whether a file may have changed since a time. To git a file looks as it was if it has its old
// size and its old time, and was changed within the same second.
func (e *Entry) ChangedSince(since time.Time) bool {
	return e.Mode.IsRegular() && !e.latest().Before(since.Add(-coarsest))
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

// Sweep removes all that is in a folder, unless keep reports that it is to be there: as a file, or as a folder, in
// which Sweep goes on. stays reports whether something else stays. Something else in the place of what is to be there
// goes, too. Sweep returns the files that are to be there, and are, sorted by path, and the folders.
func Sweep(ctx context.Context, dir string, keep func(path string) (file, folder bool), stays func(path string) bool) (
	files []Entry, folders []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	s := &sweeper{root: root, keep: keep, stays: stays}
	info, err := root.Lstat(".")
	if err == nil {
		err = s.folder(ctx, "", info.Mode())
	}
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(s.files, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return s.files, s.folders, nil
}

// sweeper sweeps for Sweep.
type sweeper struct {
	root    *os.Root
	keep    func(path string) (file, folder bool)
	stays   func(path string) bool
	files   []Entry
	folders []string
}

func (s *sweeper) folder(ctx context.Context, name string, mode fs.FileMode) error {
	if mode&0o700 != 0o700 { // a check has closed it
		err := s.root.Chmod(cmp.Or(name, "."), mode.Perm()|0o700)
		if err != nil {
			return err
		}
	}
	dir, entries, err := readFolder(filepath.Join(s.root.Name(), name))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	prefix := ""
	if name != "" {
		prefix = name + "/"
	}
	for _, entry := range entries {
		path := prefix + entry.Name()
		isFile, isFolder := s.keep(path)
		isKept := isFolder && entry.IsDir() ||
			isFile && (entry.Type().IsRegular() || entry.Type() == fs.ModeSymlink)
		if !isKept && (isFile || isFolder || !s.stays(path)) {
			err := removeAll(s.root, path)
			if err != nil {
				return err
			}
		}
		if !isKept {
			continue
		}
		e, err := entryIn(dir, entry)
		e.Path = path
		switch {
		case errors.Is(err, fs.ErrNotExist): // it is gone by now
			err = nil
		case err != nil:
		case isFolder:
			s.folders = append(s.folders, path)
			err = s.folder(ctx, path, e.Mode)
		default:
			s.files = append(s.files, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes what is at a path, also below folders that a check has closed.
func removeAll(root *os.Root, path string) error {
	name := filepath.FromSlash(path)
	err := root.RemoveAll(name)
	if err == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), path, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = root.Chmod(filepath.FromSlash(path), 0o700)
		}
		return nil
	})
	return root.RemoveAll(name)
}
