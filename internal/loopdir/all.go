package loopdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Named returns the loop with the given name in the project that w is in. A loop folder
// may itself be `current`.
func (w Where) Named(name string) (*Loop, error) {
	if name == current {
		if l, err := w.Current(); l != nil || err != nil {
			return l, err
		}
	} else if err := CheckName(name); err != nil {
		return nil, err
	}
	loops, err := w.All()
	if err != nil {
		return nil, err
	}
	for _, l := range loops {
		if l.Name == name {
			return l, l.Check()
		}
	}
	return nil, fmt.Errorf("no loop %q in this project; 'ralph-stop-hook status --all' lists them", name)
}

// All returns the loops of the project that w is in. It does not check who could have
// written them; see Check.
func (w Where) All() (loops []*Loop, err error) {
	w.upwards(func(dir string) bool {
		entries, missing := os.ReadDir(filepath.Join(dir, Below))
		if missing != nil {
			return false
		}
		if dir, err = filepath.EvalSymlinks(filepath.Join(dir, Below)); err != nil {
			return true
		}
		for _, entry := range entries {
			// A link is not a folder here, so `current` is counted only if it is itself a loop folder.
			if entry.IsDir() && checkFolder(entry.Name()) == nil {
				loops = append(loops, w.at(filepath.Join(dir, entry.Name())))
			}
		}
		return true
	})
	return loops, err
}

// Known returns every loop that has a record in the state folder and whose loop folder
// still exists.
func (w Where) Known() (loops []*Loop, err error) {
	if w.StateErr != nil {
		return nil, w.StateErr
	}
	entries, err := os.ReadDir(filepath.Join(w.StateDir, "loops"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		s := Store{Loop: &Loop{stateDir: w.StateDir, key: entry.Name()}}
		if s.openState(false) != nil {
			continue
		}
		state, err := s.State()
		s.Close()
		// The key is made of the loop's path. A record under another key is not valid.
		if l := w.at(state.Loop); err == nil && l.key == entry.Name() && checkFolder(l.Name) == nil {
			if _, err := os.Lstat(l.Dir); err == nil {
				loops = append(loops, l)
			}
		}
	}
	return loops, err
}
