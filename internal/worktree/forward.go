package worktree

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// ErrMoved is wrapped if the loop's branch is not where it was at the merge: a person has committed, say.
var ErrMoved = errors.New("somebody has moved the branch")

// ErrOtherBranch is wrapped if the project is on another branch than the loop's.
var ErrOtherBranch = errors.New("the project is not on branch")

// ErrLocked is wrapped if another git command works in the project, or one was killed.
var ErrLocked = errors.New("another git command works in this repository, or one was killed")

// Forward moves the loop's branch and the project's files from the commit old to new, which comes from it. It is git's
// own fast forward. It changes nothing, and says why, if the branch is not at old (ErrMoved), is not checked out, or if
// a person changed a file that would be written; other changes of a person stay. The list is not written. After a call
// that was killed or that failed, Recover goes on.
func (r *Repo) Forward(ctx context.Context, old, new string) (err error) {
	if err := r.publish(ctx, new); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.withdraw()
		}
	}()
	unlock, err := r.lock(lockText)
	if err != nil {
		return err
	}
	defer unlock()
	r.step("locked")
	if err := r.OnBranch(ctx); err != nil {
		return err
	}
	files, err := r.changes(ctx, old, new)
	if err != nil {
		return err
	}
	here, err := r.projectGit(ctx)
	if err != nil {
		return err
	}
	list, files := r.cutList(files)
	entry, ok, err := r.listInIndex(ctx, here, list)
	if err != nil {
		return err
	}
	if !ok {
		return cmp.Or(r.checkTip(ctx, old), r.stagedError([]string{list.name}))
	}
	here.putList(ctx, list, list.newVersion())
	if r.anyTaken(files) {
		err = errors.New("another file is in the place of a new one")
	} else {
		_, err = here.git(ctx, "read-tree", "-m", "-u", "--dry-run", old, new)
	}
	if err != nil {
		return cmp.Or(r.checkTip(ctx, old), r.inTheWay(ctx, here, old, files), err)
	}
	if err := r.noteForward(old, new); err != nil {
		return err
	}
	if _, err := here.git(ctx, "read-tree", "-m", "-u", old, new); err != nil {
		return err
	}
	if entry != list.newVersion() {
		here.putList(ctx, list, entry)
	}
	r.step("written")
	if err := r.advance(ctx, "ralph: merge", old, new); err != nil {
		here.putList(ctx, list, list.oldVersion())
		if _, back := here.git(ctx, "read-tree", "-m", "-u", new, old); back != nil {
			return errors.Join(err, back)
		}
		return errors.Join(err, r.forgetForward())
	}
	r.step("moved")
	return r.finish(here)
}

// inTheWay refuses files that are not as in the commit old: a person has changed or staged them, or has others in their
// place.
func (r *Repo) inTheWay(ctx context.Context, here privateGit, old string, files []change) error {
	staged, err := here.names(ctx, "diff-index", "--cached", "--name-only", "-z", old)
	if err != nil {
		return err
	}
	changed, err := here.names(ctx, "diff-files", "--name-only", "-z")
	if err != nil {
		return err
	}
	gone := deletions(files)
	var inIndex, onDisk []string
	for _, c := range files {
		switch {
		case slices.Contains(staged, c.name):
			inIndex = append(inIndex, c.name)
		case slices.Contains(changed, c.name), c.isAddition() && r.isTaken(c.name, gone):
			onDisk = append(onDisk, c.name)
		}
	}
	switch {
	case len(inIndex) > 0:
		return r.stagedError(inIndex)
	case len(onDisk) > 0:
		return fmt.Errorf(wouldWrite, decide.Names(r.InProject(onDisk)), "changed", "stash")
	}
	return nil
}

const wouldWrite = "%s is %s in the project, and the merge would write it: commit or %s it"

// stagedError refuses files that a person has staged.
func (r *Repo) stagedError(names []string) error {
	return fmt.Errorf(wouldWrite, decide.Names(r.InProject(names)), "staged", "unstage")
}

// deletions returns the files that a merge deletes.
func deletions(files []change) map[string]bool {
	gone := map[string]bool{}
	for _, c := range files {
		gone[c.name] = c.isDeletion()
	}
	return gone
}

// anyTaken reports whether git would write what a person has changed: a file that git ignores is in the place of a new
// one, or a file is missing.
func (r *Repo) anyTaken(files []change) bool {
	gone := deletions(files)
	return slices.ContainsFunc(files, func(c change) bool {
		if c.isAddition() {
			return r.isTaken(c.name, gone)
		}
		_, err := os.Lstat(r.path(c.name))
		return err != nil
	})
}

// isTaken reports whether a file that git does not track is in the place of a new one, or of a folder above it. gone
// has the files that the merge deletes.
func (r *Repo) isTaken(name string, gone map[string]bool) bool {
	for up := path.Dir(name); up != "."; up = path.Dir(up) {
		info, err := os.Lstat(r.path(up))
		if err == nil && !info.IsDir() {
			return !gone[up]
		}
	}
	info, err := os.Lstat(r.path(name))
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return true
	}
	return filepath.WalkDir(r.path(name), func(at string, entry fs.DirEntry, err error) error {
		below, err2 := filepath.Rel(r.top, at)
		if err == nil && err2 == nil && !entry.IsDir() && !gone[filepath.ToSlash(below)] {
			return errors.New("another file")
		}
		return errors.Join(err, err2)
	}) != nil
}

func (r *Repo) path(name string) string { return filepath.Join(r.top, filepath.FromSlash(name)) }

// finish gives the project our copy of its index.
func (r *Repo) finish(here privateGit) error {
	if err := copyIndex(here.index, filepath.Join(r.git, "index")); err != nil {
		return err
	}
	r.step("indexed")
	return r.forgetForward()
}

// forwards is the file in our git folder that says from where to where the project's files go, while they do.
const forwards = "forwards"

func (r *Repo) noteForward(old, new string) error {
	return os.WriteFile(filepath.Join(r.privateDir, forwards), []byte(old+" "+new), 0o600)
}

func (r *Repo) forgetForward() error { return os.Remove(filepath.Join(r.privateDir, forwards)) }

// advance moves the loop's branch from a commit to another one, for a reason that the branch's log has.
func (r *Repo) advance(ctx context.Context, reason, from, to string) error {
	_, err := r.refs(ctx, "update-ref", "--no-deref", "-m", reason, heads+r.branch, to, from)
	if err == nil {
		return nil
	}
	return cmp.Or(r.checkTip(ctx, from), err)
}

// checkTip returns ErrMoved if the loop's branch is not at a commit.
func (r *Repo) checkTip(ctx context.Context, from string) error {
	at := r.At(ctx, r.branch)
	if at == "" || at == from {
		return nil
	}
	return fmt.Errorf("%w: %s is at commit %.12s, not at %.12s", ErrMoved, plain.Line(r.branch, 200), at, from)
}

// Recover finishes a Forward that was killed or failed while it wrote files: it writes those that are not written yet.
// If a person has changed one of them meanwhile, it leaves that file and returns an error that names it, once. If the
// branch is at neither commit, a person has committed since, and it only cleans up.
func (r *Repo) Recover(ctx context.Context, old, new string) error {
	if err := r.removeLocks(); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(r.privateDir, forwards))
	if err != nil || string(text) != old+" "+new {
		return nil // it wrote nothing, or all
	}
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if head != old && head != new { // index and files are a person's
		return r.forgetForward()
	}
	if err := r.OnBranch(ctx); err != nil {
		return err
	}
	unlock, err := r.lock(lockText)
	if err != nil {
		return err
	}
	defer unlock()
	here, err := r.projectGit(ctx)
	if err != nil {
		return err
	}
	edited, err := r.resume(ctx, here, old, new)
	if err != nil {
		return err
	}
	if head == old {
		if err := r.advance(ctx, "ralph: merge", old, new); err != nil {
			return err
		}
	}
	if err := r.finish(here); err != nil || len(edited) == 0 {
		return err
	}
	return fmt.Errorf("%s was changed in the project before commit %.12s was written there, so it is left as it is: "+
		"look at git diff, and take the commit's changes over", decide.Names(r.InProject(edited)), new)
}

// resume writes the files that a killed read-tree has not written, and notes all of them in our copy of the index. The
// list is only noted there. A file that is not as in old counts as written. edited are those that are not as in new
// either: a person has changed them.
func (r *Repo) resume(ctx context.Context, here privateGit, old, new string) (edited []string, err error) {
	files, err := r.changes(ctx, old, new)
	if err != nil {
		return nil, err
	}
	list, files := r.cutList(files)
	entry, ok, err := r.listInIndex(ctx, here, list)
	if err != nil {
		return nil, err
	}
	dirty, err := here.dirtyFiles(ctx)
	if err != nil {
		return nil, err
	}
	var index strings.Builder // of git update-index --index-info: MODE ID<tab>NAME
	if ok && list.name != "" {
		fmt.Fprintf(&index, "%s %s\t%s\x00", entry.mode, entry.id, list.name)
	}
	missing, gone := map[string]bool{}, deletions(files)
	for _, c := range files {
		fmt.Fprintf(&index, "%s %s\t%s\x00", strings.Replace(c.newMode, "000000", "0", 1), c.newID, c.name)
		info, err := os.Lstat(r.path(c.name))
		isThere := err == nil && !info.IsDir()
		isOld := !dirty[c.name] && isThere != c.isAddition()
		missing[c.name] = isOld && !c.isDeletion()
		switch {
		case !c.isDeletion():
		case isOld:
			r.remove(c.name)
		case isThere:
			edited = append(edited, c.name)
		}
	}
	if _, err := here.feed(ctx, []byte(index.String()), "update-index", "-z", "--index-info"); err != nil {
		return nil, err
	}
	dirty, err = here.dirtyFiles(ctx)
	if err != nil {
		return nil, err
	}
	var again strings.Builder
	for _, c := range files {
		switch {
		case !dirty[c.name]:
		case missing[c.name] && !(c.isAddition() && r.isTaken(c.name, gone)), r.isCutShort(ctx, here, c):
			again.WriteString(c.name + "\x00")
		default:
			edited = append(edited, c.name)
		}
	}
	_, err = here.feed(ctx, []byte(again.String()), "checkout-index", "-f", "-u", "-z", "--stdin")
	return edited, err
}

// remove removes a file of the project, and the folders that are empty then.
func (r *Repo) remove(name string) {
	_ = os.Remove(r.path(name)) // if it stays, git status shows it
	for up := path.Dir(name); up != "." && up != r.prefix; up = path.Dir(up) {
		if os.Remove(r.path(up)) != nil {
			break // other files are in it
		}
	}
}

// isCutShort reports whether a file is missing, or has the beginning of its new text alone: git was killed while it
// wrote the file.
func (r *Repo) isCutShort(ctx context.Context, here privateGit, c change) bool {
	text, err := loopdir.ReadFile(r.top, filepath.FromSlash(c.name), maxIndex)
	if loopdir.Absent(err) {
		return true
	}
	whole, err2 := here.git(ctx, "cat-file", "blob", c.newID)
	return err == nil && err2 == nil && bytes.HasPrefix(whole, text)
}

// refresh notes in an index how the files on the disk are.
func (a privateGit) refresh(ctx context.Context) {
	_, _ = a.git(ctx, "update-index", "-q", "--refresh") // it fails if something is changed
}

// dirtyFiles returns the files on the disk that are not as in the index.
func (a privateGit) dirtyFiles(ctx context.Context) (map[string]bool, error) {
	a.refresh(ctx)
	names, err := a.names(ctx, "diff-files", "--name-only", "-z")
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all, err
}

// OnBranch refuses a project that is on another branch than the loop's.
func (r *Repo) OnBranch(ctx context.Context) error {
	if r.isOn(ctx, r.branch) {
		return nil
	}
	return cmp.Or(r.middle(), fmt.Errorf("%w %s any more: type git switch %s", ErrOtherBranch,
		plain.Line(r.branch, 200), plain.Arg(r.branch)))
}

// isOn reports whether the project is on a branch. Git need not be asked if the file says that it is: with reftable the
// file names refs/heads/.invalid.
func (r *Repo) isOn(ctx context.Context, branch string) bool {
	text, err := loopdir.ReadFile(r.git, "HEAD", maxRules)
	if err == nil && string(text) == "ref: "+heads+branch+"\n" {
		return true
	}
	at, err := r.refs(ctx, "symbolic-ref", "-q", "HEAD")
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

// removeLocks removes what a killed call of ours has left in the git folder: its lock of the index, and half-made
// files.
func (r *Repo) removeLocks() error {
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
