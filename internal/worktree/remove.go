package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Remove deletes the tree, and the branch that it has published, if a commit has all its work: nothing would change if
// it were merged. If not, or if files are not committed, it deletes nothing and returns an error. With an empty into,
// what is there is no work.
func (t *Tree) Remove(ctx context.Context, into string) error {
	if into != "" {
		s, err := t.stage(ctx)
		if err != nil {
			return err
		}
		if !s.clean {
			return fmt.Errorf("%s has changes that are not committed", t.dir)
		}
		if is, err := t.r.contains(ctx, into, s.head); err != nil || !is {
			return errors.Join(err, fmt.Errorf("branch %s has work that is not merged", t.branch))
		}
		if at := t.readNote(publishedNote); at != "" {
			_ = t.r.Drop(ctx, t.branch, at) // it stays if somebody has moved it
		}
	}
	if err := loopdir.RemoveAll(t.dir); err != nil {
		return err
	}
	var err error
	for _, kind := range kinds {
		err = errors.Join(err, t.forget(kind))
	}
	return err
}

// asideEnd ends the name of a file that is not whole yet.
const asideEnd = ".ralph"

// copyIndex puts a copy of an index in the place of another one, in one step. The copy keeps the time: to git a file
// that changed in the second in which its index was written, or later, may be another one, though its size is the same.
func copyIndex(from, to string) error {
	aside, err := copyAside(from, to)
	if err != nil {
		return err
	}
	return os.Rename(aside, to)
}

// copyAside makes the copy beside its place.
func copyAside(from, to string) (aside string, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return "", err
	}
	text, err := loopdir.ReadFile(filepath.Dir(from), filepath.Base(from), maxIndex)
	if err != nil {
		return "", err
	}
	aside = to + asideEnd
	err = writeNew(aside, text, 0o644)
	if err == nil {
		err = os.Chmod(aside, info.Mode().Perm()) // core.sharedRepository asks for more than the umask lets through
	}
	if err == nil {
		err = os.Chtimes(aside, time.Time{}, info.ModTime())
	}
	return aside, err
}

// writeNew writes a file that nobody else has made: an agent may have put a link or a pipe into its place.
func writeNew(path string, text []byte, mode os.FileMode) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
