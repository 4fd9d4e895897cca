package worktree

import (
	"context"
	"strconv"
	"strings"
)

// Leave makes a branch with a commit of Merge, for a person to merge it. A branch of that name moves there.
func (r *Repo) Leave(ctx context.Context, branch, commit string) error {
	_, err := r.refs(ctx, "update-ref", "--no-deref", "--create-reflog", heads+branch, commit)
	return err
}

// Landed reports whether the loop's branch has the work of a commit that was left on base, however a person has brought
// it there: a commit since base names the feature, or to merge the work would change nothing.
func (r *Repo) Landed(ctx context.Context, feature, base, commit string) (bool, error) {
	done, err := r.Done(ctx, base)
	if err != nil || feature != "" && done[feature] != "" {
		return err == nil, err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return false, err
	}
	if _, err := r.refs(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		return false, nil // git has thrown it away
	}
	return r.contains(ctx, head, commit)
}

// HasBranch reports whether there is a branch of that name.
func (r *Repo) HasBranch(ctx context.Context, name string) bool {
	_, err := r.refs(ctx, "rev-parse", "-q", "--verify", heads+name+"^{commit}")
	return err == nil
}

// Done returns the features that were merged into the loop's branch after the commit since, with the commit of each. It
// believes the trailers of Merge. An empty since means all commits.
func (r *Repo) Done(ctx context.Context, since string) (map[string]string, error) {
	until := heads + r.branch
	if since != "" {
		until = since + ".." + until
	}
	out, err := r.refs(ctx, "log", "-z", "--no-show-signature", "--no-color", "--no-notes",
		"--encoding=UTF-8", "--format=%H%n%B", until, "--")
	if err != nil {
		return nil, err
	}
	done := map[string]string{}
	for _, text := range strings.Split(out, "\x00") {
		commit, message, _ := strings.Cut(text, "\n")
		for _, line := range strings.Split(message, "\n") {
			feature, is := strings.CutPrefix(line, Trailer)
			if !is {
				continue
			}
			if quoted, err := strconv.Unquote(feature); err == nil && strings.HasPrefix(feature, `"`) {
				feature = quoted
			}
			if done[feature] == "" { // the newest one
				done[feature] = commit
			}
		}
	}
	return done, nil
}
