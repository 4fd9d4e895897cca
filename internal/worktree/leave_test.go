package worktree

import (
	"strings"
	"testing"
)

// TestLanded leaves work on a branch, and a person brings it to the loop's branch in several ways, or does not.
func TestLanded(t *testing.T) {
	commit := func(w *world, message string) { w.git(w.top, "commit", "-q", "--allow-empty", "-m", message) }
	for name, tc := range map[string]struct {
		person func(w *world, branch string)
		landed bool
		branch bool
	}{
		"nothing":         {func(*world, string) {}, false, true},
		"other work":      {func(w *world, _ string) { commit(w, "Other") }, false, true},
		"fast-forward":    {func(w *world, b string) { w.git(w.top, "merge", "-q", "--ff-only", b) }, true, true},
		"a merge":         {func(w *world, b string) { w.git(w.top, "merge", "-q", "--no-ff", "--no-edit", b) }, true, true},
		"a picked commit": {func(w *world, b string) { commit(w, "Other"); w.git(w.top, "cherry-pick", b) }, true, true},
		"squashed, in their words": {func(w *world, b string) {
			commit(w, "Other")
			w.git(w.top, "merge", "-q", "--squash", b)
			commit(w, "What I want")
		}, true, true},
		"squashed, changed, with the trailer": {func(w *world, b string) {
			w.git(w.top, "merge", "-q", "--squash", b)
			w.write(w.project, "a.txt", "changed\n")
			w.git(w.top, "add", "-A")
			commit(w, "What I want\n\n"+Trailer+"login")
		}, true, true},
		"squashed, and changed": {func(w *world, b string) {
			w.git(w.top, "merge", "-q", "--squash", b)
			w.write(w.project, "a.txt", "changed\n")
			w.git(w.top, "add", "-A")
			commit(w, "What I want")
		}, false, true},
		"deleted": {func(w *world, b string) { w.git(w.top, "branch", "-qD", b) }, false, false},
		"merged and deleted": {func(w *world, b string) {
			w.git(w.top, "merge", "-q", "--squash", b)
			commit(w, "What I want")
			w.git(w.top, "branch", "-qD", b)
		}, true, false},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			w := newWorld(t, "")
			r := w.open()
			lane := w.lane("lane-1")
			w.write(lane.Project(), "a.txt", "the work\n")
			m, err := r.Merge(t.Context(), Work{Commit: w.commit(lane), Base: lane.Base(), Feature: "login"})
			w.ok(err)
			head := w.head()
			const branch = "ralph/1/login"
			w.ok(r.Leave(t.Context(), branch, head))
			w.ok(r.Leave(t.Context(), branch, m.Commit)) // a call that was killed comes again
			w.want("the loop's branch", w.head(), head)
			tc.person(w, branch)
			landed, err := r.Landed(t.Context(), "login", m.Old, m.Commit)
			w.ok(err)
			if has := r.HasBranch(t.Context(), branch); landed != tc.landed || has != tc.branch {
				t.Errorf("landed %v, the branch is there: %v", landed, has)
			}
		})
	}
	w := newWorld(t, "")
	if landed, err := w.open().Landed(t.Context(), "login", w.head(), strings.Repeat("1", 40)); landed || err != nil {
		t.Errorf("a commit that is gone: %v, %v", landed, err)
	}
}
