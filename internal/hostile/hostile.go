//go:build unix

// Package hostile makes inputs that nobody should send to a program, and says what a program has done to files. Only
// tests import it.
package hostile

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/sys/unix"
)

// Big makes a long text when it is needed.
type Big func() string

// Place puts something other than a file at a path.
type Place func(path string) error

// These can be in the place of a file.
var (
	FIFO    = Place(func(path string) error { return unix.Mkfifo(path, 0o600) })
	Folder  = Place(func(path string) error { return os.Mkdir(path, 0o700) })
	Nowhere = Link("nowhere") // a link to nothing
	Zeros   = Link("/dev/zero")
	Itself  = Place(func(path string) error { return os.Symlink(filepath.Base(path), path) })
	Missing = Place(func(string) error { return nil })
)

// Link is a link to target.
func Link(target string) Place {
	return func(path string) error { return os.Symlink(target, path) }
}

// Inside is a link to another file in the same folder, which has the text.
func Inside(text string) Place {
	return func(path string) error {
		if err := Write(path+".other", []byte(text)); err != nil {
			return err
		}
		return os.Symlink(filepath.Base(path)+".other", path)
	}
}

// Second is a file with the text that has a second name.
func Second(text string) Place {
	return func(path string) error {
		if err := Write(path+".other", []byte(text)); err != nil {
			return err
		}
		return os.Link(path+".other", path)
	}
}

// Sparse is a file of size bytes, all of them 0, that takes no room on the disk.
func Sparse(size int64) Place {
	return func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Truncate(size)
	}
}

// Many is text, repeated n times.
func Many(text string, n int) Big { return func() string { return strings.Repeat(text, n) } }

// Around is text, repeated n times, between before and after.
func Around(before string, text string, n int, after string) Big {
	return func() string { return before + strings.Repeat(text, n) + after }
}

// UTF16 is ASCII text in UTF-16 with a byte order mark, as some editors write it.
func UTF16(text string, big bool) string {
	out := []byte{0xff, 0xfe}
	if big {
		out = []byte{0xfe, 0xff}
	}
	for _, c := range []byte(text) {
		if big {
			out = append(out, 0, c)
		} else {
			out = append(out, c, 0)
		}
	}
	return string(out)
}

// Put puts an input at a path: a text, or what a Big or a Place makes. It makes the folders above it.
func Put(path string, in any) error {
	switch in := in.(type) {
	case string:
		return Write(path, []byte(in))
	case Big:
		return Write(path, []byte(in()))
	case Place:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return in(path)
	}
	return fmt.Errorf("%T is no input", in)
}

// Write writes a file and makes the folders above it.
func Write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

// Scratch returns an empty folder, without links in its path. It is in memory if the system has a folder there: these
// tests are about answers, not about disks.
func Scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ralph-hostile-")
	if err != nil {
		dir = t.TempDir()
	} else {
		t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Picture returns the mode and the content of each file in dir, by path.
func Picture(dir string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[path] += target
			return err
		case info.Mode().IsRegular() && info.Size() > 1<<20: // a rewrite changes the time
			all[path] += fmt.Sprint(info.Size(), info.ModTime())
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			all[path] += string(data)
			return err
		}
		return nil
	})
	return all, err
}

// Changed returns the paths of the files that differ between two pictures, sorted.
func Changed(before, after map[string]string) []string {
	changed := map[string]bool{}
	for path := range after {
		if before[path] != after[path] {
			changed[path] = true
		}
	}
	for path := range before {
		if after[path] == "" {
			changed[path] = true
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// Unclean reports whether text has a character, other than a line break, that a terminal obeys or does not show.
func Unclean(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co))
	})
}
