package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// ErrMoved is wrapped if the loop's branch is not where it was at the merge: a person has committed, say.
var ErrMoved = errors.New("somebody has moved the branch")

// ErrElsewhere is wrapped if the project is on another branch than the loop's.
var ErrElsewhere = errors.New("the project is not on branch")

// ErrLocked is wrapped if another git command works in the project, or one was killed.
var ErrLocked = errors.New("another git command works in this repository, or one was killed")

// Forward moves the loop's branch and the project's work tree from the commit old to new, which comes from it. It
// changes nothing, and says why, if the branch is not at old (ErrMoved), is not checked out, or if a person changed a
// file that would be written; other changes of a person stay. After a call that was killed or that failed, Recover
// goes on.
func (r *Repo) Forward(ctx context.Context, old, new string) error {
	unlock, err := r.lock(lockText)
	if err != nil {
		return err
	}
	defer unlock()
	r.step("locked")
	if err := r.OnBranch(ctx); err != nil {
		return err
	}
	s, err := r.survey(ctx, old, new)
	if err != nil {
		return err
	}
	if len(s.other) > 0 {
		return fmt.Errorf("%s is changed in the project, and the merge would write it: commit or stash it",
			decide.Names(r.fromProjects(s.other)))
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	r.step("prepared")
	if err := r.advance(ctx, "ralph: merge", old, new); err != nil {
		return errors.Join(err, os.RemoveAll(r.aside()))
	}
	r.step("moved")
	return s.write(ctx)
}

// advance moves the loop's branch from a commit to another one, for a reason that the branch's log has.
func (r *Repo) advance(ctx context.Context, reason, from, to string) error {
	_, err := r.refs(ctx, "update-ref", "--no-deref", "-m", reason, heads+r.branch, to, from)
	if err == nil {
		return nil
	}
	if at, lost := r.Head(ctx); lost == nil && at != from {
		return fmt.Errorf("%w: %s is at commit %.12s, not at %.12s", ErrMoved, plain.Line(r.branch, 200), at, from)
	}
	return err
}

// Recover ends a Forward that was killed or has failed. If the branch is at new, it writes the files that are not
// written yet. If a person has changed one of them meanwhile, it leaves that file and returns an error that names it,
// once. If the branch is elsewhere, nothing had been changed, or a person has committed since, and it only cleans up.
func (r *Repo) Recover(ctx context.Context, old, new string) error {
	if err := r.unlockOwn(); err != nil {
		return err
	}
	if err := os.RemoveAll(r.aside()); err != nil {
		return err
	}
	head, err := r.Head(ctx)
	if err != nil || head != new { // at another commit, index and files are a person's
		return err
	}
	if err := r.OnBranch(ctx); err != nil {
		return err
	}
	unlock, err := r.lock(lockText)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := r.survey(ctx, old, new)
	if err != nil || s.done {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return s.write(ctx)
}

// OnBranch refuses a project that is on another branch than the loop's.
func (r *Repo) OnBranch(ctx context.Context) error {
	if r.isOn(ctx, r.git, r.branch) {
		return nil
	}
	return cmp.Or(r.middle(), fmt.Errorf("%w %s any more: type git switch %s", ErrElsewhere,
		plain.Line(r.branch, 200), plain.Arg(r.branch)))
}

// isOn reports whether the work tree of a git folder is on a branch. Git need not be asked if the file says that it is:
// with reftable the file names refs/heads/.invalid.
func (r *Repo) isOn(ctx context.Context, git, branch string) bool {
	text, err := loopdir.ReadFile(git, "HEAD", maxRules)
	if err == nil && string(text) == "ref: "+heads+branch+"\n" {
		return true
	}
	at, err := r.refsIn(ctx, r.top, git, "symbolic-ref", "-q", "HEAD")
	return err == nil && at == heads+branch
}

// lockText is our lock of the project's index while a merge goes forward. Git's own is empty or an index.
const lockText = "ralph: a merge goes forward\n"

// lock takes the lock of the project's index, as git does. So no git command of a person changes the index meanwhile.
// The file has its text from the beginning: a later process must see whose it is.
func (r *Repo) lock(text string) (unlock func(), err error) {
	path, aside := r.indexLock(), filepath.Join(r.git, "ralph.lock")
	if err := writeNew(aside, []byte(text), 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(aside)
	err = os.Link(aside, path)
	if err != nil && !errors.Is(err, os.ErrExist) { // a file system without links
		if _, err = os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			err = writeNew(path, []byte(text), 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: wait for it, or remove %s", ErrLocked, path)
	}
	return func() { _ = os.Remove(path) }, nil
}

func (r *Repo) indexLock() string { return filepath.Join(r.git, "index.lock") }

// unlockOwn removes what a killed call of ours has left in the git folder: its lock of the index, and half-made files.
func (r *Repo) unlockOwn() error {
	for _, name := range []string{"ralph.lock", "index" + asideEnd} {
		if err := os.Remove(filepath.Join(r.git, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	text, err := loopdir.ReadFile(r.git, "index.lock", maxIndex)
	if err != nil || string(text) != lockText {
		return nil // lock says so if it is still there
	}
	return os.Remove(r.indexLock())
}

// aside returns the folder for new versions of files, on the file system of the project. Git never looks into .git.
func (r *Repo) aside() string {
	if info, err := os.Lstat(filepath.Join(r.top, ".git")); err == nil && info.IsDir() {
		return filepath.Join(r.top, ".git", "ralph-forward")
	}
	return filepath.Join(r.top, ".ralph-forward")
}
