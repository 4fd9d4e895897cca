package loopdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Remains returns the paths in the state folder that belong to a project's loops: their
// records, also those of loops that are gone, and the files of the sessions that worked
// them. It refuses a project in which a folder above the loops is a link.
func (w Where) Remains(project string) (paths []string, err error) {
	if w.StateErr != nil {
		return nil, w.StateErr
	}
	if link := linkTo(project, filepath.Dir(Below)); link != "" {
		return nil, fmt.Errorf("%s is a link; what is below it is not removed; take it away first, or remove the loops "+
			"yourself", link)
	}
	below := filepath.Join(project, Below) + string(filepath.Separator)
	add := func(path string) {
		if _, err := os.Lstat(path); err == nil && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	folders, err := os.ReadDir(below)
	for _, folder := range folders { // by path, because a broken record names no loop
		add(w.at(below + folder.Name()).StatePath())
	}
	for dir, names := range map[string]func(dir, name string) string{
		RecordsFolder(w.StateDir): func(dir, name string) string {
			s := Store{Loop: &Loop{stateDir: w.StateDir, key: name}}
			if s.openState(false) != nil {
				return ""
			}
			defer s.Close()
			state, _ := s.State() // a record that cannot be read names no loop
			return state.Loop
		},
		SessionsFolder(w.StateDir): func(dir, name string) string {
			data, _ := ReadFile(dir, name, maxPathBytes)
			return string(data)
		},
	} {
		entries, unread := os.ReadDir(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = unread
		}
		for _, entry := range entries {
			if strings.HasPrefix(names(dir, entry.Name()), below) {
				add(filepath.Join(dir, entry.Name()))
			}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.Sort(paths)
	return paths, err
}

// Purge removes a project's loops, the paths that Remains returned, and the folders above
// the loops that are then empty.
func (w Where) Purge(project string, remains []string) error {
	root, err := openRoot(project)
	if err != nil {
		return err
	}
	defer root.Close()
	err = root.RemoveAll(Below) // an os.Root follows no link out of the project
	for dir := filepath.Dir(Below); err == nil && dir != "."; dir = filepath.Dir(dir) {
		if root.Remove(dir) != nil {
			break // something else is in it
		}
	}
	if len(remains) == 0 {
		return err
	}
	state, unopened := openRoot(w.StateDir)
	if unopened != nil {
		return errors.Join(err, unopened)
	}
	defer state.Close()
	for _, path := range remains {
		rel, elsewhere := filepath.Rel(w.StateDir, path)
		if elsewhere == nil {
			elsewhere = state.RemoveAll(rel)
		}
		err = errors.Join(err, elsewhere)
	}
	return err
}

// RemoveAll removes a folder, also one with folders that cannot be written, as package managers make them.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
