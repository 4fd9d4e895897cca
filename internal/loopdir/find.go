// Package loopdir reads and writes a loop's files: it finds the loop's folder, locks it,
// loads its records and commits to them. It opens files through an os.Root, so that no
// link leads out of the intended folder. It reads regular files only.
package loopdir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The names of the files in a loop folder.
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
	maxPathBytes = 4096 // the largest file that holds a path
)

// Below is the path of the folder that holds a project's loops, relative to the
// project's root.
var Below = filepath.Join(".claude", "data", "ralph-loops")

// Where is the input of the search for a loop.
type Where struct {
	StateDir   string // the user's state folder; empty if there is none
	StateErr   error  // why there is no state folder
	LoopDir    string // the loop folder that a flag or a variable names, relative to the project; or empty
	Session    string
	ProjectDir string // the host's CLAUDE_PROJECT_DIR
	Cwd        string
	Home       string
}

// Loop is a loop that was found. The folder of a bound loop may be gone.
type Loop struct {
	Dir     string // absolute, links resolved
	Name    string
	Project string // the folder that holds the loop's .claude; without one, the host's project
	Bound   bool   // the loop was found by the session that works it

	stateDir string
	stateErr error  // why there is no state folder
	key      string // the name of the loop's folder below stateDir/loops
}

// StateDir returns the folder where state is kept outside of projects:
// $RALPH_STATE_DIR, or else the system's folder for the user's state.
func StateDir(getenv func(string) string) (string, error) {
	if dir := getenv("RALPH_STATE_DIR"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fmt.Errorf("RALPH_STATE_DIR is %q; want an absolute path", dir)
		}
		return filepath.Clean(dir), nil
	}
	base := userStateDir(getenv)
	if !filepath.IsAbs(base) {
		return "", errors.New("no folder for state: HOME is not set to an absolute path; " +
			"set it, or RALPH_STATE_DIR to a folder of yours")
	}
	return filepath.Join(base, "ralph-stop-hook"), nil
}

// Find returns the loop of a stop, or nil if there is none. It takes the first of these:
// the loop that LoopDir names, the loop that the session works, and the loop that
// `current` names (see Current).
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

// Marker begins the first line of a prompt that names a loop. The loop's folder follows,
// relative to the project's root: "ralph-loop: .claude/data/ralph-loops/checkout".
const Marker = "ralph-loop: "

// Marked returns the loop that a prompt names, or nil if it names none.
func (w Where) Marked(prompt string) (*Loop, error) {
	line, _, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(prompt, "\ufeff"), "\r\n"), "\n")
	folder, ok := strings.CutPrefix(strings.TrimSpace(line), Marker)
	if !ok || path.Dir(folder) != filepath.ToSlash(Below) {
		return nil, nil
	}
	return w.Named(path.Base(folder))
}

// Own returns the loop that the session works, or nil if there is none. The loop's folder
// may be gone. It is an error if the folder is now a link to another place, or one that
// Check refuses. The loop beside the error may only be used by its record; see OpenRecord.
func (w Where) Own() (*Loop, error) {
	if w.StateDir == "" || !ValidSession(w.Session) {
		return nil, nil
	}
	data, err := ReadFile(filepath.Join(w.StateDir, "sessions"), w.Session, maxPathBytes)
	dir := strings.TrimRight(string(data), "\r\n")
	if err != nil || !filepath.IsAbs(dir) {
		return nil, nil
	}
	return w.Recorded(dir)
}

// Recorded is Own for the loop whose record names the folder dir.
func (w Where) Recorded(dir string) (*Loop, error) {
	l := w.at(dir)
	l.Bound = true
	return l, l.inPlace()
}

// inPlace refuses a folder that Check refuses, but for one that is gone.
func (l *Loop) inPlace() error {
	if err := l.Check(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// project returns the host's project or, if the host does not name one, the working folder.
func (w Where) project() string {
	if filepath.IsAbs(w.ProjectDir) {
		return filepath.Clean(w.ProjectDir)
	}
	return w.Cwd
}

// upwards calls found for the host's project and each folder above it, until found returns
// true. It stops at the repository's root and at HOME. Then it does the same from the
// working folder. In a worktree, it calls found for the main tree too.
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

// open returns the loop in an existing folder. It refuses a folder that Check refuses.
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

// at returns the loop of the folder dir. The folder need not exist.
func (w Where) at(dir string) *Loop {
	sum := sha256.Sum256([]byte(dir))
	l := &Loop{
		Dir: dir, Name: filepath.Base(dir), Project: w.project(),
		stateDir: w.StateDir, stateErr: w.StateErr, key: hex.EncodeToString(sum[:10]),
	}
	if project, ok := strings.CutSuffix(filepath.Dir(dir), string(filepath.Separator)+Below); ok {
		l.Project = project
	}
	return l
}

// Check refuses a loop whose folder somebody else could have written, has a name that no loop may
// have, or is not the one that was found: an agent may have put a link there meanwhile.
func (l *Loop) Check() error {
	if err := checkFolder(l.Name); err != nil {
		return fmt.Errorf("loop folder: %w; rename it", err)
	}
	real, err := filepath.EvalSymlinks(l.Dir)
	if err != nil {
		return fmt.Errorf("loop folder: %w", err)
	}
	if real != l.Dir {
		return fmt.Errorf("the loop folder %s is a link to %s now; put the folder itself there", l.Dir, real)
	}
	info, err := os.Stat(l.Dir)
	if err != nil {
		return fmt.Errorf("loop folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder; a loop is a folder with %s in it", l.Dir, ListFile)
	}
	return checkOwner(info, l.Dir, l.Project)
}

// ValidSession reports whether a session id is safe as the name of a file. The host's ids
// are UUIDs. An id with other characters could be a path out of the folder, and one that
// begins with "-" a flag.
func ValidSession(id string) bool {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return id != "" && id[0] != '-' && len(id) <= 128 && strings.Trim(id, safe) == ""
}

// checkFolder refuses the name of a folder that is no loop, since advice and verbs would
// have the name: one that is read as a flag, or that does not show what it is.
func checkFolder(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
		return fmt.Errorf("%q is not a name for a loop", name)
	case strings.HasPrefix(name, "-"):
		return fmt.Errorf("the name \"%s\" begins with '-'", plain.Visible(name))
	case plain.Visible(name) != name:
		return fmt.Errorf("the name \"%s\" has control characters, or others that do not show", plain.Visible(name))
	}
	return nil
}

// CheckName refuses a name that cannot be the name of a loop folder on every system.
func CheckName(name string) error {
	if err := checkFolder(name); err != nil {
		return err
	}
	switch {
	case len(name) > 100:
		return fmt.Errorf("the name %.20q… is longer than 100 bytes", name)
	case name == current:
		return fmt.Errorf("the name %q is taken: it points at the loop in use", name)
	case strings.ContainsAny(name, `/\:*?"<>|`), strings.HasSuffix(name, "."),
		strings.TrimSpace(name) != name, strings.Contains(name, ".."):
		return fmt.Errorf("the name %q has characters that a folder cannot have on every system", name)
	}
	return nil
}
