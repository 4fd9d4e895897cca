package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// A host with several workers gives each of them a work tree of the project's repository. What they did is checked in
// such a tree, too, before it gets into the project.

// InWorkTree returns the loop over another work tree of the project's repository. The work of a worker is what is
// there. The trust, the record and the receipts are the loop's own.
func (p *Picture) InWorkTree(worktree string) (*Picture, error) {
	at := p.Loop.At
	top := loopdir.RepoRoot(at.Project)
	if top == "" {
		return nil, fmt.Errorf("the project %s is in no git repository", at.Project)
	}
	if name := namesProject(p.Config.Checks, at.Project); name != "" {
		return nil, fmt.Errorf("the check %s names the project by its whole path, so it cannot look at another work "+
			"tree; name files from the project's folder on", name)
	}
	rel, err := filepath.Rel(top, at.Project)
	other := p.in(filepath.Join(worktree, rel))
	other.Loop.inWorkTree = true
	other.Loop.look = nil
	// Git keeps no empty folders. A hash of the contents has them.
	return other, errors.Join(err, os.MkdirAll(filepath.Dir(other.Loop.tree(nil).Except), 0o755))
}

// in returns the loop over a folder that has the project's files. An agent writes to the project as well as to that
// folder. So neither has programs.
func (p *Picture) in(folder string) *Picture {
	other, l := *p, *p.Loop
	l.work = folder
	l.Env.Vars = p.Loop.environ()
	other.Config.SearchPath, _ = proc.PathOutside(p.Config.SearchPath, l.At.Project)
	other.Loop = &l
	return &other
}

// namesProject returns the first check that names the project by its whole path, "" for none.
func namesProject(checks []config.Check, project string) string {
	for _, check := range checks {
		if NamesPath(check.String(), project) {
			return plain.Line(cmp.Or(check.Name, check.String()), 80)
		}
	}
	return ""
}

// NamesPath reports whether a command has a path, or one below it.
func NamesPath(command, path string) bool {
	for _, after, found := strings.Cut(command, path); found; _, after, found = strings.Cut(after, path) {
		if after == "" || strings.ContainsAny(after[:1], `/\"'`+" \t;&|)") {
			return true
		}
	}
	return false
}

// project returns the folder that commands run in, and that they judge.
func (l *Loop) project() string { return cmp.Or(l.work, l.At.Project) }

// workPath returns where a path of the project is in the work tree that is looked at.
func (l *Loop) workPath(path string) string {
	if rel, err := filepath.Rel(l.At.Project, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(l.project(), rel)
	}
	return path
}

// WorkTreeList reads the copy of the list in the work tree of InWorkTree, in which a worker claims features.
func (p *Picture) WorkTreeList() decide.List {
	return p.underContract(loopdir.ReadList(p.Loop.workPath(p.ListPath()), p.reading(), p.Loop.project()))
}

// SetClaims marks features in the loop's own list as passing, or as open again, and stores the results of checks that
// ran in another work tree with the same contents. A feature that the file has no entry for stays open. A tracker has
// no command that claims: there the agents do.
func (l *Loop) SetClaims(ctx context.Context, ids []string, passes bool, results []decide.Receipt) error {
	p, err := l.Look()
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		item, has := p.Snapshot.List.Find(id)
		return has && !item.InFile()
	})
	tracked := p.Config.Source.IsSet()
	if tracked && !passes {
		return p.reopenTracked(ctx, ids)
	}
	marks := [][]string{ids}
	if passes { // one after the other, as the commits of lanes do: the word for it is one that the list has
		marks = slices.Collect(slices.Chunk(ids, 1))
	}
	return l.Store.Locked(maxSend, func() error { // an agent may have checks run now
		for _, ids := range marks {
			if tracked {
				break
			}
			if err := l.Store.Mark(p.ListPath(), p.Snapshot.List.List, ids, passes); err != nil {
				return err
			}
		}
		return l.keepReceipts(results)
	})
}
