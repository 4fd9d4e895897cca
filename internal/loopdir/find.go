// Package loopdir is the disk: it finds a loop's folder, locks it, loads it and
// commits to it. Everything is opened through an os.Root, so that no link leads
// out of the folders that are meant, and only regular files are believed.
package loopdir

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The names in a loop folder, and where loops are kept below a project's root.
const (
	ListFile     = "feature_list.json"
	ProgressFile = "progress.txt"
	PromptFile   = "RALPH_PROMPT.md"
	ConfigFile   = "ralph.json"
	HookLog      = "hook.log"
	IterationLog = "iterations.jsonl"
	ChecksLog    = "checks.log"
	IgnoreFile   = ".gitignore"

	current      = "current"
	maxPathBytes = 4096 // of a path that is kept in a file
)

// Below is where the loops of a project are, below its root.
var Below = filepath.Join(".claude", "data", "ralph-loops")

// Where is what the search for a loop starts from.
type Where struct {
	StateDir   string // the user's state folder; empty where there is none
	StateErr   error  // why there is none
	LoopDir    string // named outright, by flag or environment; relative to Project
	Session    string
	ProjectDir string // the host's CLAUDE_PROJECT_DIR
	Cwd        string
	Home       string
}

// Loop is a loop that was found. Its folder may be gone if a session is bound to it.
type Loop struct {
	Dir     string // absolute, links resolved
	Name    string
	Project string // the folder that holds its .claude; else the host's project
	Bound   bool   // found through the session that works it

	stateDir string
	stateErr error // why there is none
	key      string
}

// StateDir returns the folder where state is kept outside of projects:
// $RALPH_STATE_DIR, else the system's per-user state folder.
func StateDir(getenv func(string) string) (string, error) {
	if dir := getenv("RALPH_STATE_DIR"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("RALPH_STATE_DIR is %q; want an absolute path", dir)
		}
		return filepath.Clean(dir), nil
	}
	base := userStateDir(getenv)
	if !filepath.IsAbs(base) {
		return "", errors.New("no folder for state: HOME is not set to an absolute path; set it, or RALPH_STATE_DIR to a folder of yours")
	}
	return filepath.Join(base, "ralph-stop-hook"), nil
}

// Find returns the loop that a stop belongs to, or nil: the one named
// outright, else the session's own, else `current`, upwards from the host's
// project, and only if that finds none upwards from the working folder.
func Find(w Where) (*Loop, error) {
	if w.LoopDir != "" {
		dir := w.LoopDir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(w.project(), dir)
		}
		return w.open(dir)
	}
	if l, err := w.Own(); l != nil || err != nil {
		return l, err
	}
	return w.Current()
}

// Marker begins the first line of a prompt that names a loop, by its folder below
// the project's root: "ralph-loop: .claude/data/ralph-loops/checkout".
const Marker = "ralph-loop: "

// Marked returns the loop that a prompt names, nil where it names none.
func (w Where) Marked(prompt string) (*Loop, error) {
	line, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(prompt, "\ufeff"), "\r\n"), "\n")
	folder, ok := strings.CutPrefix(strings.TrimSpace(line), Marker)
	if !ok || path.Dir(folder) != filepath.ToSlash(Below) {
		return nil, nil
	}
	if name := path.Base(folder); name != current {
		return w.Named(name)
	}
	return w.Current()
}

// Own returns the loop that the session works, nil where there is none. Its folder
// may be gone, but not have become a link to another place.
func (w Where) Own() (*Loop, error) {
	if w.StateDir == "" || !ValidSession(w.Session) {
		return nil, nil
	}
	data, err := ReadFile(filepath.Join(w.StateDir, "sessions"), w.Session, maxPathBytes)
	dir := strings.TrimRight(string(data), "\r\n")
	if err != nil || !filepath.IsAbs(dir) {
		return nil, nil
	}
	l := w.at(dir)
	l.Bound = true
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return nil, fmt.Errorf("loop folder: %w", err)
	case real != dir:
		return nil, fmt.Errorf("the loop folder %s is a link to %s now; put the folder itself there", dir, real)
	}
	return l, l.Check()
}

// Current returns the loop of `current`, whatever the session works.
func (w Where) Current() (l *Loop, err error) {
	w.upwards(func(dir string) bool {
		l, err = w.currentIn(dir)
		return l != nil || err != nil
	})
	return l, err
}

func (w Where) project() string {
	if filepath.IsAbs(w.ProjectDir) {
		return filepath.Clean(w.ProjectDir)
	}
	return w.Cwd
}

// ValidSession tells whether a session id can be a file's name. The host's are
// UUIDs; anything else would be a path that somebody made up.
func ValidSession(id string) bool {
	return id != "" && len(id) <= 128 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// upwards looks in the host's project and the folders above it until found is
// true, never above the repository's root or HOME; then the same from the
// working folder. A worktree that has no loops uses its main tree's.
func (w Where) upwards(found func(dir string) bool) {
	for _, dir := range slices.Compact([]string{w.project(), w.Cwd}) {
		for ; ; dir = filepath.Dir(dir) {
			if found(dir) {
				return
			}
			git, err := os.Lstat(filepath.Join(dir, ".git"))
			if err == nil && git.Mode().IsRegular() {
				if main := mainTree(dir); main != "" && found(main) {
					return
				}
			}
			if err == nil || dir == w.Home || filepath.Dir(dir) == dir {
				break
			}
		}
	}
}

// RepoRoot returns the root of the repository that dir is in, or nothing.
func RepoRoot(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// MainRoot returns the root of the main tree of the repository that dir is in, or
// nothing.
func MainRoot(dir string) string {
	root := RepoRoot(dir)
	if git, err := os.Lstat(filepath.Join(root, ".git")); err == nil && git.Mode().IsRegular() {
		return cmp.Or(mainTree(root), root)
	}
	return root
}

// mainTree returns the main tree of the worktree at dir, or nothing. A
// worktree's .git is a file "gitdir: MAIN/.git/worktrees/NAME".
func mainTree(dir string) string {
	data, err := ReadFile(dir, ".git", maxPathBytes)
	path, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	worktrees := filepath.Dir(filepath.FromSlash(path))
	if filepath.Base(worktrees) != "worktrees" || filepath.Base(filepath.Dir(worktrees)) != ".git" {
		return ""
	}
	return filepath.Dir(filepath.Dir(worktrees))
}

// currentIn returns the loop that dir's `current` names, or nil.
func (w Where) currentIn(dir string) (*Loop, error) {
	path := filepath.Join(dir, Below, current)
	// Asked first because most projects have no loop, and this is all that
	// their stops then cost.
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return nil, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s points to a loop folder that is not there; run 'ralph-stop-hook init' or remove it", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		l, err := w.open(path)
		if below, real := filepath.EvalSymlinks(filepath.Join(dir, Below)); err == nil && (real != nil || filepath.Dir(l.Dir) != below) {
			return nil, fmt.Errorf("%s leads to %s; it may only name a folder beside it", path, l.Dir)
		}
		return l, err
	}
	// A one-line file, where links cannot be made.
	data, err := ReadFile(filepath.Dir(path), current, maxPathBytes)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSpace(string(data))
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w.open(filepath.Join(dir, Below, name))
}

// open returns the loop in an existing folder, after a look at whose it is.
func (w Where) open(dir string) (*Loop, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("loop folder: %w", err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	l := w.at(real)
	return l, l.Check()
}

// at returns the loop of the folder dir, which need not be there.
func (w Where) at(dir string) *Loop {
	sum := sha256.Sum256([]byte(dir))
	l := &Loop{Dir: dir, Name: filepath.Base(dir), Project: w.project(), stateDir: w.StateDir, stateErr: w.StateErr, key: hex.EncodeToString(sum[:10])}
	if project, ok := strings.CutSuffix(filepath.Dir(dir), string(filepath.Separator)+Below); ok {
		l.Project = project
	}
	return l
}

// CheckName refuses a name that cannot be one folder below the others.
func CheckName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%q is no name for a loop", name)
	case len(name) > 100:
		return fmt.Errorf("the name %.20q… is longer than 100 bytes", name)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("the name %q begins with '-'", name)
	case name == current:
		return fmt.Errorf("the name %q is taken: it points at the loop in use", name)
	case strings.ContainsAny(name, `/\:*?"<>|`) || strings.HasSuffix(name, ".") || strings.TrimSpace(name) != name || strings.Contains(name, ".."):
		return fmt.Errorf("the name %q has characters that a folder cannot have on every system", name)
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }):
		return fmt.Errorf("the name %q has control characters", name)
	}
	return nil
}

// Named returns the loop of that name in the project that w is in.
func (w Where) Named(name string) (*Loop, error) {
	if err := CheckName(name); err != nil {
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

// All returns the loops of the project that w is in, without a look at whose
// they are; see Check.
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
			// `current` may itself be a loop folder; as a link it is a second name.
			if entry.IsDir() {
				loops = append(loops, w.at(filepath.Join(dir, entry.Name())))
			}
		}
		return true
	})
	return loops, err
}

// Known returns every loop that has a record in the state folder and whose
// folder is still there.
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
		// A record is found by its loop, so one that names another is none.
		if l := w.at(state.Loop); err == nil && l.key == entry.Name() {
			if _, err := os.Lstat(l.Dir); err == nil {
				loops = append(loops, l)
			}
		}
	}
	return loops, err
}

// Check refuses a loop whose folder somebody else could have written.
func (l *Loop) Check() error {
	info, err := os.Stat(l.Dir)
	if err != nil {
		return fmt.Errorf("loop folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder; a loop is a folder with %s in it", l.Dir, ListFile)
	}
	return checkOwner(info, l.Dir, l.Project)
}

// MakeCurrent points the project's `current` at the loop: a link, or a
// one-line file where links cannot be made.
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
	// Renamed into place, so that there is one at every moment.
	temp := "." + current + ".new"
	_ = root.Remove(temp) // of an init that was killed
	if err := root.Symlink(l.Name, temp); err == nil {
		err := root.Rename(temp, current)
		if err != nil && runtime.GOOS == "windows" { // which keeps a link that is there
			err = errors.Join(root.Remove(current), root.Rename(temp, current))
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // somebody else's, made in this moment, is as good
		case err != nil:
			_ = root.Remove(temp)
			return err
		}
		return syncDir(d)
	}
	if missing == nil && !info.Mode().IsRegular() {
		_ = root.Remove(current) // it may still be replaced by a file
	}
	return Replace(root, current, []byte(l.Name+"\n"), 0o644)
}
