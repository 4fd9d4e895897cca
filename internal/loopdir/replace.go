package loopdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Replace sets the content of the file name in root. A reader sees the old content or the
// new content, never a mixture. A nil error means that the new content is on stable
// storage; after an error the file has the old or the new content. A new file gets the mode
// perm. An existing file keeps its mode, and its owner, group and extended attributes as
// far as the system lets us, unless perm is 0600. Replace refuses a name that
// is not a regular file.
func Replace(root *os.Root, name string, data []byte, perm os.FileMode) error {
	return replace(root, name, data, perm, false, nil)
}

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
	return replace(root, name, data, 0o644, false, func() error {
		now, err := optional(read(root, name, max(int64(len(was)), 1)))
		if err != nil || (now == nil) != (was == nil) || !bytes.Equal(now, was) {
			return ErrChanged
		}
		return nil
	})
}

// replace is Replace. locked says that the caller holds the loop's lock, so that nobody
// else writes a temporary file of this name. If confirm is not nil, replace calls it right
// before the rename, and its error prevents the rename.
func replace(
	root *os.Root, name string, data []byte, perm os.FileMode, locked bool, confirm func() error,
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

// Leftovers returns the paths of the temporary files in the loop's folders. If the caller
// holds the lock, no process writes them any more. In the loop folder Leftovers looks only
// for temporary files of our own files, because a person may have files of similar names.
func (s *Store) Leftovers() (paths []string) {
	find := func(root *os.Root, names ...string) {
		if root == nil {
			return
		}
		entries, _ := os.ReadDir(root.Name()) // without an entry there is nothing to report
		for _, entry := range entries {
			ours := func(name string) bool { return Temporary(entry.Name(), name) }
			if entry.Type().IsRegular() && slices.ContainsFunc(names, ours) {
				paths = append(paths, filepath.Join(root.Name(), entry.Name()))
			}
		}
	}
	find(s.loop, ListFile, ProgressFile, PromptFile, ConfigFile, HookLog, IterationLog, ChecksLog, IgnoreFile,
		backupFile)
	find(s.state, "")
	return paths
}
