package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Draft is a file that was not committed when a run began.
type Draft struct {
	ID      string `json:"now"`  // the id of what it had; zeros: it was deleted; "": it was too large to have one
	BaseID  string `json:"was"`  // the id that it had in the last commit; "": it was not there
	IsClean bool   `json:"gone"` // its change was gone at the last look: a person may have stashed it
}

// Drafts returns the files of the project that are not as in its last commit, by their names from the root of the
// repository. Those of Options.Except are not among them.
func (r *Repo) Drafts(ctx context.Context) (map[string]Draft, error) {
	if err := r.checkGitLink(); err != nil {
		return nil, err
	}
	t, untracked, err := r.lookAtProject(ctx)
	if err == nil && len(untracked) > maxDrafts {
		err = errDrafts
	}
	if err != nil {
		return nil, err
	}
	large, err := r.largeOf(untracked)
	if err != nil {
		return nil, err
	}
	files, err := t.addFiles(ctx, &treeState{head: t.base}, r.projectPathspecs(large)...)
	if err != nil {
		return nil, err
	}
	all := map[string]Draft{}
	for _, name := range large {
		all[name] = Draft{}
	}
	for _, c := range files {
		if !t.leavesOut(c) {
			all[c.name] = Draft{ID: c.newID, BaseID: c.previousID()}
		}
	}
	if len(all) > maxDrafts {
		return nil, errDrafts
	}
	for name := range all {
		if !utf8.ValidString(name) { // the record of a run is JSON, and would have another name
			return nil, fmt.Errorf("the name of %s is not in UTF-8: rename it, commit it, or let git ignore it",
				plain.Line(r.fromProject(name), 300))
		}
	}
	return all, nil
}

// maxDrafts is how many files may be uncommitted when a run begins.
const maxDrafts = 1000

var errDrafts = fmt.Errorf("more than %d files are not committed: commit them, or let git ignore them",
	maxDrafts)

// CommitProject commits what has changed in the project's own work tree, where a person may work, too. Drafts stay
// uncommitted; CommitProject deletes those from the map that somebody has committed since. commit is "" if nothing has
// changed; left names new files that look like the output of a build. It changes nothing, and says why, if the work has
// changed a draft, git is in the middle of something, or a file cannot be committed as it is. The work has a message;
// its commits are not looked at.
func (r *Repo) CommitProject(ctx context.Context, w Work, drafts map[string]Draft) (commit, left string, err error) {
	if err := r.EndCommit(ctx); err != nil {
		return "", "", err
	}
	for end := time.Now().Add(patience); ; {
		commit, left, err = r.tryCommitProject(ctx, w, drafts)
		isBusy := errors.Is(err, ErrMoved) || errors.Is(err, ErrLocked) || errors.Is(err, errPruned)
		if !isBusy || time.Now().After(end) {
			return commit, left, err
		}
		select {
		case <-ctx.Done():
			return commit, left, err
		case <-time.After(patience / 100):
		}
	}
}

// patience is how long CommitProject tries again while other git commands work in the repository. An editor looks at it
// all the time, and git status writes the index.
const patience = 3 * time.Second

func (r *Repo) tryCommitProject(ctx context.Context, w Work, drafts map[string]Draft) (commit, left string, err error) {
	if err := r.noGC(); err != nil {
		return "", "", err
	}
	index, err := r.readIndex()
	if err != nil {
		return "", "", err
	}
	t, untracked, err := r.lookAtProject(ctx)
	if err != nil {
		return "", "", err
	}
	large, err := r.largeOf(untracked)
	if err != nil {
		return "", "", err
	}
	t.drafts = drafts
	was, err := r.treeOf(ctx, t.base)
	if err != nil {
		return "", "", err
	}
	s := treeState{head: t.base}
	all, err := t.addFiles(ctx, &s, r.projectPathspecs(large)...)
	if err != nil {
		return "", "", err
	}
	if err := r.updateDrafts(ctx, t.base, drafts, all, large); err != nil {
		return "", "", err
	}
	if err := t.choose(ctx, &s, was, all); err != nil {
		return "", "", err
	}
	t.buildOutputs = append(t.buildOutputs, large...)
	t.buildOutputs = slices.DeleteFunc(t.buildOutputs, func(name string) bool {
		_, isKnown := drafts[name]
		return isKnown
	})
	if s.clean {
		return "", t.BuildOutputs(), nil
	}
	files, err := r.changes(ctx, s.head, s.tree)
	if err != nil {
		return "", "", err
	}
	if err := r.mayCommit(ctx, t.files(), files, drafts); err != nil {
		return "", "", err
	}
	commit, err = r.commitWork(ctx, w, s.tree, s.head)
	if err != nil {
		return "", "", err
	}
	with, err := r.indexWith(ctx, files)
	if err != nil {
		return "", "", err
	}
	return commit, t.BuildOutputs(), r.putCommit(ctx, s.head, commit, with, index)
}

// lookAtProject returns the project's own work tree, with a copy of its index, and the files in it that git neither
// tracks nor ignores.
func (r *Repo) lookAtProject(ctx context.Context) (t *Tree, untracked []string, err error) {
	head, err := r.Head(ctx)
	if err == nil {
		err = r.idle()
	}
	if err == nil {
		err = r.able(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	here, err := r.projectGit(ctx)
	if err != nil {
		return nil, nil, err
	}
	untracked, err = here.names(ctx, append([]string{"ls-files", "--others", "--exclude-standard", "-z", "--"},
		r.projectPathspecs(nil)...)...)
	t = &Tree{r: r, dir: r.top, branch: r.branch, base: head, index: here.index, scope: r.prefix}
	return t, untracked, err
}

// largeOf returns the large ones of some files. Git would copy them into the repository before anybody could leave them
// out.
func (r *Repo) largeOf(names []string) (large []string, err error) {
	for _, name := range names {
		info, err := os.Lstat(r.path(name))
		if err == nil && info.Mode().IsRegular() && info.Size() > maxNew && !r.excepted(name) {
			large = append(large, name)
		}
	}
	if len(large) > maxLarge {
		return nil, fmt.Errorf("more than %d files that git does not know have over %d MB: let git ignore them",
			maxLarge, maxNew>>20)
	}
	return large, nil
}

// maxLarge is how many large files may be untracked. Each is an argument of git.
const maxLarge = 200

// projectPathspecs returns the arguments of git for the project, since the rest of the repository is no work of the
// loop, without some files.
func (r *Repo) projectPathspecs(without []string) []string {
	args := []string{":(top)"}
	if r.prefix != "" {
		args[0] = pathspec("", r.prefix)
	}
	for _, name := range without {
		args = append(args, pathspec(",exclude", name))
	}
	return args
}

// updateDrafts notes what has become of the drafts. One that is not among the changed files any more is deleted if the
// commit head has another version of it than when the run began: somebody has committed it. If not, a person may bring
// the change back, which is stashed, or which git ignores now.
func (r *Repo) updateDrafts(ctx context.Context, head string, drafts map[string]Draft, changed []change,
	large []string) error {
	missing := maps.Clone(drafts)
	for _, name := range large {
		delete(missing, name)
	}
	for _, c := range changed {
		delete(missing, c.name)
		d := drafts[c.name]
		switch {
		case !d.IsClean:
		case d.BaseID != c.previousID(): // other work is committed there by now
			delete(drafts, c.name)
		case d.ID == c.newID:
			d.IsClean = false
			drafts[c.name] = d
		}
	}
	if len(missing) == 0 {
		return nil
	}
	entries, err := r.theirs().names(ctx, "ls-tree", "-r", "-z", "--full-tree", head) // MODE TYPE ID<tab>NAME
	if err != nil {
		return err
	}
	ids := map[string]string{}
	for _, entry := range entries {
		about, name, _ := strings.Cut(entry, "\t")
		ids[name] = about[strings.LastIndex(about, " ")+1:]
	}
	for name, d := range missing {
		_, err := os.Lstat(r.path(name))
		switch {
		case ids[name] != d.BaseID:
			delete(drafts, name)
		case d.BaseID != "" || err != nil:
			d.IsClean = true
			drafts[name] = d
		}
	}
	return nil
}

// mayCommit refuses a commit of drafts that have changed, and of new files that go through a filter: git add has taken
// them as they are.
func (r *Repo) mayCommit(ctx context.Context, here privateGit, files []change, drafts map[string]Draft) error {
	var changed []string
	var names strings.Builder
	for _, c := range files {
		if d, is := drafts[c.name]; is && !d.IsClean {
			changed = append(changed, c.name)
		}
		if !c.isDeletion() {
			names.WriteString(c.name + "\x00")
		}
	}
	if len(changed) > 0 {
		return fmt.Errorf("%s was not committed when the run began, and has changed since: commit it yourself",
			decide.Names(r.InProject(changed)))
	}
	return r.refuseFilters(ctx, here, names.String())
}

// indexWith returns a copy of the project's index in which some files are as they are committed now. What else a person
// has staged stays there.
func (r *Repo) indexWith(ctx context.Context, files []change) (path string, err error) {
	here, err := r.projectGit(ctx)
	if err != nil {
		return "", err
	}
	var index strings.Builder // of git update-index --index-info: MODE ID<tab>NAME
	for _, c := range files {
		fmt.Fprintf(&index, "%s %s\t%s\x00", strings.Replace(c.newMode, "000000", "0", 1), c.newID, c.name)
	}
	_, err = here.feed(ctx, []byte(index.String()), "update-index", "-z", "--index-info")
	if err == nil {
		here.refresh(ctx)
	}
	return here.index, err
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
	if err := r.noGC(); err != nil {
		return err
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
	_, err = r.theirs().git(ctx, "rev-list", "--objects", "--quiet", commit, "^"+head)
	if err != nil { // git gc has worked meanwhile
		err = fmt.Errorf("%w: %w", errPruned, err)
	} else {
		err = os.Rename(aside, place)
	}
	if err != nil { // else the next commit of the person would take this one back
		_, back := r.refs(ctx, "update-ref", "--no-deref", "-m", "ralph: no commit", heads+r.branch, head, commit)
		err = errors.Join(err, back)
	}
	return err
}

var errPruned = errors.New("an object of the commit is gone")

// noGC refuses a repository in which git gc works: with --prune=now it deletes the objects of a commit whose branch
// moves meanwhile.
func (r *Repo) noGC() error {
	text, err := loopdir.ReadFile(r.common, "gc.pid", maxLock) // PID HOST
	if err != nil {
		return nil
	}
	id, _, _ := strings.Cut(string(text), " ")
	pid, _ := strconv.Atoi(id)
	if !proc.Alive(pid, "") {
		return nil
	}
	return fmt.Errorf("%w: wait for it, or remove %s", ErrLocked, filepath.Join(r.common, "gc.pid"))
}

// checkGitLink refuses a repository to which only a .git of the agent's leads. That of a work tree says where this is.
func (r *Repo) checkGitLink() error {
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

// CutOff returns the lock that a CommitProject which was killed has left in the repository of a project, "" for none.
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

// cutOff reports whether the index in a git folder is locked for a CommitProject that was killed, and returns its
// commit.
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

// EndCommit ends a CommitProject that was killed. Its lock is there then, so git let nobody change the index: if the
// branch has the commit, only the index is missing.
func (r *Repo) EndCommit(ctx context.Context) error {
	if err := r.checkGitLink(); err != nil {
		return err
	}
	commit, is := cutOff(r.git)
	if !is {
		return nil
	}
	head, err := r.Head(ctx)
	if err == nil && head == commit {
		var files []change
		files, err = r.changes(ctx, commit+"^", commit)
		var with string
		if err == nil {
			with, err = r.indexWith(ctx, files)
		}
		if err == nil {
			err = copyIndex(with, filepath.Join(r.git, "index"))
		}
	}
	return errors.Join(err, os.Remove(r.indexLock()))
}
