package loopdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// ListPath returns the path of the list. named is the path in ralph.json, relative to the
// project's root; it wins if it is not empty. recorded is the path in the record; it is
// used if ralph.json was lost. Without both, the list is feature_list.json in the loop
// folder. The path of config.ListNone is empty.
func (l *Loop) ListPath(named, recorded string) string {
	switch {
	case named == config.ListNone:
		return ""
	case named != "":
		return filepath.Join(l.Project, filepath.FromSlash(named))
	case recorded != "":
		return recorded
	}
	return filepath.Join(l.Dir, ListFile)
}

// List reads the list at path, which is in the loop folder or below the project's root. The
// tag of how is that of path.
func (s *Store) List(path string, how features.Reading) decide.List {
	if s.Refused {
		return decide.List{Err: errors.New("the list is not read, since the loop folder is refused")}
	}
	return ReadList(path, how, s.Loop.Dir, s.Loop.Project)
}

// ReadList reads the list at path, which must be in one of the folders. The tag of how is
// that of path.
func ReadList(path string, how features.Reading, folders ...string) decide.List {
	var file string
	file, how.Tag = features.SplitTag(path)
	data, err := readList(path, folders)
	if errors.Is(err, fs.ErrNotExist) {
		missing := fmt.Errorf("no list at %s", file)
		if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
			missing = fmt.Errorf("%w, and its folder is gone: if that was moved, resume the loop there", missing)
		}
		return decide.List{Missing: true, Err: missing}
	}
	if err != nil {
		return decide.List{Err: err}
	}
	list, err := how.Parse(data)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return decide.List{List: list, Err: err}
}

// readList returns the text of the list at path, which must be in one of the folders.
func readList(path string, folders []string) ([]byte, error) {
	root, name, err := listRoot(path, folders)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, name, features.MaxBytes)
}

// listRoot opens the folder of the list at path, in the loop folder or below the
// project's root.
func (s *Store) listRoot(path string) (root *os.Root, name string, err error) {
	return listRoot(path, []string{s.Loop.Dir, s.Loop.Project})
}

// listRoot opens the folder that holds the list at path and returns the list's base name.
// The path must be in one of the folders; links must not lead out of it.
func listRoot(path string, folders []string) (root *os.Root, name string, err error) {
	path, _ = features.SplitTag(path)
	for _, dir := range folders {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		root, err = openRoot(dir)
		if below := filepath.Dir(rel); err == nil && below != "." {
			defer root.Close()
			root, err = OpenFolder(root, below)
		}
		return root, filepath.Base(rel), err
	}
	return nil, "", fmt.Errorf("the list %s is outside the project %s", path, folders[len(folders)-1])
}

// Mark marks the features with these ids in the list at path as passing, or as not passing. was is the
// list in which the ids were found. The caller holds the lock. The first call copies the
// list to list.bak. If an agent edits the list meanwhile, Mark starts again with the
// agent's text.
func (s *Store) Mark(path string, was features.List, ids []string, passes bool) error {
	root, name, err := s.listRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := s.restoreFolder(); err != nil {
		return err
	}
	for range 5 {
		data, err := read(root, name, features.MaxBytes)
		if err != nil {
			return err
		}
		list, err := was.Reading.Parse(data)
		if err != nil {
			return err
		}
		edited, err := list.Mark(data, was, ids, passes)
		if err != nil {
			return err
		}
		if _, err := s.loop.Lstat(backupFile); errors.Is(err, fs.ErrNotExist) {
			if err := replace(s.loop, backupFile, data, 0o600, true, nil); err != nil {
				return err
			}
		}
		err = replace(root, name, edited, 0o644, true, unchanged(root, data))
		if !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return fmt.Errorf("%s: the list changes all the time; try again when nobody edits it", path)
}

// SweepList removes the temporary files that an edit of the list has left, as one that was killed: of the list
// at path. No other write cleans that folder. The caller holds the lock.
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
