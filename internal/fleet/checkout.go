package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// checkout is a commit of a run, as files on a worker's machine.
type checkout struct {
	repo  *worktree.Repo
	tree  *worktree.Tree
	notes []byte // as the agent got them
}

// fetching keeps the lanes of this process from writing to one repository at a time.
var fetching sync.Mutex

// unbundling is how long git may take to read a bundle.
const unbundling = 10 * time.Minute

// checkout gets what a session begins with: the commit in a worktree of the lane, and the list in it.
func (l *lane) checkout(ctx context.Context, t *jobs.Task, o order) (co checkout, err error) {
	dir := filepath.Join(l.Dir, o.Run)
	top := filepath.Join(dir, "repo")
	if err := l.fetch(ctx, t, top, o); err != nil {
		return co, err
	}
	project := filepath.Join(top, filepath.FromSlash(o.Folder))
	if err := os.MkdirAll(project, 0o700); err != nil {
		return co, err
	}
	except := []string{filepath.ToSlash(o.List)}
	if o.Notes != "" {
		except = append(except, o.Notes)
	}
	own := filepath.Join(dir, fmt.Sprintf("lane-%d.git", l.number))
	co.repo, err = worktree.Open(ctx, worktree.Options{Project: project, Env: l.Env.Vars, Except: except, Own: own})
	if err != nil {
		return co, err
	}
	tree := filepath.Join(dir, fmt.Sprintf("lane-%d", l.number))
	co.tree, err = co.repo.Add(ctx, tree, fmt.Sprintf("lane-%d", l.number), o.Commit)
	if err == nil {
		err = co.tree.Reset(ctx, o.Commit)
	}
	if err == nil {
		_, err = co.write(ctx, t, o.List, o.ListText, features.MaxBytes)
	}
	if err == nil && o.Notes != "" {
		co.notes, err = co.write(ctx, t, o.Notes, o.NotesText, loopdir.MaxNotes)
	}
	if err == nil {
		l.open = filepath.Join(dir, fmt.Sprintf("open-%d", l.number))
		err = os.WriteFile(l.open, nil, 0o600)
	}
	if err != nil {
		co.repo.Close()
	}
	return co, err
}

// fetch brings the commit of an order into the repository of its run, which has no files.
func (l *lane) fetch(ctx context.Context, t *jobs.Task, top string, o order) error {
	fetching.Lock()
	defer fetching.Unlock()
	for _, name := range []string{"config", "HEAD", "refs/heads/base"} { // a git that was killed leaves its lock
		_ = os.Remove(filepath.Join(top, ".git", filepath.FromSlash(name+".lock")))
	}
	_, isNew := os.Stat(filepath.Join(top, ".git", "HEAD"))
	if isNew != nil {
		Tidy(l.Dir, l.Worker.say) // a run that is new here may be the last one for long
	}
	if err := opens(filepath.Dir(top)); err != nil {
		return err
	}
	if isNew != nil {
		if err := l.git(ctx, top, "init", "-q"); err != nil {
			return err
		}
	}
	if l.git(ctx, top, "cat-file", "-e", o.Commit+"^{commit}") == nil {
		return nil
	}
	for i, base := range o.Bases {
		if i == 0 && l.git(ctx, top, "cat-file", "-e", base+"^{commit}") == nil {
			continue // the first base has the name of its commit
		}
		if err := l.unbundle(ctx, t, top, base); err != nil {
			return err
		}
	}
	if err := l.git(ctx, top, "update-ref", "refs/heads/base", o.Bases[0]); err != nil {
		return err
	}
	return l.git(ctx, top, "symbolic-ref", "HEAD", "refs/heads/base")
}

// unbundle adds what a bundle has to a repository.
func (l *lane) unbundle(ctx context.Context, t *jobs.Task, top, base string) error {
	f, err := os.CreateTemp(l.Dir, "base-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(t.Get(ctx, base, f, jobs.MaxFile), f.Close()); err != nil {
		return err
	}
	return l.git(ctx, top, "bundle", "unbundle", f.Name())
}

// git runs git in a repository of this package's.
func (l *lane) git(ctx context.Context, dir string, args ...string) error {
	cmd := proc.Git(l.Env.Vars, dir, args...)
	cmd.Timeout = unbundling
	if got := proc.Run(ctx, cmd); got.Err != nil {
		return fmt.Errorf("git %s: %w", args[0], got.Err)
	}
	return nil
}

// write gives the worktree a text of the run.
func (co checkout) write(ctx context.Context, t *jobs.Task, path, base string, most int64) ([]byte, error) {
	var text bytes.Buffer
	if err := t.Get(ctx, base, &text, most); err != nil {
		return nil, err
	}
	return text.Bytes(), co.tree.WriteFile(filepath.FromSlash(path), text.Bytes())
}

// noted returns what the agent has added to the notes.
func (co checkout) noted(o order) string {
	now, err := loopdir.ReadFile(co.tree.Project(), filepath.FromSlash(o.Notes), loopdir.MaxNotes)
	if o.Notes == "" || err != nil {
		return ""
	}
	return plain.Text(string(progress.Added(co.notes, now)), loopdir.MaxNoted)
}

// claims reports whether the agent claims the feature, in its copy of the list.
func (co checkout) claims(o order) bool {
	path := filepath.Join(co.tree.Project(), filepath.FromSlash(o.List))
	if o.Tag != "" {
		path += "#" + o.Tag
	}
	list := loopdir.ReadList(path, features.Reading{Skip: o.Skip}, co.tree.Project())
	item, has := list.Find(o.Feature)
	return list.Err == nil && has && item.Passes
}
