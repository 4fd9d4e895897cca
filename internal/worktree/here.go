package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// CommitHere commits what has changed in the project's own work tree, where a person may work, too. commit is "" if
// nothing has; left names new files that look like the output of a build. It changes nothing, and says why, if a person
// has staged something, git is in the middle of something, or a file cannot be committed as it is. The work has a
// message; its commits are not looked at.
func (r *Repo) CommitHere(ctx context.Context, w Work) (commit, left string, err error) {
	if err := r.EndCommit(ctx); err != nil {
		return "", "", err
	}
	const most = 3 // another program may look at the repository all the time, and git status writes the index
	for n := 1; ; n++ {
		commit, left, err = r.commitHere(ctx, w)
		if n == most || !errors.Is(err, ErrMoved) {
			return commit, left, err
		}
	}
}

func (r *Repo) commitHere(ctx context.Context, w Work) (commit, left string, err error) {
	head, err := r.Head(ctx)
	if err == nil {
		err = r.idle()
	}
	if err == nil {
		err = r.able(ctx)
	}
	if err != nil {
		return "", "", err
	}
	before, err := r.readIndex()
	if err != nil {
		return "", "", err
	}
	here, err := r.here(ctx)
	if err != nil {
		return "", "", err
	}
	staged, err := here.names(ctx, "diff-index", "--cached", "--name-only", "-z", head)
	if err != nil {
		return "", "", err
	}
	if len(staged) > 0 {
		return "", "", fmt.Errorf("%s is staged: commit or unstage it", decide.Names(r.fromProjects(staged)))
	}
	t := &Tree{r: r, dir: r.top, branch: r.branch, base: head, index: here.index}
	was, err := r.treeOf(ctx, head)
	if err != nil {
		return "", "", err
	}
	what := ":(top)"
	if r.prefix != "" { // the rest of the repository is no work of the loop
		what = pathspec("", r.prefix)
	}
	s := picture{head: head}
	if err := t.add(ctx, &s, was, what); err != nil || s.clean {
		return "", t.Left(), err
	}
	if err := r.newFiltered(ctx, here, head, s.tree); err != nil {
		return "", "", err
	}
	commit, err = r.commitWork(ctx, w, s.tree, head)
	if err != nil {
		return "", "", err
	}
	return commit, t.Left(), r.putCommit(ctx, head, commit, here.index, before)
}

// Ignored returns which of the project's files no commit has, since git ignores them, without hidden ones and the
// output of builds.
func (r *Repo) Ignored(ctx context.Context, names []string) ([]string, error) {
	here, err := r.here(ctx)
	if err != nil {
		return nil, err
	}
	var in strings.Builder
	for _, name := range names {
		if !isBuilt(name) && !strings.HasPrefix(path.Base(name), ".") {
			in.WriteString(path.Join(r.prefix, name) + "\x00")
		}
	}
	out, err := here.feed(ctx, []byte(in.String()), "check-ignore", "-z", "--stdin")
	if proc.GitExit(err) == 1 { // it ignores none
		return nil, nil
	}
	return r.fromProjects(proc.GitTexts(out)), err
}

// newFiltered refuses new files that go through a filter: git add has taken them as they are.
func (r *Repo) newFiltered(ctx context.Context, here apart, head, tree string) error {
	files, err := r.changes(ctx, head, tree)
	if err != nil {
		return err
	}
	var names strings.Builder
	for _, f := range files {
		if !f.gone() {
			names.WriteString(f.name + "\x00")
		}
	}
	return r.filtered(ctx, here, names.String())
}

// putCommit moves the branch to a commit whose files are in the project, and replaces the index, unless that is no more
// as it was before.
func (r *Repo) putCommit(ctx context.Context, head, commit, index string, before []byte) error {
	pid := os.Getpid()
	unlock, err := r.lock(fmt.Sprintf("%s%s\n%d\n%s\n", commitText, commit, pid, proc.Start(pid)))
	if err != nil {
		return err
	}
	defer unlock()
	r.step("locked")
	now, err := r.readIndex()
	if err != nil {
		return err
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("%w or the index", ErrMoved)
	}
	if err := r.OnBranch(ctx); err != nil {
		return err
	}
	place := filepath.Join(r.git, "index")
	aside, err := copyAside(index, place) // a full disk fails here, before the branch moves
	if err != nil {
		return err
	}
	defer os.Remove(aside)
	if err := r.advance(ctx, "ralph: commit", head, commit); err != nil {
		return err
	}
	r.step("moved")
	err = os.Rename(aside, place)
	if err != nil { // else the next commit of the person would take this one back
		_, back := r.refs(ctx, "update-ref", "--no-deref", "-m", "ralph: no commit", heads+r.branch, head, commit)
		err = errors.Join(err, back)
	}
	return err
}

// isOwn refuses a repository to which only a .git of the agent's leads. That of a work tree says where this is.
func (r *Repo) isOwn() error {
	here := filepath.Join(r.top, ".git")
	info, err := os.Lstat(here)
	if err != nil || info.IsDir() {
		return err
	}
	text, err := loopdir.ReadFile(r.git, "gitdir", 4096)
	if err == nil && info.Mode().IsRegular() {
		back, err := os.Lstat(strings.TrimSpace(string(text)))
		if err == nil && os.SameFile(info, back) {
			return nil
		}
	}
	return fmt.Errorf("%s leads to the repository of another folder: commit yourself", here)
}

// readIndex returns the project's index. There is none in a repository whose first commit was made without one.
func (r *Repo) readIndex() ([]byte, error) { return loopdir.ReadFile(r.git, "index", maxIndex) }

// commitText begins our lock of the project's index while a commit is made. The commit and the process follow.
const commitText = "ralph: a commit is made\n"

// CutOff returns the lock that a CommitHere which was killed has left in the repository of a project, "" for none.
func CutOff(project string) (lock string) {
	top := loopdir.RepoRoot(project)
	if top == "" {
		return ""
	}
	git := loopdir.GitFolder(top)
	_, is := cutOff(git)
	if !is {
		return ""
	}
	return filepath.Join(git, "index.lock")
}

// maxLock bounds our lock of the index. Git's own may be a whole index.
const maxLock = 8 << 10

// cutOff reports whether the index in a git folder is locked for a CommitHere that was killed, and returns its commit.
func cutOff(git string) (commit string, is bool) {
	text, err := loopdir.ReadFile(git, "index.lock", maxLock)
	about, is := strings.CutPrefix(string(text), commitText)
	if err != nil || !is {
		return "", false // a lock of another program is refused later
	}
	commit, process, _ := strings.Cut(about, "\n")
	id, start, _ := strings.Cut(strings.TrimSuffix(process, "\n"), "\n")
	pid, _ := strconv.Atoi(id)
	return commit, pid != os.Getpid() && (pid <= 0 || !proc.Alive(pid, start))
}

// EndCommit ends a CommitHere that was killed. Its lock is there then, so git let nobody change the index: if the
// branch has the commit, only the index is missing.
func (r *Repo) EndCommit(ctx context.Context) error {
	if err := r.isOwn(); err != nil {
		return err
	}
	commit, is := cutOff(r.git)
	if !is {
		return nil
	}
	head, err := r.Head(ctx)
	if err == nil && head == commit {
		var here apart
		here, err = r.here(ctx)
		if err == nil {
			_, err = here.git(ctx, "read-tree", "-i", "-m", commit+"^", commit)
		}
		if err == nil {
			err = copyIndex(here.index, filepath.Join(r.git, "index"))
		}
	}
	return errors.Join(err, os.Remove(r.indexLock()))
}
