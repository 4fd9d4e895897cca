package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Switch checks the loop's branch out in the project, and makes it if it is not there. What a person has not committed
// is carried along, or the error has git's reason why it cannot be. Git switch runs as a person types it, but it runs
// nothing that an agent of an earlier run may have written into the repository: no hooks, and no filters. A branch is
// refused on which a file below the project would be missing that the loop needs.
func (r *Repo) Switch(ctx context.Context, needs []string) error {
	if err := r.CanSwitch(ctx, needs); err != nil {
		return err
	}
	args := []string{"switch", "--quiet", "--no-guess", r.branch}
	switch {
	case r.isOn(ctx, r.branch):
		return nil
	case r.At(ctx, r.branch) == "":
		args = []string{"switch", "--quiet", "--no-track", "--create", r.branch}
	}
	c := r.command(args...)
	c.Timeout = gitTime
	if _, err := proc.GitOutput(ctx, c, args[0]); err != nil {
		return fmt.Errorf("the branch %s cannot be checked out: %w; mend that, or name another branch",
			plain.Line(r.branch, 200), err)
	}
	return nil
}

// CanSwitch refuses what Switch refuses, but for what git alone finds out when it switches.
func (r *Repo) CanSwitch(ctx context.Context, needs []string) error {
	if err := r.checkBranch(ctx); err != nil {
		return err
	}
	if _, err := r.refs(ctx, "rev-parse", "-q", "--verify", "HEAD^{commit}"); err != nil {
		return errors.Join(errors.New("the repository has no commit yet: type git add -A and git commit"), ctx.Err())
	}
	if err := r.idle(); err != nil {
		return err
	}
	filters, err := r.refs(ctx, "config", "--local", "--includes", "--get-regexp", `^filter\.`)
	if err == nil && filters != "" { // git config fails if there is none
		return fmt.Errorf("the configuration of this repository has filters, which an agent can write: look at it, and "+
			"type git switch %s", plain.Arg(plain.Line(r.branch, 200)))
	}
	if r.isOn(ctx, r.branch) {
		return nil
	}
	return r.hasAll(ctx, needs)
}

// hasAll refuses a branch on which a file would be missing: it is not there, and goes away with what is checked out.
func (r *Repo) hasAll(ctx context.Context, files []string) error {
	has := func(commit, name string) bool {
		_, err := r.refs(ctx, "rev-parse", "-q", "--verify", commit+":"+path.Join(r.prefix, name))
		return commit != "" && err == nil
	}
	for _, name := range files {
		_, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(path.Join(r.prefix, name))))
		switch at := r.At(ctx, r.branch); {
		case has(at, name), err == nil && (at == "" || !has("HEAD", name)):
		default:
			return fmt.Errorf("%s is not on the branch %s: commit it there, or name another branch", plain.Line(name, 300),
				plain.Line(r.branch, 200))
		}
	}
	return nil
}

// checkBranch refuses a name that cannot be that of a branch.
func (r *Repo) checkBranch(ctx context.Context) error {
	_, err := r.refs(ctx, "check-ref-format", heads+r.branch)
	if err != nil || strings.HasPrefix(r.branch, "-") || r.branch == "HEAD" {
		return fmt.Errorf("%q is no name of a branch: name another one", plain.Line(r.branch, 200))
	}
	return nil
}
