package worktree

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// A run has objects of its own. What it needs of the person's repository, and what an agent has committed in a lane, is
// copied into them. Its work is copied into the person's repository when a branch there is to have it. A copy is a pack
// that one git writes and another one reads. Both run with our configuration, so nobody else's counts.

// hasOwnObjects reports whether the objects are the run's own, and not those of the person's repository.
func (r *Repo) hasOwnObjects() bool { return r.objects != r.theirs().objects }

// theirs is git with the objects of the person's repository.
func (r *Repo) theirs() privateGit {
	return privateGit{r: r, objects: filepath.Join(r.common, "objects")}
}

// Fetch copies a commit of the person's repository, with its history, into the objects of the run, unless it is there.
func (r *Repo) Fetch(ctx context.Context, commit string) error {
	r.copying.Lock()
	defer r.copying.Unlock()
	if !r.hasOwnObjects() || r.fetched == commit {
		return nil
	}
	var err error
	if r.published != commit && !r.Has(ctx, commit) {
		err = r.copyObjects(ctx, r.theirs(), privateGit{r: r}, commit, r.fetched, 0)
	}
	if err != nil && r.fetched != "" { // a person has rewritten the history, and thrown the old one away
		err = r.copyObjects(ctx, r.theirs(), privateGit{r: r}, commit, "", 0)
	}
	if err == nil && r.fetched == "" && len(r.tags) > 0 {
		err = r.copyObjects(ctx, r.theirs(), privateGit{r: r}, strings.Join(r.tagIDs(), "\n"), commit, maxLoose)
	}
	if err != nil {
		return fmt.Errorf("cannot copy commit %.12s: %w", commit, err)
	}
	r.fetched = commit
	return nil
}

// tagIDs returns the objects of the tags that lanes have.
func (r *Repo) tagIDs() (ids []string) {
	for _, tag := range r.tags {
		id, _, _ := strings.Cut(tag, " ")
		ids = append(ids, id)
	}
	return ids
}

// refsOfLanes returns the packed refs of a lane's .git: the tags, since builds ask for the version, and the loop's
// branch.
func (r *Repo) refsOfLanes() string {
	r.copying.Lock()
	defer r.copying.Unlock()
	all := slices.Clone(r.tags)
	if r.branch != "" && r.fetched != "" {
		all = append(all, r.fetched+" "+heads+r.branch)
	}
	return strings.Join(append(all, ""), "\n")
}

// publish copies a commit of the run into the person's repository. All its objects are there then: a person's gc may
// have thrown away what no branch had.
func (r *Repo) publish(ctx context.Context, commit string) error {
	r.copying.Lock()
	defer r.copying.Unlock()
	has := cmp.Or(r.published, r.fetched)
	if !r.hasOwnObjects() || has == commit {
		return nil
	}
	err := r.copyWhole(ctx, commit, has)
	if err != nil && has != "" {
		err = r.copyWhole(ctx, commit, "")
	}
	if err != nil {
		return fmt.Errorf("cannot copy commit %.12s into the repository: %w", commit, err)
	}
	r.published = commit
	return nil
}

// withdraw has the next publish copy again what the last one has copied. No branch has got it, so a person's gc may
// throw it away.
func (r *Repo) withdraw() {
	r.copying.Lock()
	defer r.copying.Unlock()
	r.published = ""
}

// copyWhole copies a commit into the person's repository, and checks that none of its objects is missing there.
func (r *Repo) copyWhole(ctx context.Context, commit, has string) error {
	if err := r.copyObjects(ctx, privateGit{r: r}, r.theirs(), commit, has, maxLoose); err != nil {
		return err
	}
	args := []string{"rev-list", "--objects", "--quiet", commit}
	if has != "" {
		args = append(args, "^"+has)
	}
	_, err := r.theirs().git(ctx, args...)
	return err
}

// maxLoose is the most objects of a copy that become files of their own, as with git's transfer.unpackLimit.
const maxLoose = 100

// copies begins the names of packs that are copied.
const copies = "copy-"

// copyObjects copies what want has, and the commit has has not, from one place to another. want is a commit, or ids on
// several lines; an empty has means all. Up to loose objects become files of their own; a copy that is cut short may
// leave some of them. What comes from an agent is checked as git fsck does.
func (r *Repo) copyObjects(ctx context.Context, from, to privateGit, want, has string, loose uint32) error {
	f, err := os.CreateTemp(r.privateDir, copies)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	c := from.command("pack-objects", "--revs", "--stdout", "-q")
	c.Stdin = []byte(want + "\n")
	if has != "" {
		c.Stdin = append(c.Stdin, "^"+has+"\n"...)
	}
	c.Stdout = f
	if got := proc.Run(ctx, c); got.Err != nil {
		return fmt.Errorf("git pack-objects: %s", plain.Line(cmp.Or(string(got.Output), got.Err.Error()), 400))
	}
	head := make([]byte, 12) // gitformat-pack(5): "PACK", a version and the number of objects, each of four bytes
	if _, err := f.ReadAt(head, 0); err != nil {
		return err
	}
	count := binary.BigEndian.Uint32(head[8:])
	if count == 0 {
		return nil
	}
	args := []string{"index-pack", "--stdin"}
	if count <= loose {
		args = []string{"unpack-objects", "-q"}
	}
	if from.alternate != "" {
		args = append(args, "--strict")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	c = to.command(args...)
	c.Input = f
	_, err = proc.GitOutput(ctx, c, args[0])
	return err
}

// take copies what an agent has committed in a lane into the objects of the run. The agent's folder of objects is only
// read: it may say that it borrows from anywhere, and have pipes.
func (t *Tree) take(ctx context.Context, head string) error {
	root, err := os.OpenRoot(t.dir) // a link may lead out
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(".git/objects/info"); err != nil {
		return err
	}
	objects := filepath.Join(t.dir, ".git", "objects")
	err = filepath.WalkDir(objects, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !entry.Type().IsRegular() {
			return fmt.Errorf("%s is no file", path)
		}
		return err
	})
	if err != nil {
		return err
	}
	err = t.r.copyObjects(ctx, privateGit{r: t.r, alternate: objects}, privateGit{r: t.r}, head, t.tip, maxLoose)
	t.restoreAlternates()
	return err
}

// restoreAlternates lets the agent's .git borrow the objects of the run again: if its work is refused, the agent fixes
// it there.
func (t *Tree) restoreAlternates() {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return
	}
	defer root.Close()
	info := filepath.Join(".git", "objects", "info")
	if root.Mkdir(info, 0o700) == nil { // else git in the lane says what is wrong
		_ = root.WriteFile(filepath.Join(info, "alternates"), []byte(t.alternates()), 0o600)
	}
}
