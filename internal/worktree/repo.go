// Package worktree is what parallel lanes need of git: a repository of the run's own, folders in which agents work,
// merges that touch no work tree, a branch that goes forward together with the project's files, and bundles of other
// machines. It also commits in the project, and switches to a branch. It knows nothing of loops and agents.
//
// The project's repository and those of the lanes are foreign: an agent can write their configuration, their attributes
// and their hooks. So no command here reads files of a work tree, merges or checks out under any configuration but
// that of a git folder of ours, which has a few harmless settings of the project's repository. A lane's .git is read as
// files. Commands that need the refs of the project's repository run there, without hooks.
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
	"slices"
	"strings"
	"sync"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Options are what Open needs to know.
type Options struct {
	Project    string   // absolute: a folder of the repository, or its root; "": a worker has none, and Keep holds
	Folder     string   // that of the project in its repository, with slashes; "." for the root; "": any
	Env        []string // where programs and the user's files are
	SHA256     bool     // without Project: the run's repository has ids of SHA-256
	Except     []string // files and folders below the project that no lane commits and no merge changes: the loops'
	List       List     // of them, a file of which merges change a part
	Tracked    []string // files below the project that are committed only if git tracks them already
	PrivateDir string   // a folder for the files of this package; "": a temporary one
	Keep       bool     // with PrivateDir: what is there stays, and has objects of its own
	Branch     string   // the loop's branch; "": the one that is checked out
	For        string   // who needs the repository, in errors, in the plural; "": lanes
	Without    string   // what a person does to work without that; "": work without lanes
}

// Repo is the repository of a project. Its methods may be called at the same time. The names of files that they
// return are relative to the project, with slashes; a file that is not in the project begins with "../".
type Repo struct {
	env        []string
	users      string // see Options.For
	without    string
	top        string // the root of the project's work tree
	prefix     string // the project below top, with slashes; "" for top
	except     []string
	list       string   // the file of Options.List, from the root; "": none
	tracked    []string // see Options.Tracked
	git        string   // the git folder of the project's work tree
	common     string   // the git folder of the whole repository
	privateDir string   // our git folder; see privateGit
	keep       bool     // see Options.Keep
	objects    string   // the folder of what we write: our own, or that of the repository
	branch     string

	attributes string            // an index that has the files with attributes for merges
	files      map[string]string // those of our git folder that a lane's has, too
	trees      sync.Map          // by commit: its tree, as far as that is known
	bases      sync.Map          // by commit: one that it comes from, as far as that is known
	lastList   listText          // the list at the commit that was merged last
	listing    sync.Mutex        // guards lastList
	merging    sync.Mutex        // holds the names in our git folder
	copying    sync.Mutex        // guards fetched and published
	tags       []string          // "ID REF" of those that the branch has
	fetched    string            // the last commit that was copied from the repository; "": none
	published  string            // the last commit that was copied into it; "": none

	mergeLists func(base, other, data []byte) ([]byte, error) // see List.Merge

	step func(name string) // for tests: called between the steps of Forward
}

// Open finds the repository of a project, and its branch. Close frees what it makes. It is an error if there is no
// repository, or no branch; the error says what to do.
func Open(ctx context.Context, o Options) (*Repo, error) {
	r := &Repo{env: o.Env, branch: o.Branch, privateDir: o.PrivateDir, keep: o.Keep, step: func(string) {}}
	r.users = cmp.Or(o.For, "lanes")
	r.without = cmp.Or(o.Without, "work without lanes")
	err := r.locate(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, e := range o.Except {
		e = filepath.ToSlash(filepath.Clean(e))
		if e == "." || !filepath.IsLocal(e) {
			return nil, fmt.Errorf("%q is not below the project", e)
		}
		r.except = append(r.except, path.Join(r.prefix, e))
	}
	if o.List.File != "" {
		r.list, r.mergeLists = path.Join(r.prefix, o.List.File), o.List.Merge
	}
	for _, name := range o.Tracked {
		r.tracked = append(r.tracked, path.Join(r.prefix, name))
	}
	switch {
	case r.privateDir == "":
		r.privateDir, err = os.MkdirTemp("", "ralph-git-")
	case r.keep:
		err = os.MkdirAll(r.privateDir, 0o700)
	default:
		err = errors.Join(os.RemoveAll(r.privateDir), os.Mkdir(r.privateDir, 0o700)) // one that was killed has left it
	}
	if err != nil {
		return nil, err
	}
	r.objects = r.theirs().objects
	if r.keep {
		r.objects = filepath.Join(r.privateDir, "objects")
		r.sweep()
	}
	if err := r.prepare(ctx, o); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// sweep removes unfinished files that a killed process has left.
func (r *Repo) sweep() {
	for dir, prefix := range map[string]string{r.privateDir: copies, r.objects: imports} {
		all, _ := os.ReadDir(dir)
		for _, entry := range all {
			if strings.HasPrefix(entry.Name(), prefix) {
				_ = os.RemoveAll(filepath.Join(dir, entry.Name()))
			}
		}
	}
}

// locate finds the root of the repository, the project in it, and its branch.
func (r *Repo) locate(ctx context.Context, o Options) error {
	below := filepath.FromSlash(o.Folder)
	if o.Project == "" {
		r.top, r.git, r.common = o.PrivateDir, o.PrivateDir, o.PrivateDir
	} else {
		project, err := filepath.EvalSymlinks(o.Project)
		if err != nil {
			return err
		}
		r.top = loopdir.RepoRoot(project)
		if r.top == "" {
			return fmt.Errorf("%s is in no git repository, and %s need one: type git init, git add -A and git commit",
				plain.Line(o.Project, 300), r.users)
		}
		below, err = filepath.Rel(r.top, project)
		if err != nil {
			return err
		}
	}
	if below != "." {
		r.prefix = filepath.ToSlash(below)
	}
	if o.Project == "" {
		return nil
	}
	if o.Folder != "" && o.Folder != r.Folder() {
		return fmt.Errorf("%s is another repository than the one that was here when the run began: "+
			"put its .git back, or commit yourself", plain.Line(r.top, 300))
	}
	return r.find(ctx)
}

// Close removes the files that Open made, unless they are to be kept.
func (r *Repo) Close() {
	if !r.keep {
		r.Delete()
	}
}

// Delete removes all files of this package. The lanes that are there cannot be opened again.
func (r *Repo) Delete() { _ = loopdir.RemoveAll(r.privateDir) }

// find finds the git folders and the branch.
func (r *Repo) find(ctx context.Context) error {
	version, err := r.refs(ctx, "version")
	if err != nil {
		return fmt.Errorf("%s need git: %w", r.users, err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor); err == nil &&
		(major < 2 || major == 2 && minor < 38) {
		return fmt.Errorf("%s is too old for %s: install git 2.38 or later", plain.Line(version, 60), r.users)
	}
	git := loopdir.GitFolder(r.top)
	for _, name := range []string{"HEAD", "config", "commondir"} { // with these git finds a repository
		path := filepath.Join(git, name)
		if info, err := os.Lstat(path); err == nil && waits(info.Mode()) {
			return errWaits(path)
		}
	}
	for args, to := range map[string]*string{"--absolute-git-dir": &r.git, "--git-common-dir": &r.common} {
		*to, err = r.refs(ctx, "rev-parse", args)
		if err != nil {
			return err
		}
		*to = filepath.FromSlash(*to)
		if !filepath.IsAbs(*to) {
			*to = filepath.Join(r.top, *to)
		}
	}
	if err := r.leadsNowhere(); err != nil {
		return err
	}
	if r.branch != "" {
		return nil
	}
	name, err := r.refs(ctx, "symbolic-ref", "-q", "HEAD")
	r.branch = strings.TrimPrefix(name, heads)
	if err != nil || r.branch == name {
		return cmp.Or(r.middle(),
			errors.New("no branch is checked out (HEAD is detached): type git switch and the branch to work on"))
	}
	return nil
}

// waits reports whether git waits for somebody else when it opens a file.
func waits(mode fs.FileMode) bool { return mode&(fs.ModeNamedPipe|fs.ModeDevice) != 0 }

func errWaits(path string) error {
	return fmt.Errorf("%s is no file, and git would wait for it: remove it", plain.Line(path, 300))
}

// leadsNowhere refuses a git folder that leads to another place. An agent can make it so, and git writes through links,
// be they only of a branch's log. It refuses pipes, too: a git that is killed while it waits leaves its locks.
func (r *Repo) leadsNowhere() error {
	trees := filepath.Join(r.common, "worktrees")
	if !loopdir.SameFile(r.git, r.common) && !loopdir.SameFile(filepath.Dir(r.git), trees) {
		return fmt.Errorf("%s leads to another repository: remove its commondir", r.git)
	}
	for _, name := range []string{"HEAD", "packed-refs", "refs", "reftable", "logs", "objects", "worktrees", "shallow"} {
		err := filepath.WalkDir(filepath.Join(r.common, name), func(path string, d fs.DirEntry, err error) error {
			switch {
			case loopdir.Absent(err):
				return nil
			case err != nil:
				return err
			case d.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
				return fmt.Errorf("%s is a link, and git would write where it leads: replace it with a real file or "+
					"folder", plain.Line(path, 300))
			case waits(d.Type()):
				return errWaits(path)
			case d.IsDir() && filepath.Base(filepath.Dir(path)) == "objects" && d.Name() != "info":
				// thousands of files, which git replaces
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const heads = "refs/heads/"

// Folder returns the folder of the project in its repository, as Options.Folder has it.
func (r *Repo) Folder() string { return cmp.Or(r.prefix, ".") }

// Branch returns the name of the loop's branch.
func (r *Repo) Branch() string { return r.branch }

// Head returns the last commit of the loop's branch.
func (r *Repo) Head(ctx context.Context) (commit string, err error) {
	commit, err = r.refs(ctx, "rev-parse", "-q", "--verify", heads+r.branch+"^{commit}")
	if err != nil && proc.GitExit(err) == 1 {
		return "", fmt.Errorf("branch %s has no commit yet: type git add -A and git commit", plain.Line(r.branch, 200))
	}
	if err == nil {
		err = r.Fetch(ctx, commit)
	}
	return commit, err
}

// At returns the commit of a branch, "" if there is no such branch.
func (r *Repo) At(ctx context.Context, branch string) string {
	commit, _ := r.refs(ctx, "rev-parse", "-q", "--verify", heads+branch+"^{commit}")
	return commit
}

// Point makes a branch of the repository at a commit. A branch of that name moves there.
func (r *Repo) Point(ctx context.Context, branch, commit string) error {
	var err error
	for range 2 { // a person may have thrown away what was published before
		if err := r.publish(ctx, commit); err != nil {
			return err
		}
		_, err = r.refs(ctx, "update-ref", "--no-deref", "--create-reflog", heads+branch, commit)
		if err == nil {
			break
		}
		r.withdraw()
	}
	return err
}

// Move moves a branch if it is at the commit from.
func (r *Repo) Move(ctx context.Context, branch, from, to string) error {
	if err := r.publish(ctx, to); err != nil {
		return err
	}
	_, err := r.refs(ctx, "update-ref", "--no-deref", heads+branch, to, from)
	if err != nil {
		r.withdraw()
	}
	return err
}

// Drop deletes a branch if it is at a commit.
func (r *Repo) Drop(ctx context.Context, branch, commit string) error {
	_, err := r.refs(ctx, "update-ref", "--no-deref", "-d", heads+branch, commit)
	return err
}

// backups begins the names of the tags of Backup.
const backups = "ralph/backup/"

// Backup tags the loop's branch as ralph/backup/NAME and returns the tag. A tag that is there stays as it is.
func (r *Repo) Backup(ctx context.Context, name string) (tag string, err error) {
	tag = backups + name
	if _, err := r.refs(ctx, "rev-parse", "-q", "--verify", "refs/tags/"+tag); err == nil {
		return tag, nil
	}
	head, err := r.Head(ctx)
	if err != nil {
		return "", err
	}
	_, err = r.refs(ctx, "update-ref", "--no-deref", "refs/tags/"+tag, head)
	return tag, err
}

// Descends reports whether a commit is an ancestor of another one, or the same.
func (r *Repo) Descends(ctx context.Context, commit, from string) (bool, error) {
	if !isID(commit) || !isID(from) {
		return false, fmt.Errorf("%q and %q are to be commits", commit, from)
	}
	if known, _ := r.bases.Load(commit); commit == from || known == from {
		return true, nil
	}
	_, err := privateGit{r: r}.git(ctx, "merge-base", "--is-ancestor", from, commit)
	if err != nil && proc.GitExit(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// fromProject returns a path below the root as one from the project.
func (r *Repo) fromProject(name string) string {
	rel, err := filepath.Rel(filepath.FromSlash("/"+r.prefix), filepath.FromSlash("/"+name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// InProject returns paths below the root as ones from the project.
func (r *Repo) InProject(names []string) []string {
	all := make([]string, 0, len(names))
	for _, name := range names {
		all = append(all, r.fromProject(name))
	}
	return all
}

// excepted reports whether a path below the root is never merged. That holds for Options.Except without those of
// Options.Tracked, and for temporary files beside them: a process that is killed while it replaces the list leaves one.
// Where the system does not tell two cases of a letter apart, excepted does not, either.
func (r *Repo) excepted(name string) bool {
	if slices.Contains(r.tracked, name) {
		return false
	}
	isTemporary := func(e string) bool {
		return path.Dir(name) == path.Dir(e) && loopdir.Temporary(path.Base(name), path.Base(e))
	}
	return r.isBelowExcept(name) || slices.ContainsFunc(r.except, isTemporary) ||
		slices.ContainsFunc(r.tracked, isTemporary)
}

// isBelowExcept reports whether a path below the root is one of Options.Except, or in one.
func (r *Repo) isBelowExcept(name string) bool {
	return slices.ContainsFunc(r.except, func(e string) bool {
		n := len(e)
		return len(name) >= n && same(name[:n], e) && (len(name) == n || name[n] == '/')
	})
}
