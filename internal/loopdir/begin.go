package loopdir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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

// The file of the state folder that says which sessions were told of a loop that has no
// record, and how many of them it keeps.
const (
	toldFile = "told"
	maxTold  = 200
)

// TellOnce reports whether the session should be told of the loop, which has no record, and
// records that it was. Where that cannot be recorded, it is told each time.
func (l *Loop) TellOnce(session string) bool {
	root, err := makeRoot(l.stateDir, 0o700)
	if err != nil {
		return true
	}
	defer root.Close()
	data, _ := read(root, toldFile, maxTold*400)
	told := strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' })
	line := session + " " + l.key
	if slices.Contains(told, line) {
		return false
	}
	told = append(told[max(0, len(told)-maxTold+1):], line)
	_ = Replace(root, toldFile, []byte(strings.Join(told, "\n")+"\n"), 0o600)
	return true
}
