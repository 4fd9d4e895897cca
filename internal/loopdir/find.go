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
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The names of the files in a loop folder.
const (
	ListFile     = "feature_list.json"
	ProgressFile = "progress.txt"
	PromptFile   = "RALPH_PROMPT.md"
	ConfigFile   = "ralph.json"
	HookLog      = "hook.log"
	StopLog      = "stops.jsonl"
	CheckLines   = "checks.jsonl"
	ChecksLog    = "checks.log" // for people; nothing reads it
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
	Holder     string // what the session's client works as until its session is known; or empty
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
		return w.named(dir)
	}
	if l, err := w.SessionLoop(); l != nil || err != nil {
		return l, err
	}
	return w.Current()
}

// Exists reports whether there is something at a path, be it a link to nothing. What cannot be looked at counts: no
// file is made in its place, and who reads it gets the error.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return !Absent(err)
}

// Absent reports whether an error means that there is no such file.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) || errors.Is(err, syscall.ENOTDIR)
}

// IsEditorFile reports whether a program keeps a file beside one that a person opens, only to look at it too: vim's
// swap file, the link of Emacs to a process, not to a file, and the view of a folder in Finder. An agent can make such
// a file, so these are only names that no wildcard of a shell and hardly a runner of tests finds. Other files of
// editors, such as NAME~, count: the wildcard of a shell or of make in "tests/*" finds them.
func IsEditorFile(path string, kind fs.FileMode) bool {
	name := filepath.Base(path)
	if kind&fs.ModeSymlink != 0 {
		process, _ := os.Readlink(path) // USER@HOST.PID
		_, err := os.Stat(path)
		return strings.HasPrefix(name, ".#") && Absent(err) && !strings.Contains(process, "/")
	}
	swap, _ := filepath.Match(".?*.sw[a-p]", name) // the pattern is valid
	return kind.IsRegular() && (name == ".DS_Store" || swap)
}

// Marker begins the first line of a prompt that names a loop. The loop's folder follows,
// relative to the project's root: "ralph-loop: .claude/data/ralph-loops/checkout".
const Marker = "ralph-loop: "

// PromptLoop returns the loop that a prompt names, or nil if it names none.
func (w Where) PromptLoop(prompt string) (*Loop, error) {
	name, _ := CutMarker(prompt)
	if name == "" {
		return nil, nil
	}
	return w.Named(name)
}

// CutMarker returns the name of the loop that a prompt names, "" for none, and the prompt without the line that does.
func CutMarker(prompt string) (name, text string) {
	line, text, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(prompt, "\ufeff"), "\r\n"), "\n")
	folder, ok := strings.CutPrefix(strings.TrimSpace(line), Marker)
	if !ok || path.Dir(folder) != filepath.ToSlash(Below) {
		return "", prompt
	}
	return path.Base(folder), text
}

// Marker returns the first line of a prompt that names the loop. No search finds one that is elsewhere by its name.
func (l *Loop) Marker() string {
	if !l.Below() {
		return Marker + filepath.ToSlash(l.Dir)
	}
	return Marker + filepath.ToSlash(filepath.Join(Below, l.Name))
}

// Mark returns a prompt that names the loop: a person may have put something before the line that does. The prompt of a
// loop that is elsewhere stays as it is.
func (l *Loop) Mark(prompt string) string {
	name, _ := CutMarker(prompt)
	if name == l.Name || !l.Below() && prompt != "" {
		return prompt
	}
	return l.Marker() + "\n\n" + prompt
}

// SessionLoop returns the loop that the session works, or nil if there is none. The loop's folder
// may be gone. It is an error if the folder is now a link to another place, or one that
// Check refuses. The loop beside the error may only be used by its record; see OpenRecord.
func (w Where) SessionLoop() (*Loop, error) {
	for _, session := range []string{w.Session, w.Holder} {
		if w.StateDir == "" || !ValidSession(session) {
			continue
		}
		data, err := ReadFile(SessionsFolder(w.StateDir), session, maxPathBytes)
		if dir := strings.TrimRight(string(data), "\r\n"); err == nil && filepath.IsAbs(dir) {
			return w.Recorded(dir)
		}
	}
	return nil, nil
}

// withKey returns the folder of the loop that has that state folder, as a session knows it; "": none does.
func (w Where) withKey(key string) string {
	sessions, _ := os.ReadDir(SessionsFolder(w.StateDir))
	for _, session := range sessions {
		w.Session = session.Name()
		if l, _ := w.SessionLoop(); l != nil && l.key == key {
			return l.Dir
		}
	}
	return ""
}

// Recorded is SessionLoop for the loop whose record names the folder dir.
func (w Where) Recorded(dir string) (*Loop, error) {
	l := w.at(dir)
	l.Bound = true
	if err := l.Check(); !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	return l, nil
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

// named returns the loop in a folder that a person names. If it has a record, the folder may be gone: so a person ends
// a loop that somebody has moved.
func (w Where) named(dir string) (*Loop, error) {
	if l := w.at(filepath.Clean(dir)); l.IsMissing() && Exists(filepath.Join(l.StatePath(), stateFile)) {
		return l, nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("loop folder: %w", err)
	}
	real, err = filepath.Abs(real)
	if err != nil {
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

// Below reports whether the loop is where a project's loops are, so that its folder tells its project.
func (l *Loop) Below() bool { return l.Dir == filepath.Join(l.Project, Below, l.Name) }

// Check refuses a loop whose folder somebody else could have written, has a name that no loop may
// have, or is not the one that was found: an agent may have put a link there meanwhile.
func (l *Loop) Check() error {
	if err := checkFolder(l.Name); err != nil {
		return fmt.Errorf("loop folder: %w; rename it", err)
	}
	real, err := filepath.EvalSymlinks(l.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the loop folder is gone: %w", err)
		if l.Restorable() {
			err = fmt.Errorf("%w; 'ralph-stop-hook init %s' in its project creates it again", err, plain.Arg(l.Name))
		}
		err = fmt.Errorf("%w; if you moved it, start it there with 'ralph-stop-hook resume' and end it here", err)
		return &Fix{err, "RALPH_LOOP_DIR=" + plain.Arg(l.Dir) + " ralph-stop-hook cancel"}
	}
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

// IsMissing reports whether the loop's folder is not there any more: somebody moved or deleted it.
func (l *Loop) IsMissing() bool { return !Exists(l.Dir) }

// Restorable reports whether the loop's folder alone is gone, and not its project, as after 'git clean -fdx'.
func (l *Loop) Restorable() bool { return l.IsMissing() && l.Below() && Exists(l.Project) }

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
	case plain.Line(name, len(name)) != name:
		return fmt.Errorf("the name %q has spaces that do not show", name)
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
	if _, err := os.Lstat(filepath.Dir(path)); Absent(err) {
		return nil, nil
	}
	if w.foreign(dir) {
		return nil, nil
	}
	if _, err := os.Lstat(path); Absent(err) {
		return w.onlyIn(dir)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, pointsNowhere(path)
	case err != nil:
		return nil, err
	case info.IsDir():
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		if below, _ := filepath.EvalSymlinks(filepath.Dir(path)); filepath.Dir(real) != below {
			return nil, fmt.Errorf("%s leads to %s; it may only name a folder beside it", path, real)
		}
		return w.in(dir, filepath.Base(real))
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
	if !Exists(filepath.Join(filepath.Dir(path), name)) {
		return nil, pointsNowhere(path)
	}
	return w.in(dir, name)
}

func pointsNowhere(current string) error {
	return fmt.Errorf("%s points to a loop folder that is not there; 'ralph-stop-hook use NAME' names another, "+
		"'ralph-stop-hook init' makes one", current)
}

// foreign reports whether somebody else made a part of the way to dir's loops, as another user can in /tmp. What it
// leads to is nothing to this session, not even an error.
func (w Where) foreign(dir string) bool {
	parts := []string{".claude", filepath.Join(".claude", "data"), Below, filepath.Join(Below, current)}
	return slices.ContainsFunc(parts, func(part string) bool {
		info, err := os.Lstat(filepath.Join(dir, part))
		return err == nil && foreign(info, w.project())
	})
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
	return w.in(dir, only)
}

// in returns the loop of that name in the folder of dir's loops.
func (w Where) in(dir, name string) (*Loop, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	l := w.at(filepath.Join(real, Below, name))
	return l, l.Check()
}

// looksLikeLoop reports whether a folder has one of the files that make a loop.
func looksLikeLoop(dir string) bool {
	return slices.ContainsFunc([]string{ProgressFile, ListFile, ConfigFile, PromptFile}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// CanFind refuses a new loop of the project dir that no search from there would find: a link is on the way to it.
func CanFind(dir string) error {
	if link := linkTo(dir, Below); link != "" {
		return fmt.Errorf("%s is a link; put a folder in its place, with links in it to what you share", link)
	}
	return nil
}

// linkTo returns a link on the way from a project to a folder below it, or "".
func linkTo(project, below string) string {
	for ; below != "."; below = filepath.Dir(below) {
		path := filepath.Join(project, below)
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return path
		}
	}
	return ""
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
	var names []string
	for _, l := range loops {
		if l.Name == name {
			return l, l.Check()
		}
		names = append(names, l.Name)
	}
	if near := jsontext.Nearest(name, names); near != "" {
		return nil, fmt.Errorf("no loop %q in this project; did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("no loop %q in this project; 'ralph-stop-hook status --all' lists them", name)
}

// All returns the loops of the project that w is in. It does not check who could have
// written them; see Check.
func (w Where) All() (loops []*Loop, err error) {
	w.upwards(func(dir string) bool {
		entries, missing := os.ReadDir(filepath.Join(dir, Below))
		if missing != nil || w.foreign(dir) {
			return false
		}
		dir, err = filepath.EvalSymlinks(dir)
		if err != nil {
			return true
		}
		for _, entry := range entries {
			// A link is not a folder here, so `current` is counted only if it is itself a loop folder.
			if entry.IsDir() && checkFolder(entry.Name()) == nil {
				loops = append(loops, w.at(filepath.Join(dir, Below, entry.Name())))
			}
		}
		return true
	})
	return loops, err
}

// WithoutFolder returns the loops of the project that are not over, though their folder is gone: somebody deleted or
// moved it.
func (w Where) WithoutFolder() (loops []*Loop) {
	known, _ := w.Known() // one that cannot be read is not known
	w.upwards(func(dir string) bool {
		loops = slices.DeleteFunc(slices.Clone(known), func(l *Loop) bool {
			return !l.IsMissing() || !l.Below() || !SameFile(l.Project, dir)
		})
		return len(loops) > 0
	})
	return loops
}

// Known returns every loop that has a record in the state folder. It leaves out a loop that is over and whose folder
// is gone.
func (w Where) Known() (loops []*Loop, err error) {
	if w.StateErr != nil {
		return nil, w.StateErr
	}
	entries, err := os.ReadDir(RecordsFolder(w.StateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		s := Store{Loop: &Loop{stateDir: w.StateDir, key: entry.Name()}}
		var state decide.State
		err := s.openState(false)
		if err == nil {
			state, err = s.State()
		}
		asked := s.HasRequest(RequestCancel)
		s.Close()
		dir := state.Loop
		if err != nil {
			dir = w.withKey(entry.Name())
		}
		// The key is made of the loop's path. A record under another key is not valid.
		l := w.at(dir)
		over := asked || err == nil && state.Status != decide.InProgress && state.Status != decide.Paused
		if l.key == entry.Name() && checkFolder(l.Name) == nil && !(over && l.IsMissing()) {
			loops = append(loops, l)
		}
	}
	return loops, err
}

// WorkedSince reports whether a session may have worked since then on a loop below a folder, other than this one. The
// records say so, also if an agent has deleted a loop's folder.
func (w Where) WorkedSince(then time.Time, folder string, but *Loop) bool {
	entries, err := os.ReadDir(RecordsFolder(w.StateDir))
	if err != nil {
		return true
	}
	for _, entry := range entries {
		s := Store{Loop: &Loop{stateDir: w.StateDir, key: entry.Name()}}
		var state decide.State
		err := s.openState(false)
		if err == nil {
			state, err = s.State()
		}
		s.Close()
		dir := state.Loop
		if err != nil {
			dir = w.withKey(entry.Name())
		}
		rel, outside := filepath.Rel(folder, dir)
		if outside != nil || !filepath.IsLocal(rel) || entry.Name() == but.key {
			continue
		}
		ended := state.Status != decide.InProgress && !state.EndedAt.IsZero() && state.EndedAt.Before(then)
		if err != nil || !state.StartedAt.IsZero() && !ended {
			return true
		}
	}
	return false
}

// InProject reports whether the search from the host's project finds the loop, which may
// be in a folder above it, and that no stranger to the project owns it. A loop
// that a flag or a variable names is where it was named.
func (w Where) InProject(l *Loop) bool {
	if w.LoopDir != "" {
		return true
	}
	w.Cwd = w.project() // which the working folder may have left
	at, err := w.Current()
	if err != nil || at == nil || at.Dir != l.Dir {
		return false
	}
	info, err := os.Stat(l.Dir)
	return err == nil && checkOwner(info, l.Dir, w.Cwd) == nil
}

// fetched are the names of folders into which package managers put what others wrote.
var fetched = []string{
	"node_modules", "bower_components", "jspm_packages", "vendor", "third_party", "site-packages", "dist-packages",
	".venv", "venv", ".tox", ".nox", "Pods", "Carthage", ".cargo", ".rustup", ".m2", ".gradle", ".bundle", ".pub-cache",
	"deps", "elm-stuff", ".yarn", ".pnpm-store", ".terraform",
}

// Dependency reports whether the loop's project is in the folder of a dependency. If the
// host names no project, it also reports true for a repository within another one, such as a
// submodule: the working folder may just have been moved there.
func (w Where) Dependency(l *Loop) bool {
	below := l.Project
	if rel, err := filepath.Rel(w.Home, below); err == nil && filepath.IsLocal(rel) {
		below = rel
	}
	for _, name := range strings.Split(filepath.ToSlash(below), "/") {
		if slices.Contains(fetched, name) {
			return true
		}
	}
	if filepath.IsAbs(w.ProjectDir) {
		return false
	}
	root := RepoRoot(l.Project)
	if root == "" || root == filepath.Dir(root) {
		return false
	}
	outer := RepoRoot(filepath.Dir(root))
	return outer != "" && outer != w.Home && mainTree(root) != outer
}

// The folder of the state folder that has an empty file for each time a session was told something once, and how many
// of them it keeps.
const (
	messagesFolder = "told-once"
	maxMessages    = 200
)

// FirstTime reports whether a session should hear of what the loop waits for, and records that it did. If that cannot
// be written, it hears of it each time.
func (l *Loop) FirstTime(session string) bool {
	root, err := makeRoot(filepath.Join(l.stateDir, messagesFolder), 0o700)
	if err != nil {
		return true
	}
	defer root.Close()
	sum := sha256.Sum256([]byte(session + " " + l.key))
	f, err := root.OpenFile(hex.EncodeToString(sum[:10]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	f.Close()
	forgetOldest(root)
	return true
}

// forgetOldest removes what was told first, so that the folder does not grow for ever.
func forgetOldest(root *os.Root) {
	told, err := fs.ReadDir(root.FS(), ".")
	if err != nil || len(told) <= maxMessages {
		return
	}
	since := func(entry fs.DirEntry) time.Time {
		info, err := entry.Info()
		if err != nil {
			return time.Now() // somebody else removed it
		}
		return info.ModTime()
	}
	oldest := slices.MinFunc(told, func(a, b fs.DirEntry) int { return since(a).Compare(since(b)) })
	_ = root.Remove(oldest.Name())
}
