package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove deletes the worktree and its branch if a commit has all its work: nothing would change if it were merged. If
// not, or if files are not committed, it deletes nothing and returns an error.
func (t *Tree) Remove(ctx context.Context, into string) error {
	commit := ""
	if t.branch != "" {
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
		commit = s.head
	}
	if err := removeAll(t.dir); err != nil {
		return err
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if _, err := t.r.refs(ctx, "worktree", "remove", "-f", "-f", t.dir); err != nil {
		return err
	}
	if commit == "" {
		return nil
	}
	return t.r.Drop(ctx, t.branch, commit)
}

// removeAll removes a folder, also one with folders that may not be written, as package managers make them.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// asideEnd ends the name of a file that is not whole yet.
const asideEnd = ".ralph"

// replace writes a file in one step. A reader sees the old text or the new one.
func replace(path string, text []byte) error {
	aside := path + asideEnd
	if err := os.WriteFile(aside, text, 0o644); err != nil {
		return err
	}
	return os.Rename(aside, path)
}
