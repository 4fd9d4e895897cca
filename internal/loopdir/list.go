package loopdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// ListPath is where the list is: what ralph.json names, below the project's
// root; else where the record says it was, so that a lost ralph.json loses no
// list; else feature_list.json in the loop folder.
func (l *Loop) ListPath(named, recorded string) string {
	switch {
	case named != "":
		return filepath.Join(l.Project, filepath.FromSlash(named))
	case recorded != "":
		return recorded
	}
	return filepath.Join(l.Dir, ListFile)
}

// List reads the list at path, which is in the loop folder or below the project's root.
func (s *Store) List(path string) decide.List { return ReadList(path, s.Loop.Dir, s.Loop.Project) }

// ReadList reads the list at path, which must be in one of these folders.
func ReadList(path string, folders ...string) decide.List {
	file, tag := features.Named(path)
	data, err := readList(path, folders)
	if errors.Is(err, fs.ErrNotExist) {
		return decide.List{Missing: true, Err: fmt.Errorf("no list at %s", file)}
	}
	if err != nil {
		return decide.List{Err: err}
	}
	list, err := features.ParseTag(data, tag)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return decide.List{List: list, Err: err}
}

func readList(path string, folders []string) ([]byte, error) {
	root, name, err := listRoot(path, folders)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, name, features.MaxBytes)
}

func (s *Store) listRoot(path string) (root *os.Root, name string, err error) {
	return listRoot(path, []string{s.Loop.Dir, s.Loop.Project})
}

// listRoot opens the folder of the list at path, which must not lead out of all of
// these folders.
func listRoot(path string, folders []string) (root *os.Root, name string, err error) {
	path, _ = features.Named(path)
	for _, dir := range folders {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		root, err = openRoot(dir)
		if below := filepath.Dir(rel); err == nil && below != "." {
			defer root.Close()
			root, err = root.OpenRoot(below)
		}
		return root, filepath.Base(rel), err
	}
	return nil, "", fmt.Errorf("the list %s is outside the project %s", path, folders[len(folders)-1])
}

// Reopen makes the features of these ids in was not pass in the list at path,
// under the lock. Before the first time the list is kept as list.bak. An agent may
// edit the list meanwhile: then its bytes are edited.
func (s *Store) Reopen(path string, was features.List, ids []string) error {
	root, name, err := s.listRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := s.restore(); err != nil {
		return err
	}
	_, tag := features.Named(path)
	moved := errors.New("it changes all the time")
	for range 5 {
		data, err := read(root, name, features.MaxBytes)
		if err != nil {
			return err
		}
		list, err := features.ParseTag(data, tag)
		if err != nil {
			return err
		}
		edited, err := list.Reopen(data, was, ids)
		if err != nil {
			return err
		}
		if _, err := s.loop.Lstat(backupFile); errors.Is(err, fs.ErrNotExist) {
			if err := replace(s.loop, backupFile, data, 0o600, true, nil); err != nil {
				return err
			}
		}
		err = replace(root, name, edited, 0o644, true, func() error {
			if now, err := read(root, name, features.MaxBytes); err != nil || !bytes.Equal(now, data) {
				return errors.Join(err, moved)
			}
			return nil
		})
		if !errors.Is(err, moved) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", path, moved)
}

// SweepList removes, under the lock, what a killed run left of its edit of the list at
// path: that lies where no other write comes by.
func (s *Store) SweepList(path string) {
	root, name, err := s.listRoot(path)
	if err != nil {
		return
	}
	defer root.Close()
	for name, in := range map[string]*os.Root{name: root, backupFile: s.loop} {
		if in == nil {
			continue
		}
		if d, err := in.Open("."); err == nil {
			sweep(in, d, name, 0)
			d.Close()
		}
	}
}

// RestoreList puts the list at path back as it was when it was trusted, with what
// passes in it now.
func (s *Store) RestoreList(path string) error {
	baseline, err := s.private(baselineFile, features.MaxBytes)
	if err != nil || baseline == nil {
		return errors.Join(err, errors.New("no list was trusted; 'ralph-stop-hook trust' does that where there are checks"))
	}
	root, name, err := s.listRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	now, err := optional(read(root, name, features.MaxBytes))
	if err != nil {
		return err // what passes in it would be lost
	}
	_, tag := features.Named(path)
	list, _ := features.ParseTag(now, tag) // of a broken one nothing is known to pass
	restored, err := list.Restore(baseline)
	if err != nil {
		return err
	}
	if now != nil && s.loop != nil {
		if err := replace(s.loop, backupFile, now, 0o600, true, nil); err != nil {
			return err
		}
	}
	return replace(root, name, restored, 0o644, true, nil)
}
