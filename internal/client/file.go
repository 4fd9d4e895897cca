package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// FileChange changes a settings file, which other programs edit, too. PlanChange plans the change, so that people can
// see it, and Make makes it.
type FileChange struct {
	Path      string // without links, as dotfile managers make them: what they lead to is changed
	Old, Text []byte // as the file is, and as it is to become; nil: there is no file

	edit   func(old []byte) ([]byte, error)
	linked bool
}

// PlanChange plans a change of a settings file, which may be missing. edit returns what becomes of its text; nil: the
// file goes.
func PlanChange(path string, edit func(old []byte) ([]byte, error)) (FileChange, error) {
	f := FileChange{Path: path, edit: edit}
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		f.linked = target != path
		f.Path = target
	}
	err = f.plan()
	return f, err
}

func (f *FileChange) plan() error {
	old, err := loopdir.ReadAny(f.Path, MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, dangling := os.Lstat(f.Path)
	if err != nil && dangling == nil {
		return fmt.Errorf("%s is a link to nothing; remove it", plain.Line(f.Path, 400))
	}
	f.Old = old
	f.Text, err = f.edit(old)
	if err != nil {
		return fmt.Errorf("%s: %w", plain.Line(f.Path, 400), err)
	}
	if f.Text == nil && f.linked { // the link would lead to nothing
		f.Text = []byte("{}\n")
	}
	return nil
}

// Changed reports whether there is something to change.
func (f *FileChange) Changed() bool { return !bytes.Equal(f.Text, f.Old) }

// Make changes the file. If somebody else changed it after the plan, Make plans anew; if that happens five times in a
// row, the error is loopdir.ErrChanged.
func (f *FileChange) Make() (err error) {
	for range 5 {
		if f.Text == nil {
			err = f.remove()
		} else {
			err = loopdir.ReplaceIf(f.Path, f.Old, f.Text)
		}
		if !errors.Is(err, loopdir.ErrChanged) {
			return err
		}
		planned := f.plan()
		if planned != nil || !f.Changed() {
			return planned
		}
	}
	return err
}

// remove removes the file. An editor may replace it at any moment, so remove looks at it again, renames it, and looks
// once more.
func (f *FileChange) remove() error {
	err := f.same(f.Path)
	if err != nil {
		return err
	}
	aside := fmt.Sprintf("%s.%d.removed", f.Path, os.Getpid())
	err = os.Rename(f.Path, aside)
	if err != nil {
		return err
	}
	err = f.same(aside)
	if err != nil && os.Link(aside, f.Path) != nil { // there is a newer one
		return fmt.Errorf("somebody else edited %s as it was removed; what it was is in %s", plain.Line(f.Path, 400), aside)
	}
	return errors.Join(err, os.Remove(aside))
}

// same returns loopdir.ErrChanged if a file has not the content that was read.
func (f *FileChange) same(path string) error {
	now, err := loopdir.ReadAny(path, MaxBytes)
	if err == nil && !bytes.Equal(now, f.Old) {
		err = fmt.Errorf("%s: %w", plain.Line(f.Path, 400), loopdir.ErrChanged)
	}
	return err
}
