package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Tree is a worktree of a repository: a lane's, on a branch of its own, or the merger's, on none. One goroutine at a
// time may use it.
type Tree struct {
	r      *Repo
	dir    string
	branch string   // "" for none
	base   string   // the commit of the loop's branch from which the lane's work begins
	git    string   // the worktree's git folder
	index  string   // our index of it, which no agent writes
	left   []string // see Left
	agents string   // the agent's last commit, or the base, at the last Commit
}

// Dir returns the root of the worktree.
func (t *Tree) Dir() string { return t.dir }

// Project returns the folder of the project in the worktree.
func (t *Tree) Project() string { return filepath.Join(t.dir, filepath.FromSlash(t.r.prefix)) }

// Branch returns the name of the tree's branch, or "".
func (t *Tree) Branch() string { return t.branch }

// Base returns the commit of the loop's branch from which the tree's work begins.
func (t *Tree) Base() string { return t.base }

// prepared is the name of the file that SetPrepared makes in a worktree's git folder. Git removes it with the worktree.
const prepared = "ralph-prepared"

// Prepared returns with what SetPrepared was called last for the worktree, "" if it was not. One that was removed, and
// made again, is not prepared.
func (t *Tree) Prepared() string {
	inputs, _ := loopdir.ReadFile(t.git, prepared, maxRules)
	return string(inputs)
}

// SetPrepared notes from what the worktree got what it needs beside the files of commits.
func (t *Tree) SetPrepared(inputs string) error {
	return writeNew(filepath.Join(t.git, prepared), []byte(inputs), 0o600)
}

// Add makes a worktree at dir on a new branch that begins at the commit base. Without a branch, the worktree is on
// none. If they are there, Add opens them as they are, with their work: also if an earlier call was killed. A folder
// that is none of its worktrees is an error, unless it is empty.
func (r *Repo) Add(ctx context.Context, dir, branch, base string) (*Tree, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(dir)) // git writes real paths
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.trees++
	index := filepath.Join(r.own, "index-"+strconv.Itoa(r.trees))
	r.mu.Unlock()
	t := &Tree{r: r, dir: filepath.Join(parent, filepath.Base(dir)), branch: branch, base: base, index: index}
	tip := base
	if branch != "" {
		tip = cmp.Or(r.At(ctx, branch), base)
	}
	t.git = r.gitOf(t.dir)
	if t.git == "" {
		r.mu.Lock() // git worktree add does not like another one at its side
		err = t.make(ctx, tip)
		r.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	if err := t.own(ctx, tip); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(t.git, "index")); err == nil {
		return t, nil // the index is the last thing that a checkout writes
	}
	return t, t.reset(ctx, tip)
}

// gitOf returns the git folder of the worktree at dir, or "". The file .git in a worktree is not asked: an agent could
// write it.
func (r *Repo) gitOf(dir string) string {
	if _, err := os.Lstat(dir); err != nil {
		return ""
	}
	all, _ := os.ReadDir(filepath.Join(r.common, "worktrees"))
	for _, entry := range all {
		git := filepath.Join(r.common, "worktrees", entry.Name())
		back, err := loopdir.ReadFile(git, "gitdir", maxRules)
		if err == nil && same(filepath.FromSlash(strings.TrimSpace(string(back))), filepath.Join(dir, ".git")) {
			if _, err := os.Lstat(filepath.Join(git, "commondir")); err == nil { // else git was killed when it made it
				return git
			}
		}
	}
	return ""
}

// make makes the worktree without its files, and the branch.
func (t *Tree) make(ctx context.Context, tip string) error {
	files, err := os.ReadDir(t.dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case len(files) == 1 && files[0].Name() == ".git" && files[0].Type().IsRegular():
		if err := os.Remove(filepath.Join(t.dir, ".git")); err != nil { // a call that was killed left it
			return err
		}
	case len(files) > 0:
		return fmt.Errorf("%s is not empty, and no worktree of this repository: move it away", t.dir)
	}
	if t.branch != "" {
		_ = os.Remove(t.lock())
		tip, err = t.r.Begin(ctx, t.branch, tip)
		if err != nil {
			return err
		}
	}
	// Force, twice: a call that was killed may have left this folder registered, and locked.
	_, err = t.r.refs(ctx, "worktree", "add", "-q", "-f", "-f", "--no-checkout", "--detach", t.dir, tip)
	t.git = t.r.gitOf(t.dir)
	if err == nil && t.git == "" {
		return fmt.Errorf("git made no worktree at %s", t.dir)
	}
	return err
}

// own writes what makes the folder this worktree, on its branch, whatever an agent has made of it, and ends what it
// has left in the middle: a merge, a rebase, a lock.
func (t *Tree) own(ctx context.Context, tip string) error {
	link := filepath.Join(t.dir, ".git")
	if at, err := loopdir.ReadFile(t.dir, ".git", maxRules); err != nil ||
		!same(filepath.FromSlash(strings.TrimSpace(string(at))), "gitdir: "+t.git) {
		if err := os.RemoveAll(link); err != nil {
			return err
		}
		if err := writeNew(link, []byte("gitdir: "+filepath.ToSlash(t.git)+"\n"), 0o644); err != nil {
			return err
		}
	}
	for _, name := range []string{
		"index.lock", "HEAD.lock", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "AUTO_MERGE", "CHERRY_PICK_HEAD",
		"REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer", "locked",
	} {
		if err := os.RemoveAll(filepath.Join(t.git, name)); err != nil {
			return err
		}
	}
	if t.branch == "" {
		return nil
	}
	_ = os.Remove(t.lock())
	if t.r.isOn(ctx, t.git, t.branch) {
		return nil
	}
	at, err := t.head(ctx)
	if err == nil { // a commit that an agent made elsewhere belongs to the lane
		err = t.r.Point(ctx, t.branch, at)
	} else {
		_, err = t.r.Begin(ctx, t.branch, tip)
	}
	if err == nil {
		_, err = t.refs(ctx, "symbolic-ref", "HEAD", heads+t.branch)
	}
	return err
}

// lock returns the path of the lock of the tree's branch. A git that was killed leaves it.
func (t *Tree) lock() string {
	return filepath.Join(t.r.common, filepath.FromSlash(heads+t.branch)+".lock")
}

// refs does the same as Repo.refs, in the worktree's git folder.
func (t *Tree) refs(ctx context.Context, args ...string) (string, error) {
	return t.r.refsIn(ctx, t.dir, t.git, args...)
}

// head returns the commit that is checked out.
func (t *Tree) head(ctx context.Context) (string, error) {
	return t.refs(ctx, "rev-parse", "-q", "--verify", "HEAD^{commit}")
}

func (t *Tree) files() apart { return apart{r: t.r, work: t.dir, index: t.index} }

// Reset sets the worktree and its branch to exactly a commit, which is the base of what comes. Files that git ignores
// stay; all others that are not in the commit go, and so do those of the loops.
func (t *Tree) Reset(ctx context.Context, commit string) error {
	if err := t.own(ctx, commit); err != nil {
		return err
	}
	return t.reset(ctx, commit)
}

// reset is Reset for a folder that is this worktree, on its branch.
func (t *Tree) reset(ctx context.Context, commit string) error {
	if err := t.Take(ctx, commit); err != nil {
		return err
	}
	if _, err := t.files().git(ctx, "clean", "-ffdq"); err != nil {
		return err
	}
	t.base = commit
	return nil
}

// WriteFile replaces a file below the project's folder in the worktree, and makes the folders above it. An agent could
// have put anything there: WriteFile follows no link out of the worktree, waits for no writer of a pipe, and refuses a
// name that is no regular file.
func (t *Tree) WriteFile(name string, text []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s into the worktree %s: %w", plain.Line(name, 300), t.dir, err)
		}
	}()
	if InGit(name) {
		return errors.New("it is a part of git's own folder")
	}
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	file := filepath.Join(filepath.FromSlash(t.r.prefix), name)
	if err := root.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	folder, err := loopdir.OpenFolder(root, filepath.Dir(file))
	if err != nil {
		return err
	}
	defer folder.Close()
	return loopdir.Replace(folder, filepath.Base(file), text, 0o644)
}

// Take writes the files of a commit over those of the worktree, and moves its branch there. The base stays: the commit
// is work.
func (t *Tree) Take(ctx context.Context, commit string) error {
	_ = os.Remove(t.index + ".lock")
	if _, err := t.files().git(ctx, "read-tree", "--reset", "-u", commit); err != nil {
		return err
	}
	return t.move(ctx, commit)
}

// move moves the worktree's branch to a commit that its files are at. The agent's git gets our index.
func (t *Tree) move(ctx context.Context, commit string) error {
	ref := "HEAD"
	if t.branch != "" {
		ref = heads + t.branch
	}
	if _, err := t.refs(ctx, "update-ref", "--no-deref", "--create-reflog", ref, commit); err != nil {
		return err
	}
	return copyIndex(t.index, filepath.Join(t.git, "index"))
}
