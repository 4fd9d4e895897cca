package loopdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Current returns the loop that `current` names, or nil. A project with a single loop needs no
// `current`. The search goes upwards from the host's project, and then from the working folder.
func (w Where) Current() (l *Loop, err error) {
	w.upwards(func(dir string) bool {
		l, err = w.currentIn(dir)
		return l != nil || err != nil
	})
	return l, err
}

// currentIn returns the loop that dir's `current` names or, without `current`, the only loop
// that dir has; or nil.
func (w Where) currentIn(dir string) (*Loop, error) {
	path := filepath.Join(dir, Below, current)
	// Most projects have no loop. Their stops should do no more than this look-up.
	if _, err := os.Lstat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return nil, nil
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return w.onlyIn(dir)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s points to a loop folder that is not there; 'ralph-stop-hook use NAME' names another, "+
			"'ralph-stop-hook init' makes one", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		l, err := w.open(path)
		below, unresolved := filepath.EvalSymlinks(filepath.Join(dir, Below))
		if err == nil && (unresolved != nil || filepath.Dir(l.Dir) != below) {
			return nil, fmt.Errorf("%s leads to %s; it may only name a folder beside it", path, l.Dir)
		}
		return w.unlinked(dir, l, err)
	}
	// Where links cannot be made, `current` is a file of one line.
	data, err := ReadFile(filepath.Dir(path), current, maxPathBytes)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(string(data))
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w.beside(dir, name)
}

// onlyIn returns the loop of dir if there is only one, or nil.
func (w Where) onlyIn(dir string) (*Loop, error) {
	only := ""
	entries, _ := os.ReadDir(filepath.Join(dir, Below)) // a file, say, is no folder of loops
	for _, entry := range entries {
		switch name := entry.Name(); {
		case !entry.IsDir() || checkFolder(name) != nil || !looksLikeLoop(filepath.Join(dir, Below, name)):
		case only != "":
			return nil, nil
		default:
			only = name
		}
	}
	if only == "" {
		return nil, nil
	}
	return w.beside(dir, only)
}

// beside returns the loop of that name in the folder of dir's loops.
func (w Where) beside(dir, name string) (*Loop, error) {
	l, err := w.open(filepath.Join(dir, Below, name))
	return w.unlinked(dir, l, err)
}

// looksLikeLoop reports whether a folder has one of the files that make a loop.
func looksLikeLoop(dir string) bool {
	return slices.ContainsFunc([]string{ProgressFile, ListFile, ConfigFile, PromptFile}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// unlinked refuses a loop that was found below dir if a link led to it out of dir, since
// somebody else may have made the link; and if a loop with a record was where the link is.
func (w Where) unlinked(dir string, l *Loop, err error) (*Loop, error) {
	if err != nil {
		return l, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	there := filepath.Join(dir, Below, l.Name)
	if there == l.Dir {
		return l, nil
	}
	if was := w.at(there); was.hasRecord() {
		return was, was.inPlace()
	}
	if rel, err := filepath.Rel(dir, l.Dir); err != nil || !filepath.IsLocal(rel) {
		return nil, fmt.Errorf("%s leads out of that folder, to %s; to work that loop from here, say --loop-dir or "+
			"RALPH_LOOP_DIR", filepath.Join(dir, Below), l.Dir)
	}
	return l, nil
}

// hasRecord reports whether the state folder knows the loop.
func (l *Loop) hasRecord() bool {
	_, err := os.Lstat(filepath.Join(l.StatePath(), stateFile))
	return err == nil
}

// MakeCurrent makes `current` name the loop. `current` is a link, or a file of one line
// where links cannot be made.
func (l *Loop) MakeCurrent() error {
	parent := filepath.Dir(l.Dir)
	root, err := openRoot(parent)
	if err != nil {
		return err
	}
	defer root.Close()
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	info, missing := root.Lstat(current)
	if missing == nil && info.IsDir() {
		return fmt.Errorf("%s is itself a loop folder; rename it to make room", filepath.Join(parent, current))
	}
	if target, err := root.Readlink(current); err == nil && target == l.Name {
		return nil
	}
	// A rename replaces `current` at once, so that it exists at every moment.
	temp := "." + current + ".new"
	_ = root.Remove(temp) // left by an init that was killed
	if err := root.Symlink(l.Name, temp); err == nil {
		err := root.Rename(temp, current)
		if err != nil && runtime.GOOS == "windows" { // Windows does not rename onto a link
			err = errors.Join(root.Remove(current), root.Rename(temp, current))
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // another process has renamed the same link
		case err != nil:
			_ = root.Remove(temp)
			return err
		}
		return syncDir(d)
	}
	if missing == nil && !info.Mode().IsRegular() {
		_ = root.Remove(current) // if that fails, Replace reports why
	}
	return Replace(root, current, []byte(l.Name+"\n"), 0o644)
}

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
