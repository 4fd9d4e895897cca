package locked

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Protected has the files on the disk that the patterns of "protect" match.
type Protected struct {
	Files  []string // slash-separated paths below the project
	Passed []string // folders that were passed over: only a pattern that spells them out looks into them
}

// FindProtected looks for the files that "protect" names in a tree. It does not follow a link to a
// folder. If new files count, such a link is itself named if a pattern could look behind it.
func FindProtected(t tree.Tree, c config.Config) (found Protected, err error) {
	if len(c.Protect) == 0 {
		return found, nil
	}
	enter := func(folder string, ignored bool) bool {
		can, spelled := c.ProtectsBelow(folder)
		if !can || spelled || !MadeAnew(folder, ignored) {
			return can
		}
		if path.Base(folder) != ".git" {
			found.Passed = append(found.Passed, folder)
		}
		return false
	}
	loops := t.Except
	if c.ProtectNew {
		t.Except = "" // an agent can add files there, too
	}
	see := func(path string, kind fs.FileMode) {
		full := filepath.Join(t.Dir, filepath.FromSlash(path))
		if ours(full, loops) || loopdir.BesideOpen(full, kind) {
			return
		}
		named := c.Protects(path)
		if can, _ := c.ProtectsBelow(path); can && !kind.IsRegular() {
			info, err := os.Stat(full)
			if folder := err == nil && info.IsDir(); folder && c.ProtectNew {
				named = true
			} else if folder {
				found.Passed = append(found.Passed, path)
			}
		}
		if named {
			found.Files = append(found.Files, path)
		}
	}
	closed, err := t.Find(context.Background(), enter, see)
	if c.ProtectNew && len(closed) > 0 {
		err = cmp.Or(err, fmt.Errorf("%q cannot be read", closed[0]))
	}
	found.Passed = append(found.Passed, closed...)
	return found, err
}

// ours reports whether a file belongs to a loop's folder.
func ours(path, loops string) bool {
	if !strings.HasPrefix(path, loops+string(filepath.Separator)) {
		return false
	}
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case ".log", ".bak":
		return true
	}
	return name[0] == '.' || slices.Contains([]string{loopdir.ListFile, loopdir.ProgressFile, loopdir.PromptFile,
		loopdir.ConfigFile, "current"}, name)
}

// MadeAnew reports whether tools fill and empty a folder, such as build outputs and dependencies.
// If they were held, an agent that only builds would end the loop.
func MadeAnew(folder string, ignored bool) bool {
	name := path.Base(folder)
	return name == ".git" || name == "node_modules" || ignored && (name[0] == '.' || slices.Contains(outputs, name))
}

// outputs are the names of such folders, where git ignores them. Those that begin with a dot
// are not listed.
var outputs = []string{
	"build", "dist", "out", "target", "bin", "obj", "coverage", "htmlcov", "vendor", "venv", "env", "site-packages",
	"tmp", "temp", "cache", "__pycache__", "Pods", "bower_components",
}

// Protect locks what "protect" names in a tree.
func (f *Finder) Protect(t tree.Tree) error {
	found, err := FindProtected(t, f.Config)
	if err != nil {
		return fmt.Errorf(`"protect": %w`, err)
	}
	for _, p := range f.Config.Protect {
		if !f.Config.ProtectNew && !slices.ContainsFunc(found.Files, p.Match) {
			return fmt.Errorf(`%s: the pattern %q of "protect" names no file; correct it, or set "protect_new" to true `+
				`for files to come`, loopdir.ConfigFile, p.Text)
		}
	}
	for _, key := range found.Files {
		sum := linkSum(f.Project, key)
		if sum == "" {
			sum, err = sumFile(At(f.Project, key))
		}
		if f.Err == nil && (err != nil || sum == unreadable) {
			return fmt.Errorf(`%q, which "protect" names, cannot be locked: it is no regular file, too large, or closed`,
				key)
		}
		f.Sums[key] = sum
	}
	return nil
}

// linkMark begins the hash of a link.
const linkMark = "link "

// linkSum returns the hash of a link's text and of the file that it leads to; "" if there is no
// link.
func linkSum(project, path string) string {
	full := filepath.Join(project, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return ""
	}
	text, err := os.Readlink(full)
	sum := ""
	target, notThere := os.Stat(full)
	if err == nil && notThere == nil && target.Mode().IsRegular() { // a link to a folder is locked as it is
		sum, err = sumFile(full)
	}
	if err != nil {
		return unreadable
	}
	return fmt.Sprintf(linkMark+"%x %s", sha256.Sum256([]byte(text)), sum)
}

// AsNew shows that a file should not be there.
func AsNew(path string) string { return path + " (new)" }

// Added returns the new files that "protect" names, if new ones must not be. sums are the hashes of what is locked.
func Added(t tree.Tree, c config.Config, sums map[string]string) (added []string) {
	if !c.ProtectNew {
		return nil
	}
	found, err := FindProtected(t, c)
	if err != nil {
		return []string{`"protect" cannot be looked after: ` + err.Error() + "; what it names"}
	}
	for _, path := range found.Files {
		if _, is := sums[path]; !is {
			added = append(added, AsNew(path))
		}
	}
	return added
}

// Changed reports whether what a key names has changed since it had that hash.
func Changed(project, key, was string) bool {
	if file, is := ofScripts(key); is {
		now, err := sumScripts(project, file)
		return err != nil || !SameScripts(was, now)
	}
	if strings.HasPrefix(was, linkMark) {
		return !Same(key, was, linkSum(project, key))
	}
	return !Same(key, was, Sum(project, key))
}
