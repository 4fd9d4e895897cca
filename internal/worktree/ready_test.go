package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestReady refuses each repository with which lanes could not work, and says what to do.
func TestReady(t *testing.T) {
	half := func(w *world, args ...string) { // two branches that conflict, and a command that stops in the middle
		w.git(w.top, "switch", "-q", "-c", "other")
		w.write(w.project, "a.txt", "other\n")
		w.git(w.top, "commit", "-qam", "Other")
		w.git(w.top, "switch", "-q", "main")
		w.write(w.project, "a.txt", "main\n")
		w.git(w.top, "commit", "-qam", "Main")
		_, _ = w.try(w.top, args...)
	}
	for name, c := range map[string]struct {
		make func(w *world)
		want string // "" if lanes can work
	}{
		"a clean repository": {func(*world) {}, ""},
		"a detached head": {func(w *world) { w.git(w.top, "checkout", "-q", "--detach") },
			"no branch is checked out (HEAD is detached): type git switch"},
		"no commit": {func(w *world) {
			w.ok(os.RemoveAll(filepath.Join(w.top, ".git")))
			w.git(w.top, "init", "-q", "-b", "main")
		}, "branch main has no commit yet: type git add -A and git commit"},
		"no repository": {func(w *world) { w.ok(os.RemoveAll(filepath.Join(w.top, ".git"))) },
			"is in no git repository, and lanes need one: type git init"},
		"a changed file": {func(w *world) { w.write(w.project, "a.txt", "x") },
			"a.txt is changed: commit or stash it"},
		"a staged file": {func(w *world) {
			w.write(w.project, "a.txt", "x")
			w.git(w.top, "add", "-A")
		}, "a.txt is not committed: commit or stash it"},
		"a deleted file": {func(w *world) { w.ok(os.Remove(filepath.Join(w.project, "a.txt"))) }, "a.txt is changed"},
		"a new file":     {func(w *world) { w.write(w.project, "new", "x") }, ""},
		"a file that a person ignores": {func(w *world) {
			w.write(w.home, ".config/git/ignore", "*.swp\n")
			w.write(w.home, ".gitconfig", "[core]\n\texcludesFile = ~/own\n")
			w.write(w.home, "own", ".DS_Store\n")
			w.write(w.project, ".DS_Store", "x")
			w.write(w.top, ".git/info/exclude", "notes\n")
			w.write(w.project, "notes", "x")
		}, ""},
		"a loop that is not tracked": {func(w *world) { w.write(w.project, loops+"/other/x", "x") }, ""},
		"a loop that is changed":     {func(w *world) { w.write(w.project, loops+"/shop/feature_list.json", "x") }, ""},
		"no tracked loop": {func(w *world) {
			w.git(w.top, "rm", "-rq", "--cached", ":/*.json")
			w.git(w.top, "commit", "-qm", "No loop")
		}, ""},
		"a touched file": {func(w *world) { w.write(w.project, "a.txt", w.read(w.project, "a.txt")) }, ""},
		"a merge":        {func(w *world) { half(w, "merge", "-q", "other") }, "a merge is in progress: type"},
		"a rebase": {func(w *world) { half(w, "rebase", "-q", "other") },
			"a rebase is in progress: type git rebase --continue or git rebase --abort"},
		"a cherry-pick": {func(w *world) { half(w, "cherry-pick", "other") }, "a cherry-pick is in progress: type"},
		"a revert":      {func(w *world) { half(w, "revert", "--no-edit", "HEAD~1") }, "a revert is in progress: type"},
		"a bisect":      {func(w *world) { w.git(w.top, "bisect", "start") }, "type git bisect reset"},
		"git am":        {func(w *world) { w.write(w.top, ".git/rebase-apply/x", "") }, "a rebase is in progress: type"},
		"a submodule": {func(w *world) {
			w.git(w.top, "update-index", "--add", "--cacheinfo", "160000,"+w.git(w.top, "rev-parse", "HEAD")+",lib")
			w.git(w.top, "commit", "-qm", "A submodule")
		}, "lib is a submodule"},
		"a sparse checkout": {func(w *world) {
			w.write(w.top, "more/x", "x")
			w.git(w.top, "add", "-A")
			w.git(w.top, "commit", "-qm", "More")
			w.git(w.top, "sparse-checkout", "set", "sub", ".claude")
		}, "more/x is left out by a sparse checkout: type git sparse-checkout disable"},
		"a file that git does not look at": {func(w *world) {
			w.git(w.project, "update-index", "--assume-unchanged", "a.txt")
		}, "type git update-index --no-assume-unchanged"},
		"a filter": {func(w *world) {
			w.git(w.top, "config", "filter.a.b*.clean", "cat")
			w.write(w.top, ".gitattributes", "*.txt filter=a.b*\n")
			w.git(w.top, "add", "-A")
			w.git(w.top, "commit", "-qm", "A filter")
		}, `a.txt goes through the filter "a.b*"`},
		"a filter that nobody has set up": {func(w *world) {
			w.git(w.top, "config", "filter.other.clean", "cat")
			w.write(w.top, ".gitattributes", "*.txt filter=nobodys\n")
			w.git(w.top, "add", "-A")
			w.git(w.top, "commit", "-qm", "A filter")
		}, ""},
		"a partial clone": {func(w *world) { w.git(w.top, "config", "remote.origin.promisor", "true") },
			"this clone has only a part of the objects"},
		"a lock": {func(w *world) { w.write(w.top, ".git/index.lock", "") },
			"another git command works in this repository, or one was killed: wait for it, or remove"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			c.make(w)
			r, err := Open(t.Context(), Options{Project: w.project, Env: w.env(), Except: []string{loops, "list.json"}})
			if err == nil {
				defer r.Close()
				err = r.Ready(t.Context())
			}
			if c.want == "" {
				w.ok(err)
				return
			}
			w.refused(err, c.want)
		})
	}
}

// TestUntracked names files that git neither tracks nor ignores.
func TestUntracked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.write(w.home, ".config/git/ignore", "*.swp\n")
	w.write(w.project, "x.swp", "x")
	w.write(w.project, loops+"/other/x", "x")
	w.write(w.project, ".list.json1391275738261857615", "x") // a list that was being replaced
	r, err := Open(t.Context(), Options{Project: w.project, Env: w.env(), Except: []string{loops, "list.json"}})
	w.ok(err)
	defer r.Close()
	want := func(want ...string) {
		t.Helper()
		names, err := r.Untracked(t.Context())
		w.ok(err)
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("got %q, want %q", names, want)
		}
	}
	want()
	w.write(w.project, ".list.json-old", "x")
	w.write(w.project, "line\nfeed 🎉.txt", "x")
	w.write(w.project, "new/folder/x", "x")
	w.write(w.top, "outside", "x")
	want(".list.json-old", "line\nfeed 🎉.txt", "new", "outside")
}

// TestOpen refuses folders that cannot be left out of merges, and an old git.
func TestOpen(t *testing.T) {
	w := newWorld(t, "")
	for _, e := range []string{"", ".", "..", "../x", "/x", "a/../.."} {
		_, err := Open(t.Context(), Options{Project: w.project, Env: w.env(), Except: []string{e}})
		w.refused(err, "is not below the project")
	}
	bin := t.TempDir()
	w.ok(os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho git version 2.37.9\n"), 0o755))
	if _, err := os.Stat("/bin/sh"); err == nil {
		_, err := Open(t.Context(), Options{Project: w.project, Env: []string{"PATH=" + bin}})
		w.refused(err, "git version 2.37.9 is too old for lanes: install git 2.38 or later")
	}
	_, err := Open(t.Context(), Options{Project: w.project, Env: []string{"PATH=" + t.TempDir()}})
	w.refused(err, "lanes need git")
}
