package loop

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// A dry run, when a person trusts the checks, shows what would else be seen after the night.

// DryRunTime is how long a dry run takes at most, and once more in the project. A test has another one.
var DryRunTime = time.Minute

// DryRun is what became of a check in the copy and, if it failed there, in the project.
type DryRun struct {
	InCopy    decide.Receipt
	InProject *decide.Receipt // nil: the check did not run there
}

// DryRun runs trusted checks in the copy and, to compare, those that fail there in the project. The record keeps the
// receipts of those that pass. The logs have nothing of it, since the loop has not started.
func (p *Picture) DryRun(ctx context.Context, runs []decide.Run) (all []DryRun, err error) {
	ctx, stop := p.Loop.Env.Catch(ctx)
	defer stop()
	contents := p.Contents(ctx)
	var passed []decide.Receipt
	inCopy, inProject := p.dryChecker(contents), p.dryChecker(contents)
	try := func() {
		for _, receipt := range inCopy.run(ctx, runs) {
			all = append(all, DryRun{InCopy: receipt})
		}
		var again []decide.Run
		for i, run := range runs {
			switch r := all[i].InCopy; {
			case r.Passed:
				passed = append(passed, r)
			case !r.NotRun:
				again = append(again, run)
			}
		}
		inProject.deadline = time.Now().Add(DryRunTime)
		for _, receipt := range inProject.runInProject(ctx, again) {
			i := slices.IndexFunc(runs, func(run decide.Run) bool {
				return run.Check.Digest == receipt.Check && run.Feature == receipt.Feature
			})
			all[i].InProject = &receipt
		}
	}
	err = p.Loop.Store.Locked(LockWait, func() error {
		changed, err := p.Loop.keeping(p.Snapshot.State.Session, try)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case changed != "":
			return errors.New(recordTouched(changed))
		}
		return p.Loop.keepReceipts(passed)
	})
	return all, err
}

func (p *Picture) dryChecker(contents string) *checker {
	return &checker{Picture: p, deadline: time.Now().Add(DryRunTime), contents: contents, isDry: true}
}
