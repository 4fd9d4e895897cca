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
	l, err := w.open(filepath.Join(dir, Below, name))
	return w.unlinked(dir, l, err)
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
	l, err := w.open(filepath.Join(dir, Below, only))
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
