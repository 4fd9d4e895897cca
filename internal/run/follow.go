package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// follower has the person's branch and the project's files follow the run's branch, and merges into that what people
// commit meanwhile.
type follower struct {
	*Run
	repo  *worktree.Repo
	list  string        // path of the list below the project, with slashes
	head  string        // the last commit of the person's branch that was looked at
	clash string        // why it cannot be joined; "": it can
	tried time.Time     // when the person's branch was to go forward last
	why   string        // why the person's branch lacked work when people heard of it last
	pause time.Duration // until it is tried again
}

// moveBranch moves the run's branch to what is merged now. before is what was merged before.
func (f *follower) moveBranch(ctx context.Context, before string) {
	ctx = context.WithoutCancel(ctx)
	if f.repo.Move(ctx, f.Record.Branch(), before, f.Record.Merges.Commit) != nil {
		f.checkBranch(ctx)
	}
}

// checkBranch puts the run's branch where the record has it. An agent could have moved it: then people are warned.
func (f *follower) checkBranch(ctx context.Context) {
	branch, commit := f.Record.Branch(), f.Record.Merges.Commit
	at := f.repo.At(ctx, branch)
	if at == commit {
		return
	}
	if err := f.repo.Point(ctx, branch, commit); err != nil {
		f.Screen.Warn(fmt.Sprintf("the branch %s cannot be moved to what is merged, %.12s: %v", branch, commit, err))
	} else if was, err := f.repo.Descends(ctx, commit, at); at != "" && (err != nil || !was) { // else it was not moved yet
		f.Screen.Warn(fmt.Sprintf("somebody moved the branch %s to %.12s, which nobody has proven; it is at %.12s again",
			branch, at, commit))
	}
}

// join merges what people have committed to their branch since it was looked at last.
func (f *follower) join(ctx context.Context) error {
	head, err := f.repo.Head(ctx)
	if err != nil || head == f.head {
		return nil // if the branch is lost, bring says so
	}
	m := &f.Record.Merges
	f.head = head
	f.clash = ""
	commit, conflicts, err := f.repo.Join(ctx, m.Commit, head)
	switch {
	case err != nil:
		f.clash = err.Error()
	case len(conflicts) > 0:
		f.clash = fmt.Sprintf("it is in conflict with %s in %s", f.Record.Branch(), plain.Line(conflicts[0].File, 200))
	}
	if commit == "" || commit == m.Commit {
		return nil
	}
	before := m.Commit
	m.Joined = commit != head
	m.Commit = commit
	if err := f.save(); err != nil {
		return err
	}
	f.moveBranch(ctx, before)
	return nil
}

// bring brings what is merged to the person's branch, which is at the commit head, and to the project's files. If it
// cannot, the record says why.
func (f *follower) bring(ctx context.Context, head string) error {
	m := &f.Record.Merges
	ctx = context.WithoutCancel(ctx) // a signal waits for it: half of a merge would confuse people
	f.tried = time.Now()
	lacks, err := f.forward(ctx, head)
	behind, why := "", ""
	if lacks {
		why = fmt.Sprint(err)
		branch := plain.Line(m.Into, 200)
		behind = fmt.Sprintf("%s has not all of %s: %v; then type: %s", branch, f.Record.Branch(), err, say.Merge(m.Commit))
		if f.Record.Options.NoMerge {
			behind = fmt.Sprintf("the work waits beside %s; to take it there, type: %s", branch, say.Merge(m.Commit))
		}
	}
	if why != f.why && !f.Record.Options.NoMerge {
		f.pause = nap
		if lacks {
			f.Screen.Warn(behind)
		}
	}
	f.why = why
	m.Behind = behind
	m.Away = lacks && errors.Is(err, worktree.ErrOtherBranch)
	_ = f.save() // a later save says so if it fails
	return err
}

// bringAgain is bring, now and then, while something stands in the way.
func (f *follower) bringAgain(ctx context.Context) {
	if f.Record.Merges.Behind != "" && !f.Record.Options.NoMerge && time.Since(f.tried) >= f.pause {
		f.pause = min(2*f.pause, whileMended/2)
		_ = f.bring(ctx, "")
	}
}

// forward moves the person's branch from the commit head; "": from where it is. lacks: it has not all that is merged;
// then the error says why.
func (f *follower) forward(ctx context.Context, head string) (lacks bool, err error) {
	m := &f.Record.Merges
	if m.New != "" { // an earlier call was cut off
		err := f.repo.Recover(ctx, m.Old, m.New)
		if errors.Is(err, worktree.ErrLocked) {
			return true, err
		}
		m.Old, m.New = "", ""
		if err != nil { // once: it names a file that is left as it is
			f.Screen.Warn(err.Error())
		}
	}
	if head == "" {
		head, err = f.repo.Head(ctx)
		if err != nil {
			return true, err
		}
	}
	if head != f.head { // a person has committed, and may have merged it
		if has, err := f.repo.Descends(ctx, head, m.Commit); err != nil || has {
			return err != nil, err
		}
		// What is merged may have it all, as when a run goes on that was killed before it moved the branch.
		if is, err := f.repo.Descends(ctx, m.Commit, head); err != nil || is {
			if err != nil {
				return true, err
			}
			f.head, f.clash = head, ""
		}
	}
	switch {
	case head == m.Commit:
		return false, nil
	case f.Record.Options.NoMerge:
		project := f.At.Project
		env := proc.EnvOutside(f.Env.Vars, project)
		return !tree.HasFiles(env, project, "refs/heads/"+m.Into, m.Commit, f.list), nil
	case f.clash != "":
		return true, errors.New(f.clash)
	case head != f.head || m.Joined:
		return true, errors.New("it has commits that are not proven together with those of the run")
	}
	m.Old, m.New = head, m.Commit
	if err := f.save(); err != nil {
		return true, err
	}
	if err := f.repo.Forward(ctx, head, m.Commit); err != nil {
		return true, err
	}
	m.Old, m.New = "", ""
	f.head = m.Commit
	return false, nil
}
