package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Git's own hooks are what people have a repository check at each commit. An agent can write them. So a commit runs
// copies, of what was there when a person trusted it.

// commitHooks are the hooks that can refuse a commit or change its message, in the order in which git runs them.
var commitHooks = []string{"pre-commit", "prepare-commit-msg", "commit-msg"}

// ErrHook is wrapped if no commit is made because of the repository's hooks.
var ErrHook = errors.New("git's hooks")

const (
	maxHookFiles = 500
	maxHookBytes = 8 << 20 // of all files
	maxMessage   = 1 << 20 // bytes of a message that hooks have written
)

// Hooks are the repository's hooks for commits.
type Hooks struct {
	Names []string // those that git would run, in its order
	Dir   string   // where they are
	Sum   string   // a hash of the folder that Read has read; "": nobody has, or there are no hooks

	// Tree is where they run for a commit of Merge, with the files of that commit. Nobody else may use it meanwhile.
	// CommitHere runs them in the project.
	Tree *Tree
	// Run runs git with some arguments in a folder, with more variables. It may write to the folder own. The error says
	// how that failed.
	Run func(ctx context.Context, dir, own string, env []string, args ...string) error

	root  string // the folder that is read: Dir, or the one above it
	files map[string]hookFile
}

// hookFile is a file below the root.
type hookFile struct {
	text []byte
	mode fs.FileMode
}

// FindHooks finds the hooks that git runs for commits in a project.
func FindHooks(ctx context.Context, env []string, project string) (h Hooks, err error) {
	top := loopdir.RepoRoot(project)
	if top == "" {
		return h, nil
	}
	out, err := proc.GitOutput(ctx, proc.Git(env, top, "rev-parse", "--git-path", "hooks"), "rev-parse")
	if err != nil {
		return h, err
	}
	h.Dir = filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	if !filepath.IsAbs(h.Dir) {
		h.Dir = filepath.Join(top, h.Dir)
	}
	for _, name := range commitHooks {
		info, err := os.Stat(filepath.Join(h.Dir, name))
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			h.Names = append(h.Names, name)
		}
	}
	return h, nil
}

// Read reads the hooks and all that is beside them, which they may start. Husky keeps that in the folder above "_".
func (h *Hooks) Read() error {
	if len(h.Names) == 0 {
		return nil
	}
	root, err := filepath.EvalSymlinks(h.Dir)
	if err != nil {
		return err
	}
	h.root = root
	if filepath.Base(root) == "_" {
		h.root = filepath.Dir(root)
	}
	h.files = map[string]hookFile{}
	size := 0
	err = filepath.WalkDir(h.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".sample") {
			return err
		}
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			return err
		}
		text, err := loopdir.ReadAny(path, maxHookBytes)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(h.root, path)
		h.files[filepath.ToSlash(name)] = hookFile{text, info.Mode() & 0o111}
		size += len(text)
		if len(h.files) > maxHookFiles || size > maxHookBytes {
			return fmt.Errorf("%s has more than %d files or %d MB: move the hooks to a folder of their own",
				plain.Line(h.root, 300), maxHookFiles, maxHookBytes>>20)
		}
		return err
	})
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(h.files)) {
		f := h.files[name]
		fmt.Fprintf(sum, "%q %t %d\n%s", name, f.mode != 0, len(f.text), f.text)
	}
	h.Sum = fmt.Sprintf("%x", sum.Sum(nil))
	return err
}

// copyTo writes what Read has read, and returns the folder of the hooks there.
func (h *Hooks) copyTo(dir string) (hooks string, err error) {
	for name, f := range h.files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, f.text, 0o600|f.mode&0o100); err != nil {
			return "", err
		}
	}
	if filepath.Base(h.Dir) == "_" {
		dir = filepath.Join(dir, "_")
	}
	return dir, nil
}

// commitWork makes a commit of a tree, as one of somebody's work, if the hooks let it.
func (r *Repo) commitWork(ctx context.Context, w Work, tree, parent string) (string, error) {
	text := w.text()
	if w.Hooks != nil {
		var err error
		text, err = r.hooked(ctx, w, tree, parent)
		if err != nil {
			return "", err
		}
	}
	return apart{r: r, author: w.Author}.commit(ctx, tree, text, parent)
}

// hooked runs the hooks for a commit, and returns its message.
func (r *Repo) hooked(ctx context.Context, w Work, tree, parent string) (text string, err error) {
	here := apart{r: r, work: r.top, index: filepath.Join(r.own, "index-here")}
	if t := w.Hooks.Tree; t != nil {
		here = t.files()
		err := t.Reset(ctx, parent)
		if err == nil {
			_, err = here.git(ctx, "read-tree", "--reset", "-u", tree)
		}
		if err != nil {
			return "", err
		}
	}
	own := filepath.Join(r.own, "hooks")
	if err := errors.Join(os.RemoveAll(own), os.Mkdir(own, 0o700)); err != nil {
		return "", err
	}
	hooks, err := w.Hooks.copyTo(filepath.Join(own, "copy"))
	if err != nil {
		return "", err
	}
	index, message := filepath.Join(own, "index"), filepath.Join(own, "COMMIT_EDITMSG")
	err = copyIndex(here.index, index)
	if err == nil {
		err = os.WriteFile(message, []byte(w.text()), 0o600)
	}
	if err != nil {
		return "", err
	}
	here.index = index
	if err := here.hideChanges(ctx); err != nil {
		return "", err
	}
	env := []string{"GIT_INDEX_FILE=" + index, "GIT_EDITOR=:"}
	for _, name := range w.Hooks.Names {
		args := []string{"-c", "core.hooksPath=" + hooks, "hook", "run", name}
		switch name {
		case "prepare-commit-msg":
			args = append(args, "--", message, "message")
		case "commit-msg":
			args = append(args, "--", message)
		}
		if err := w.Hooks.Run(ctx, here.work, own, env, args...); err != nil {
			return "", fmt.Errorf("%w: %s refuses the commit: %w", ErrHook, name, err)
		}
	}
	if err := here.unchanged(ctx, tree); err != nil {
		return "", err
	}
	said, err := loopdir.ReadFile(own, filepath.Base(message), maxMessage)
	if err != nil {
		return "", fmt.Errorf("%w: the message cannot be read after them: %w", ErrHook, err)
	}
	return w.after(string(said)), nil
}

// hideChanges has the index hide which files are not as it has them. Those are no part of the commit, and a hook that
// puts all such changes aside for a while would take a loop's files away.
func (a apart) hideChanges(ctx context.Context) error {
	_, _ = a.git(ctx, "update-index", "-q", "--refresh") // it fails if something is changed
	names, err := a.git(ctx, "diff-files", "--name-only", "-z")
	if err == nil && len(names) > 0 {
		_, err = a.feed(ctx, names, "update-index", "-z", "--skip-worktree", "--stdin")
	}
	return err
}

// unchanged refuses a commit whose files a hook has changed: they are not what was proven.
func (a apart) unchanged(ctx context.Context, tree string) error {
	_, _ = a.git(ctx, "update-index", "-q", "--refresh")
	changed, err := a.names(ctx, "diff-files", "--name-only", "-z")
	if err != nil {
		return err
	}
	staged, err := a.names(ctx, "diff-index", "--cached", "--name-only", "-z", tree)
	if err != nil {
		return err
	}
	changed = slices.Compact(slices.Sorted(slices.Values(append(changed, staged...))))
	if len(changed) == 0 {
		return nil
	}
	return fmt.Errorf("%w: they have changed %s, and what is committed is what was proven: have the agent leave "+
		"files as the hooks want them", ErrHook, decide.Names(a.r.fromProjects(changed)))
}

// trailerLine matches a line of the last block of a message.
var trailerLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]+: `) })

// after returns the message that hooks have made of ours. The trailers are added again if it does not end with them.
func (w Work) after(said string) string {
	said = strings.TrimSpace(strings.ReplaceAll(said, "\r\n", "\n"))
	block := strings.Split(strings.TrimSpace(said[max(0, strings.LastIndex(said, "\n\n")):]), "\n")
	whole := !slices.ContainsFunc(block, func(line string) bool { return !trailerLine().MatchString(line) })
	for _, own := range w.trailers() {
		whole = whole && slices.Contains(block, own)
	}
	if whole {
		return said + "\n"
	}
	w.Message = said
	return w.text()
}
