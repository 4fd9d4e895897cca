package suggest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	ignore "github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// What is read of a project.
const (
	maxEntries = 20_000   // of folders
	maxFolder  = 2000     // of one
	maxDepth   = 40       // of folders in each other
	maxFile    = 64 << 10 // bytes
	maxBytes   = 16 << 20 // of all files
)

// packageFolders hold what others wrote, foreignFolders what is of git and of the loop.
const (
	packageFolders = "node_modules bower_components .venv venv vendor deps"
	foreignFolders = ".git .hg .jj .claude .agent-state"
)

// tree is a project as far as it was read. Names are relative to the folder in which checks run, and may begin with
// "../". A root keeps them, and links, from leading out of the project.
type tree struct {
	root    *os.Root
	dir     string                   // in which checks run, from the project's top on
	paths   []string                 // of the project
	files   []string                 // that git does not ignore
	ignored []string                 // what git ignores, without what is below that, and packages
	rules   map[string]*ignore.Rules // of the folders with these paths from the top on
	texts   map[string]string
	bytes   int // in texts
}

func openTree(project, dir string) (*tree, error) {
	dir = path.Clean(dir)
	absolute, err := filepath.Abs(project)
	if err != nil || !fs.ValidPath(dir) {
		return nil, fs.ErrInvalid
	}
	final, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(final)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, dir: dir, paths: []string{absolute, final}, texts: map[string]string{}}
	exclude := ignore.ParseRules(t.read(path.Join(t.up(), ".git/info/exclude")), nil, 0)
	t.rules = map[string]*ignore.Rules{".": ignore.ParseRules(t.read(path.Join(t.up(), ".gitignore")), exclude, 0)}
	t.walk()
	return t, nil
}

// up is the name of the top.
func (t *tree) up() string {
	if t.dir == "." {
		return "."
	}
	return strings.Repeat("../", strings.Count(t.dir, "/")) + ".."
}

// local returns the path of a name for the root.
func (t *tree) local(name string) string { return filepath.FromSlash(path.Join(t.dir, name)) }

// walk finds files. There is a bound, so those of upper folders come first.
func (t *tree) walk() {
	queue := []string{"."}
	for count := 0; len(queue) > 0 && count < maxEntries; queue = queue[1:] {
		folder := queue[0]
		entries := t.entries(folder)
		count += len(entries)
		for _, entry := range entries {
			name := path.Join(folder, entry.Name())
			switch {
			case hasWord(foreignFolders, entry.Name()):
			case t.ignores(name, entry.IsDir()), hasWord(packageFolders, entry.Name()):
				t.ignored = append(t.ignored, name)
			case !entry.IsDir():
				t.files = append(t.files, name)
			case strings.Count(name, "/") < maxDepth:
				queue = append(queue, name)
			}
		}
	}
}

// entries returns what is in a folder, in order, up to a bound.
func (t *tree) entries(folder string) []os.DirEntry {
	if !t.isFolder(folder) {
		return nil
	}
	f, err := t.root.Open(t.local(folder))
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(maxFolder)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

func (t *tree) isFolder(name string) bool {
	info, err := t.root.Stat(t.local(name))
	return name != "" && err == nil && info.IsDir()
}

func (t *tree) isFile(name string) bool { return t.size(name) >= 0 }

// isFileOrLeadsOut reports whether there is a file, or a link that leads to none of the project.
func (t *tree) isFileOrLeadsOut(name string) bool {
	info, err := t.root.Lstat(t.local(name))
	isLink := err == nil && info.Mode()&fs.ModeSymlink != 0
	_, err = t.root.Stat(t.local(name))
	return t.isFile(name) || isLink && err != nil
}

// size returns the size of a file, or -1 if there is none, or a pipe, for which reading would wait.
func (t *tree) size(name string) int64 {
	info, err := t.root.Stat(t.local(name))
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// read returns the text of a file, or "" if there is none, it is large, or enough was read.
func (t *tree) read(name string) string {
	text, isThere := t.texts[name]
	if isThere {
		return text
	}
	size := t.size(name)
	if size <= 0 || size > maxFile || t.bytes > maxBytes {
		return ""
	}
	data, err := t.root.ReadFile(t.local(name))
	if err != nil {
		return ""
	}
	t.bytes += len(data)
	t.texts[name] = string(data)
	return string(data)
}

// rulesOf returns what git ignores in a folder, by its path from the top on.
func (t *tree) rulesOf(folder string) *ignore.Rules {
	r, known := t.rules[folder]
	if known || path.IsAbs(folder) || strings.HasPrefix(folder, "..") {
		return r
	}
	r = t.rulesOf(path.Dir(folder))
	if text := t.read(path.Join(t.up(), folder, ".gitignore")); text != "" {
		r = ignore.ParseRules(text, r, len(folder)+1)
	}
	t.rules[folder] = r
	return r
}

// ignores reports whether git ignores a file or folder, if it ignores none of the folders above.
func (t *tree) ignores(name string, isDir bool) bool {
	name = path.Join(t.dir, name)
	return name != "." && t.rulesOf(path.Dir(name)).Ignore(name, isDir)
}

// ignoresPath reports whether git ignores a file or a folder above it, whether these are there or not.
func (t *tree) ignoresPath(name string) bool {
	for i, c := range name {
		if c == '/' && t.ignores(name[:i], true) {
			return true
		}
	}
	return t.ignores(name, false)
}
