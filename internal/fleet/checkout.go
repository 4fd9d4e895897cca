package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// checkout is a commit of a run, as files on a worker's machine.
type checkout struct {
	repo  *worktree.Repo
	tree  *worktree.Tree
	notes []byte // as the agent got them
}

// unbundling is how long git may take to read a bundle.
const unbundling = 10 * time.Minute

// checkout gets what a session begins with: the commit in a folder of the lane, and the list in it.
func (l *lane) checkout(ctx context.Context, t *jobs.Task, o order) (co checkout, err error) {
	dir := filepath.Join(l.Dir, o.Run)
	co.repo, err = l.fetch(ctx, t, dir, o)
	if err != nil {
		return co, err
	}
	name := fmt.Sprintf("lane-%d", l.number)
	co.tree, err = co.repo.Add(ctx, filepath.Join(dir, name), name, o.Commit)
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
	return co, err
}

// fetch brings the commit of an order into the repository of its run, which the lanes of a worker share.
func (l *lane) fetch(ctx context.Context, t *jobs.Task, dir string, o order) (*worktree.Repo, error) {
	l.fetching.Lock()
	defer l.fetching.Unlock()
	own := filepath.Join(dir, "repo")
	if _, err := os.Stat(own); err != nil {
		Tidy(l.Dir, l.Worker.say) // a run that is new here may be the last one for long
		delete(l.repos, o.Run)
	}
	if err := opens(dir); err != nil {
		return nil, err
	}
	repo := l.repos[o.Run]
	if repo == nil {
		except := []string{filepath.FromSlash(o.List)}
		if o.Notes != "" {
			except = append(except, filepath.FromSlash(o.Notes))
		}
		var err error
		repo, err = worktree.Open(ctx, worktree.Options{
			Env: l.Env.Vars, Except: except, PrivateDir: own, Keep: true, Folder: o.Folder, SHA256: len(o.Commit) == 64,
		})
		if err != nil {
			return nil, err
		}
		if l.repos == nil {
			l.repos = map[string]*worktree.Repo{}
		}
		l.repos[o.Run] = repo
	}
	for i, base := range o.Bases {
		if repo.Has(ctx, o.Commit) || i == 0 && repo.Has(ctx, base) { // the first base has the name of its commit
			continue
		}
		if err := l.unbundle(ctx, t, repo, base); err != nil {
			return nil, err
		}
		if i == 0 {
			if err := repo.Anchor(base); err != nil {
				return nil, err
			}
		}
	}
	return repo, nil
}

// unbundle adds what a bundle has to a repository.
func (l *lane) unbundle(ctx context.Context, t *jobs.Task, repo *worktree.Repo, base string) error {
	f, err := os.CreateTemp(l.Dir, "base-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(t.Get(ctx, base, f, jobs.MaxFile), f.Close()); err != nil {
		return err
	}
	return repo.Unbundle(ctx, f.Name())
}

// write gives the folder a text of the run.
func (co checkout) write(ctx context.Context, t *jobs.Task, path, base string, most int64) ([]byte, error) {
	var text bytes.Buffer
	if err := t.Get(ctx, base, &text, most); err != nil {
		return nil, err
	}
	return text.Bytes(), co.tree.WriteFile(filepath.FromSlash(path), text.Bytes())
}

// newNotes returns what the agent has added to the notes.
func (co checkout) newNotes(o order) string {
	now, err := loopdir.ReadFile(co.tree.Project(), filepath.FromSlash(o.Notes), loopdir.MaxNotes)
	if o.Notes == "" || err != nil {
		return ""
	}
	return plain.Text(string(progress.NewNotes(co.notes, now)), loopdir.MaxNoted)
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
