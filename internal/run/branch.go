package run

import (
	"context"
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// A run with Options.Branch checks that branch out before its first session, and never again: a person may work in the
// project meanwhile, and switches branches there.

// ontoBranch brings the project onto the run's branch. A run that goes on refuses to work on another one, unless its
// person names a branch anew.
func (r *Run) ontoBranch(ctx context.Context) error {
	name := r.Record.Options.Branch
	if name == "" {
		return nil
	}
	repo, err := worktree.Open(ctx, worktree.Options{
		Project: r.At.Project, Env: r.Env.Vars, Branch: name, For: "runs with --branch",
	})
	if err != nil {
		return err
	}
	defer repo.Close()
	if r.Switch {
		if err := repo.Switch(ctx); err != nil {
			return err
		}
		return r.hasList()
	}
	if err := repo.OnBranch(ctx); err != nil {
		return fmt.Errorf("%w, or go on elsewhere: %s --branch=NAME", err, say.ResumeRun(r.Record.ID))
	}
	return nil
}

// hasList refuses a branch that has not the loop's list: the loop would end at once.
func (r *Run) hasList() error {
	p, done, err := r.look()
	if err != nil {
		return err
	}
	defer done()
	if p.Snapshot.List.Missing {
		return fmt.Errorf("%w on the branch %s, which is checked out now: to go back, type git switch -",
			p.Snapshot.List.Err, plain.Line(r.Record.Options.Branch, 200))
	}
	return nil
}

// sayBranch warns when another branch than the run's is checked out in the project, once for each.
func (r *Run) sayBranch() {
	name := r.Record.Options.Branch
	if name == "" {
		return
	}
	at := tree.Branch(r.Env.Vars, r.At.Project)
	if at != plain.Line(name, 300) && at != r.elsewhere {
		where := "no branch"
		if at != "" {
			where = "the branch " + at
		}
		r.Screen.Warn(fmt.Sprintf("somebody has checked out %s in the project, and the run's branch is %s; "+
			"the run goes on with the files that are there", where, plain.Line(name, 200)))
	}
	r.elsewhere = at
}
