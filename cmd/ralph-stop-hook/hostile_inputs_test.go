//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// These can be in the place of a file.
var (
	fifo    = place(func(path string) error { return unix.Mkfifo(path, 0o600) })
	folder  = place(func(path string) error { return os.Mkdir(path, 0o700) })
	nowhere = place(func(path string) error { return os.Symlink("nowhere", path) })
	zeros   = link("/dev/zero")
	itself  = place(func(path string) error { return os.Symlink(filepath.Base(path), path) })
	missing = place(func(string) error { return nil })
)

// link is a link to target.
func link(target string) place {
	return func(path string) error { return os.Symlink(target, path) }
}

// inside is a link to another file in the same folder, which has the text.
func inside(text string) place {
	return func(path string) error {
		if err := write(path+".other", []byte(text)); err != nil {
			return err
		}
		return os.Symlink(filepath.Base(path)+".other", path)
	}
}

// second is a file with the text that has a second name.
func second(text string) place {
	return func(path string) error {
		if err := write(path+".other", []byte(text)); err != nil {
			return err
		}
		return os.Link(path+".other", path)
	}
}

// sparse is a file of size bytes, all of them 0, that takes no room on the disk.
func sparse(size int64) place {
	return func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Truncate(size)
	}
}

// many is text, repeated n times.
func many(text string, n int) big { return func() string { return strings.Repeat(text, n) } }

// around is text, repeated n times, between before and after.
func around(before string, text string, n int, after string) big {
	return func() string { return before + strings.Repeat(text, n) + after }
}

// utf16 is ASCII text in UTF-16 with a byte order mark, as some editors write it.
func utf16(text string, big bool) string {
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
