package worktree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// middles are the files of git in the middle of something, and how a person ends that.
var middles = []struct{ file, what, end string }{
	{"rebase-merge", "a rebase", "git rebase --continue or git rebase --abort"},
	{"rebase-apply", "a rebase", "git rebase --continue or git rebase --abort"},
	{"MERGE_HEAD", "a merge", "git merge --continue or git merge --abort"},
	{"CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue or git cherry-pick --abort"},
	{"REVERT_HEAD", "a revert", "git revert --continue or git revert --abort"},
	{"BISECT_LOG", "a bisect", "git bisect reset"},
}

// Ready returns why lanes cannot work in the repository as it is, and what to do about it: it has no commit, a merge
// or the like is in progress, a tracked file is changed, or it has what lanes cannot do, such as submodules.
func (r *Repo) Ready(ctx context.Context) error {
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if err := r.idle(); err != nil {
		return err
	}
	if err := r.able(ctx); err != nil {
		return err
	}
	return r.clean(ctx, head)
}

// middle refuses a repository in which git is in the middle of something that a person ends.
func (r *Repo) middle() error {
	for _, m := range middles {
		if _, err := os.Lstat(filepath.Join(r.git, m.file)); err == nil {
			return fmt.Errorf("%s is in progress: type %s", m.what, m.end)
		}
	}
	return nil
}

// idle refuses a repository in which git is at work, or in the middle of something.
func (r *Repo) idle() error {
	if err := r.middle(); err != nil {
		return err
	}
	if _, err := os.Lstat(r.indexLock()); err == nil {
		return fmt.Errorf("%w: wait for it, or remove %s", ErrLocked, r.indexLock())
	}
	return nil
}

// able refuses a repository of which we cannot commit all files as they are.
func (r *Repo) able(ctx context.Context) error {
	out, err := r.refs(ctx, "config", "--get-regexp", `^(extensions\.partialclone|remote\..*\.promisor)$`)
	if err != nil && proc.GitExit(err) != 1 {
		return err
	}
	if out != "" {
		return fmt.Errorf("this clone has only a part of the objects, and %s fetch none: "+
			"clone the repository without --filter", r.users)
	}
	return r.whole(ctx)
}

// Unlike returns in what our commits are not as the repository and its people have theirs: commit.gpgsign does not hold
// for them, and they run none of the repository's hooks.
func (r *Repo) Unlike(ctx context.Context) (all []string) {
	if sign, _ := r.refs(ctx, "config", "--type=bool", "commit.gpgsign"); sign == "true" {
		all = append(all, fmt.Sprintf("commit.gpgsign is set, and the commits of %s are not signed", r.users))
	}
	if hooks := r.hooks(ctx); len(hooks) > 0 {
		all = append(all, fmt.Sprintf(`the commits of %s do not run this repository's git hooks (%s); add what they check `+
			`to "checks"`, r.users, strings.Join(hooks, ", ")))
	}
	return all
}

// hooks returns the names of the hooks that git runs for a person's commits in the repository.
func (r *Repo) hooks(ctx context.Context) (names []string) {
	out, err := proc.GitOutput(ctx, proc.Git(r.env, r.top, "rev-parse", "--git-path", "hooks"), "rev-parse")
	if err != nil {
		return nil
	}
	dir := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.top, dir)
	}
	for _, name := range []string{"pre-commit", "prepare-commit-msg", "commit-msg"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			names = append(names, name)
		}
	}
	return names
}

// whole refuses a work tree that has not all files, or not as they are in commits.
func (r *Repo) whole(ctx context.Context) error {
	here, err := r.projectGit(ctx)
	if err == nil {
		err = here.regular()
	}
	if err != nil {
		return err
	}
	entries, err := here.names(ctx, "ls-files", "-z", "-v", "--stage") // TAG MODE ID STAGE<tab>NAME
	if err != nil {
		return err
	}
	var names strings.Builder
	for _, entry := range entries {
		about, name, _ := strings.Cut(entry, "\t")
		shown := plain.Line(r.fromProject(name), 300)
		words := strings.Fields(about)
		switch {
		case len(words) != 4:
			return fmt.Errorf("git ls-files: %q", about)
		case words[1] == gitlink:
			return fmt.Errorf("%s is a submodule, and %s cannot have those: %s", shown, r.users, r.without)
		case words[0] == "S" || words[0] == "s":
			return fmt.Errorf("%s is left out by a sparse checkout: type git sparse-checkout disable", shown)
		case words[0] == "M":
			return fmt.Errorf("%s has a conflict: resolve it, and commit", shown)
		case words[0] != "H":
			return fmt.Errorf("git does not look for changes of %s: type git update-index --no-assume-unchanged %s",
				shown, plain.Arg(name))
		}
		names.WriteString(name + "\x00")
	}
	return r.refuseFilters(ctx, here, names.String())
}

// refuseFilters refuses files that go through a program on their way to the disk, such as those of Git LFS. The program
// could be anything that an agent has put there, so lanes do not run it.
func (r *Repo) refuseFilters(ctx context.Context, here privateGit, names string) error {
	if out, err := r.refs(ctx, "config", "--name-only", "--get-regexp", `^filter\.`); err != nil || out == "" {
		if proc.GitExit(err) == 1 {
			return nil
		}
		return err
	}
	out, err := here.feed(ctx, []byte(names), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	texts := proc.GitTexts(out) // NAME "filter" VALUE
	for i := 0; i+2 < len(texts); i += 3 {
		value := texts[i+2]
		if value == "unspecified" || value == "unset" {
			continue
		}
		if set, _ := r.refs(ctx, "config", "--get-regexp", `^filter\.`+regexp.QuoteMeta(value)+`\.`); set != "" {
			return fmt.Errorf("%s goes through the filter %q of .gitattributes, and %s use no filters: %s",
				plain.Line(r.fromProject(texts[i]), 300), plain.Line(value, 60), r.users, r.without)
		}
	}
	return nil
}

// projectGit returns the project's work tree with a copy of its index, so that no lock of it is taken.
func (r *Repo) projectGit(ctx context.Context) (privateGit, error) {
	here := r.theirs()
	here.work = r.top
	here.index = filepath.Join(r.privateDir, "index-here")
	_ = os.Remove(here.index + ".lock")
	err := copyIndex(filepath.Join(r.git, "index"), here.index)
	if err == nil {
		err = r.unsplit(ctx, here)
	}
	return here, err
}

// unsplit makes a whole index of a split one, whose other part is in the repository's git folder.
func (r *Repo) unsplit(ctx context.Context, here privateGit) error {
	all, err := os.ReadDir(r.git)
	if err != nil {
		return err
	}
	isSplit := false
	for _, part := range all {
		name := part.Name()
		if !strings.HasPrefix(name, "sharedindex.") {
			continue
		}
		isSplit = true
		text, err := loopdir.ReadFile(r.git, name, maxIndex)
		if err == nil {
			err = os.WriteFile(filepath.Join(r.privateDir, name), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if isSplit {
		_, err = here.git(ctx, "update-index", "--no-split-index")
	}
	return err
}

// regular refuses what git would read for ever: pipes, with names under which git looks for rules, or in the .git of a
// folder below.
func (a privateGit) regular() error {
	return a.irregular(func(path string) error {
		return fmt.Errorf("%s is no file: remove it", plain.Path(a.work, path))
	})
}

// irregular visits what git would read for ever.
func (a privateGit) irregular(visit func(path string) error) error {
	return filepath.WalkDir(a.work, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // git says so, if it matters
		}
		name := entry.Name()
		if entry.IsDir() && name == ".git" && filepath.Dir(path) == filepath.Clean(a.work) {
			return fs.SkipDir
		}
		isPipe := waits(entry.Type())
		isRules := same(name, ".gitignore") || same(name, ".gitattributes")
		below, err := filepath.Rel(a.work, path)
		if isRules && (isPipe || entry.Type()&fs.ModeSocket != 0) || isPipe && err == nil && InGit(below) {
			return visit(path)
		}
		return nil
	})
}

// clean refuses a work tree with changes.
func (r *Repo) clean(ctx context.Context, head string) error {
	here, err := r.projectGit(ctx)
	if err != nil {
		return err
	}
	_, _ = here.git(ctx, "update-index", "-q", "--refresh") // it fails if something is changed
	for _, look := range []struct{ what, shell string }{
		{"is not committed", "diff-index --cached --name-only -z " + head},
		{"is changed", "diff-files --name-only -z"},
	} {
		names, err := r.dirty(ctx, here, look.shell)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return fmt.Errorf("%s %s: commit or stash it", decide.Names(names), look.what)
		}
	}
	return nil
}

// Untracked returns the files that git neither tracks nor ignores, without those of the loops.
func (r *Repo) Untracked(ctx context.Context) (names []string, err error) {
	here, err := r.projectGit(ctx)
	if err != nil {
		return nil, err
	}
	return r.dirty(ctx, here, "ls-files --others --exclude-standard --directory -z")
}

// dirty returns the files that a git command lists, without those of the loops.
func (r *Repo) dirty(ctx context.Context, here privateGit, shell string) (dirty []string, err error) {
	names, err := here.names(ctx, strings.Fields(shell)...)
	for _, name := range names {
		if !r.excepted(name) && !r.above(ctx, here, name) {
			dirty = append(dirty, r.fromProject(name))
		}
	}
	return dirty, err
}

// above reports whether a folder without tracked files has none but those of the loops.
func (r *Repo) above(ctx context.Context, here privateGit, name string) bool {
	if !strings.HasSuffix(name, "/") {
		return false
	}
	args := []string{"ls-files", "--others", "--exclude-standard", "-z", "--", pathspec("", strings.TrimSuffix(name, "/"))}
	for _, e := range r.except {
		args = append(args, pathspec(",exclude", e))
	}
	names, err := here.names(ctx, args...)
	return err == nil && len(names) == 0
}
