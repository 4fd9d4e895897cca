package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Tree is the folder of a lane, in which an agent works, or that of the merger. Its .git is a repository of the agent's
// own, which borrows the objects of the run. It is created again whenever the run has taken what is in it. One
// goroutine at a time may use a Tree.
type Tree struct {
	r            *Repo
	dir          string
	branch       string   // that the agent is on
	base         string   // the commit of the loop's branch from which the lane's work begins
	tip          string   // the commit with which the agent's .git began
	name         string   // of our files about it
	index        string   // our index of it, which no agent writes
	buildOutputs []string // see BuildOutputs; from the root
	agents       string   // the agent's last commit, or the base, at the last Commit

	scope  string           // the folder of the project's own work tree that is committed; "": all
	drafts map[string]Draft // of that work tree: see CommitProject
}

// Dir returns the root of the work tree.
func (t *Tree) Dir() string { return t.dir }

// Project returns the folder of the project in the work tree.
func (t *Tree) Project() string { return filepath.Join(t.dir, filepath.FromSlash(t.r.prefix)) }

// Base returns the commit of the loop's branch from which the tree's work begins.
func (t *Tree) Base() string { return t.base }

// The folders in our git folder with a file for each tree: the commit with which its .git began, the commit whose files
// are being written over those of the tree, the commit that was published last, the files with conflicts, with what
// SetPrepared was called last, and our index.
const (
	tips          = "tips"
	half          = "half"
	publishedNote = "published"
	conflictFiles = "conflicts"
	preparedNote  = "prepared"
	indexes       = "indexes"
)

var kinds = []string{tips, half, publishedNote, conflictFiles, preparedNote, indexes}

// file returns the path of one of our files about the tree.
func (t *Tree) file(kind string) string { return filepath.Join(t.r.privateDir, kind, t.name) }

// note writes one of our files about the tree.
func (t *Tree) note(kind, text string) error { return os.WriteFile(t.file(kind), []byte(text), 0o600) }

// forget removes one of our files about the tree.
func (t *Tree) forget(kind string) error {
	err := os.Remove(t.file(kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readNote returns what is in one of our files about the tree; "": there is no such file.
func (t *Tree) readNote(kind string) string {
	text, _ := os.ReadFile(t.file(kind))
	return string(text)
}

// Prepared returns with what SetPrepared was called last for the tree, "" if it was not since its folder was made.
func (t *Tree) Prepared() string { return t.readNote(preparedNote) }

// SetPrepared notes from what the tree got what it needs beside the files of commits.
func (t *Tree) SetPrepared(inputs string) error { return t.note(preparedNote, inputs) }

// Add makes a tree at dir with the files of the commit base, on a branch of its own; "": it is the merger's. If it is
// there, Add opens it as it is, with its work: also if an earlier call was killed. If only its folder is gone, it has
// what was last taken from it.
func (r *Repo) Add(ctx context.Context, dir, branch, base string) (*Tree, error) {
	t := &Tree{r: r, dir: dir, branch: cmp.Or(branch, "none"), base: base}
	t.name = filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir)
	t.index = t.file(indexes)
	if branch == "" {
		r.attributes = t.index // the merger's: it has the files that were merged last
	}
	for _, kind := range kinds {
		if err := os.MkdirAll(filepath.Join(r.privateDir, kind), 0o700); err != nil {
			return nil, err
		}
	}
	_, gone := os.Lstat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	t.tip = t.readNote(tips)
	isKnown := isID(t.tip)
	if !isKnown {
		t.tip = base
		if at := r.At(ctx, branch); branch != "" && at != "" {
			t.tip = at
		}
	}
	_, isNew := os.Lstat(t.index) // it is the last thing that a checkout writes
	to := t.readNote(half)
	if !isID(to) {
		to = t.tip
		if gone == nil && isNew == nil {
			return t, nil
		}
		_ = t.forget(preparedNote)
	}
	all, _ := os.ReadDir(dir)
	isLost := !isKnown && !isID(t.readNote(half)) && len(all) > 0 // somebody has deleted the repository of the run
	if !r.Has(ctx, to) {                                          // a branch of the repository alone has it
		if err := r.Fetch(ctx, to); err != nil {
			return nil, err
		}
	}
	if isLost && branch != "" {
		return t, t.adopt(ctx, to)
	}
	return t, t.reset(ctx, to)
}

// adopt keeps the files of a tree of which nothing else is known any more, as work on top of a commit.
func (t *Tree) adopt(ctx context.Context, commit string) error {
	if err := t.isFolder(); err != nil {
		return err
	}
	if _, err := t.files().git(ctx, "read-tree", commit); err != nil {
		return err
	}
	return t.renew(commit)
}

// isFolder refuses a link in the place of the tree's folder: its .git would be that of another folder.
func (t *Tree) isFolder() error {
	info, err := os.Lstat(t.dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder: remove it", t.dir)
	}
	return err
}

// head returns the commit that the agent has checked out. Its .git is read as files, since git would read its
// configuration. If it cannot be read, the agent has committed nothing that counts.
func (t *Tree) head() string {
	git := filepath.Join(t.dir, ".git")
	info, err := os.Lstat(git)
	if err != nil || !info.IsDir() {
		return t.tip
	}
	text, _ := loopdir.ReadFile(git, "HEAD", maxRules)
	at := strings.TrimSpace(string(text))
	name, isRef := strings.CutPrefix(at, "ref: ")
	if isRef && filepath.IsLocal(filepath.FromSlash(name)) {
		text, _ = loopdir.ReadFile(git, filepath.FromSlash(name), maxRules)
		at = strings.TrimSpace(string(text))
		if at == "" {
			at = packedRef(git, name)
		}
	}
	if !isID(at) {
		return t.tip
	}
	return at
}

// packedRef returns the commit of a ref that git has packed, as git-pack-refs(1) has it; "": there is no such ref.
func packedRef(git, name string) string {
	text, _ := loopdir.ReadFile(git, "packed-refs", maxIndex)
	for line := range strings.Lines(string(text)) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref == name {
			return id
		}
	}
	return ""
}

// renew creates the tree's .git again, at a commit that its files are at or come from. Nothing stays of what an agent
// has left there: configuration, hooks, locks, a merge in the middle.
func (t *Tree) renew(commit string) error {
	git := filepath.Join(t.dir, ".git")
	if err := loopdir.RemoveAll(git); err != nil {
		return err
	}
	files := map[string]string{
		"HEAD": "ref: " + heads + t.branch + "\n", heads + t.branch: commit + "\n",
		"objects/info/alternates": t.alternates(),
	}
	for _, name := range []string{"config", "info/exclude", "info/attributes", "shallow"} {
		if text, has := t.r.files[name]; has {
			files[name] = text
		}
	}
	files["packed-refs"] = t.r.refsOfLanes()
	if err := os.MkdirAll(filepath.Join(git, filepath.FromSlash(path.Dir(heads+t.branch))), 0o700); err != nil {
		return err
	}
	if err := writeGit(git, files); err != nil {
		return err
	}
	if err := copyIndex(t.index, filepath.Join(git, "index")); err != nil {
		return err
	}
	t.tip = commit
	return t.note(tips, commit)
}

// alternates returns the file that has git borrow the objects of the run.
func (t *Tree) alternates() string { return quotePath(filepath.ToSlash(t.r.objects)) + "\n" }

func (t *Tree) files() privateGit { return privateGit{r: t.r, work: t.dir, index: t.index} }

// Reset sets the tree to exactly a commit, which is the base of what comes. Files that git ignores stay; all others
// that are not in the commit go, and so do those of the loops.
func (t *Tree) Reset(ctx context.Context, commit string) error {
	if err := t.reset(ctx, commit); err != nil {
		return err
	}
	t.base = commit
	return t.forget(conflictFiles)
}

func (t *Tree) reset(ctx context.Context, commit string) error {
	if err := t.Take(ctx, commit); err != nil {
		return err
	}
	_, err := t.files().git(ctx, "clean", "-ffdq")
	return err
}

// Take writes the files of a commit over those of the tree. The base stays: the commit is work. A Take that was killed
// is done again when the tree is opened.
func (t *Tree) Take(ctx context.Context, commit string) error {
	if err := t.isFolder(); err != nil {
		return err
	}
	if err := t.note(half, commit); err != nil {
		return err
	}
	if err := t.files().irregular(os.Remove); err != nil { // no commit has such
		return err
	}
	_ = os.Remove(t.index + ".lock")
	if _, err := t.files().git(ctx, "read-tree", "--reset", "-u", commit); err != nil {
		return err
	}
	if err := t.renew(commit); err != nil {
		return err
	}
	return t.forget(half)
}

// Publish gives the repository the tree's branch, with what was taken from the tree last.
func (t *Tree) Publish(ctx context.Context) error {
	return errors.Join(t.note(publishedNote, t.tip), t.r.Point(ctx, t.branch, t.tip))
}

// WriteFile replaces a file below the project's folder in the tree, and creates the folders above it. An agent could
// have put anything there: WriteFile follows no link out of the tree, waits for no writer of a pipe, and refuses a name
// that is no regular file.
func (t *Tree) WriteFile(name string, text []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot write %s into %s: %w", plain.Line(name, 300), t.dir, err)
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
