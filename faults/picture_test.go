//go:build faults && linux

package faults

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// picture is what the world's folders hold.
type picture map[string]entry

type entry struct {
	mode fs.FileMode
	text string // or the link's target
	time time.Time
}

// digest is of all but the times.
func (p picture) digest() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(h, "%q %v %q\n", path, p[path].mode, p[path].text)
	}
	return string(h.Sum(nil))
}

func (w *world) folders() []string {
	dirs := []string{w.root, filepath.Dir(w.notices)}
	switch {
	case w.key != "":
		dirs = append(dirs, w.recordDirs()...)
	case !strings.HasPrefix(w.state, w.root):
		dirs = append(dirs, w.state)
	}
	return dirs
}

// look walks what may change: not git's own folder.
func (w *world) look(each func(path string, info fs.FileInfo) error) error {
	for _, dir := range w.folders() {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			return each(path, info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) take() (picture, error) {
	p := picture{}
	err := w.look(func(path string, info fs.FileInfo) error {
		e := entry{mode: info.Mode(), time: info.ModTime()}
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			e.text = string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			e.text, _ = os.Readlink(path)
		}
		p[path] = e
		return nil
	})
	return p, err
}

// put makes the folders what they were.
func (w *world) put(p picture) error {
	var gone []string
	err := w.look(func(path string, info fs.FileInfo) error {
		if was, ok := p[path]; !ok || was.mode != info.Mode() || !info.IsDir() {
			gone = append(gone, path)
			if info.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, path := range gone {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	var order []string
	for path := range p {
		order = append(order, path)
	}
	sortByLength(order) // a folder before what is in it
	for _, path := range order {
		e := p[path]
		var err error
		switch {
		case e.mode.IsDir():
			err = os.Mkdir(path, e.mode.Perm())
			if errors.Is(err, fs.ErrExist) {
				err = nil
			}
		case e.mode&fs.ModeSymlink != 0:
			err = os.Symlink(e.text, path)
		default:
			err = os.WriteFile(path, []byte(e.text), e.mode.Perm())
			if err == nil {
				err = os.Chtimes(path, e.time, e.time)
			}
		}
		if err != nil {
			return err
		}
	}
	w.acked = 0
	return nil
}

var tempName = regexp.MustCompile(`^\..+([0-9]{6,}|\.new)$`)

// strays are temporary files that somebody left.
func (w *world) strays() (found []string, err error) {
	err = w.look(func(path string, info fs.FileInfo) error {
		if tempName.MatchString(filepath.Base(path)) {
			found = append(found, path)
		}
		return nil
	})
	return found, err
}

func sortByLength(paths []string) {
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
}
