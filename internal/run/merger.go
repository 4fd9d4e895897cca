package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// submitted is what became of a session's work.
type submitted struct {
	results []decide.Receipt // of the checks on the merged work
	moved   bool             // the session changed files
	refused bool             // the work is given back: it is in conflict, or a check failed
}

// submit brings what a lane has done to the loop's branch, if its agent claims the feature.
func (l *lanes) submit(ctx context.Context, one *lane) (done submitted, err error) {
	if !one.Open { // the run was killed after the merge
		one.Current.Ended.Merge = l.became(one)
		return submitted{moved: true}, nil
	}
	title, claims, err := l.claimed(one)
	if err != nil {
		return done, err
	}
	message := strings.TrimSpace(one.Feature + " " + title)
	commit, moved, err := one.tree.Commit(ctx, plain.Line(message, 200))
	if err != nil {
		return done, err
	}
	done.moved, one.Given = moved, ""
	if one.Feature == "" {
		claims = moved // work for the loop as a whole has no claim
	} else if !claims {
		one.Given = "the session before yours did not claim the feature in the list"
	}
	if !claims {
		return done, nil
	}
	results, err := l.mergeWork(ctx, one, commit, message)
	for tries := 1; errors.Is(err, worktree.ErrMoved) && tries < mostTries; tries++ { // a person has committed meanwhile
		results, err = l.mergeWork(ctx, one, commit, message)
	}
	if err == nil {
		why, _, _ := strings.Cut(one.Given, "\n")
		one.Current.Ended.Merge = l.became(one)
		l.Screen.Merged(one.Number, one.Feature, l.Record.LeftBranches()[one.Feature], strings.TrimSuffix(why, ":"))
	}
	return submitted{results, moved, one.Given != ""}, err
}

// claimed returns the title of a lane's feature, and whether its agent claims it, in its copy of the list.
func (l *lanes) claimed(one *lane) (title string, claims bool, err error) {
	p, done, err := l.look()
	if err != nil {
		return "", false, err
	}
	defer done()
	item, _ := p.Snapshot.List.Find(one.Feature)
	p, err = p.Beside(one.Dir)
	if err != nil {
		return "", false, err
	}
	list := p.ListThere()
	there, has := list.Find(one.Feature)
	return item.Title(), list.Err == nil && has && there.Passes, nil
}

// became says in a word what became of a lane's work that was to be merged.
func (l *lanes) became(one *lane) string {
	switch {
	case one.Current.Ended.Merge == record.Conflict:
		return record.Conflict
	case one.Given != "":
		return record.GivenBack
	case l.Record.LeftBranches()[one.Feature] != "":
		return record.Waits
	}
	return record.Merged
}

// mergeWork merges a lane's work, or sets why that is given back. The work is proven first, in a worktree of the
// merger's own; then the loop's branch moves; then the feature is claimed in the loop's list.
func (l *lanes) mergeWork(ctx context.Context, one *lane, commit, message string) ([]decide.Receipt, error) {
	if left := one.tree.Unresolved(ctx, one.Conflicts); len(left) > 0 {
		one.Given = "conflict markers are left in " + plain.Line(strings.Join(left, ", "), 1000)
		return nil, nil
	}
	m, err := l.repo.Merge(ctx, worktree.Work{Commit: commit, Base: one.tree.Base(), Message: message,
		Feature: one.Feature})
	switch {
	case errors.Is(err, worktree.ErrHistory):
		one.Given = "the branch of this worktree has lost the commit from which it began; put it back, with your work on top"
		return nil, nil
	case err != nil:
		return nil, err
	case len(m.Conflicts) > 0:
		one.Conflict(m.Conflicts)
		one.Current.Ended.Merge = record.Conflict
		return nil, nil
	}
	results, err := l.prove(ctx, one, m)
	if err != nil || one.Given != "" {
		return results, err
	}
	return results, l.forward(ctx, one, m, results)
}

// mostTries is how often one piece of work is merged, if a person commits meanwhile.
const mostTries = 10

// prove runs the checks of merged work before the loop's branch moves. If one fails, it sets why the work is given
// back. The loop is looked at anew each time: a person may have changed and trusted a check meanwhile.
func (l *lanes) prove(ctx context.Context, one *lane, m worktree.Merged) ([]decide.Receipt, error) {
	if err := l.merger.Reset(ctx, m.Commit); err != nil {
		return nil, err
	}
	p, done, err := l.look()
	if err != nil {
		return nil, err
	}
	defer done()
	p, err = p.Beside(l.merger.Dir())
	if err != nil {
		return nil, err
	}
	if changed := p.Changed(); changed != "" {
		one.Given = plain.Line(changed, 300) + " differs from what a person trusted; put it back"
		return nil, nil
	}
	results, err := p.RunChecks(ctx, p.Snapshot.Due(one.Feature, p.Contents(ctx)), false, nil)
	err = cmp.Or(err, ctx.Err())
	if err != nil { // a check that was stopped says nothing
		return nil, err
	}
	i := slices.IndexFunc(results, func(r decide.Receipt) bool { return !r.Passed })
	if i < 0 {
		return results, nil
	}
	r := results[i]
	what := "the check " + plain.Line(r.Name, 100)
	if r.Feature != "" {
		what += " of " + plain.Line(r.Feature, 80)
	}
	one.Given = fmt.Sprintf("%s failed, with what others have done:\n%s", what, r.Tail)
	return results, nil
}

// forward moves the loop's branch and the project's files, and claims the feature, or leaves the work on a branch of
// its own. The record says so before.
func (l *lanes) forward(ctx context.Context, one *lane, m worktree.Merged, results []decide.Receipt) error {
	l.Record.Merging = &record.Merging{Lane: one.Number, Feature: one.Feature, Old: m.Old, New: m.Commit}
	if l.Record.Options.NoMerge {
		l.Record.Merging.Branch = l.Record.BranchFor(one.Feature)
	}
	if err := l.save(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // a signal waits for it: half of a merge would confuse people
	if l.Record.Options.NoMerge {
		return l.leave(ctx, one)
	}
	if err := l.repo.Forward(ctx, m.Old, m.Commit); err != nil {
		return fmt.Errorf("cannot bring lane %d's work to %s: %w", one.Number, l.repo.Branch(), err)
	}
	return l.claim(ctx, one, results)
}

// finishMerge claims the feature of a merge after which the run was killed.
func (l *lanes) finishMerge(ctx context.Context) error {
	m := l.Record.Merging
	if m == nil {
		return nil
	}
	merged, err := l.repo.Has(ctx, m.New)
	if err != nil || !merged && m.Branch == "" { // it is merged again when the lane's session is judged
		l.Record.Merging = nil
		return err
	}
	i := slices.IndexFunc(l.all, func(one *lane) bool { return one.Number == m.Lane })
	if i < 0 {
		return fmt.Errorf("the record of the run names lane %d, and there is none", m.Lane)
	}
	if m.Branch != "" {
		return l.leave(ctx, l.all[i])
	}
	return l.claim(ctx, l.all[i], nil)
}

// claim claims the feature that was merged, and stores what its checks proved.
func (l *lanes) claim(ctx context.Context, one *lane, results []decide.Receipt) error {
	if m := l.Record.Merging; m.Feature != "" {
		lp, err := loop.Open(l.Env, l.At)
		if err != nil {
			return err
		}
		err = lp.SetClaims(ctx, []string{m.Feature}, true, results)
		lp.Close()
		if err != nil {
			return err
		}
	}
	return l.closed(one)
}

// closed notes that nothing of a lane's work is left to merge.
func (l *lanes) closed(one *lane) error {
	l.Record.Merging = nil
	one.Open = false
	one.Conflicts = nil
	one.Touched = nil
	return l.save()
}
