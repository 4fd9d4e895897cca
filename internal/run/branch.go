package run

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// A run with Options.Branch checks that branch out before its first session, and never again: a person may work in the
// project meanwhile, and switches branches there.

// ontoBranch brings the project onto the run's branch. A run that goes on refuses to work on another branch, unless its
// person names one anew.
func (r *Run) ontoBranch(ctx context.Context, p *loop.Picture) error {
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
		return repo.Switch(ctx, r.needsThere(p))
	}
	if err := repo.OnBranch(ctx); err != nil {
		return fmt.Errorf("%w, or go on elsewhere: %s --branch=NAME", err, say.ResumeRun(r.At.Name))
	}
	return nil
}

// Fits refuses a project in whose repository a run could not begin, before there is a loop. The loop needs files: its
// list, if it has one.
func Fits(ctx context.Context, env loop.Env, project string, o record.Options, needs ...string) error {
	w := worktree.Options{Project: project, Env: env.Vars}
	switch {
	case o.Workers > 0:
		w.Except = append(needs, loopdir.Below, loopdir.RunFolder)
	case o.Branch != "":
		w.Branch, w.For = o.Branch, "runs with --branch"
	default:
		return nil
	}
	repo, err := worktree.Open(ctx, w)
	if err != nil {
		return err
	}
	defer repo.Close()
	if o.Workers > 0 {
		return repo.Ready(ctx)
	}
	return repo.CanSwitch(ctx, needs)
}

// needsThere returns the files below the project that the run's branch must have: without its list or its ralph.json
// the loop would end at once.
func (r *Run) needsThere(p *loop.Picture) (files []string) {
	all := []string{filepath.Join(r.At.Dir, loopdir.ConfigFile)}
	if !p.Snapshot.NoList && !p.Config.Source.IsSet() {
		list, _ := features.SplitTag(p.ListPath())
		all = append(all, list)
	}
	for _, path := range all {
		if name, err := filepath.Rel(r.At.Project, path); err == nil && filepath.IsLocal(name) {
			files = append(files, filepath.ToSlash(name))
		}
	}
	return files
}

// sayBranch warns when another branch than the run's is checked out in the project, once for each.
func (r *Run) sayBranch() {
	name := r.Record.Options.Branch
	if name == "" {
		return
	}
	at := r.Record.OtherBranch(r.Env.Vars, r.At.Project)
	if at != "" && at != r.otherBranch {
		r.Screen.Warn(fmt.Sprintf("somebody has checked out %s in the project, and the run's branch is %s; "+
			"the run goes on with the files that are there", at, plain.Line(name, 200)))
	}
	r.otherBranch = at
}
