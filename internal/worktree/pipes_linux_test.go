package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipesInLane has an agent leave pipes where git would read a file. Nothing waits for them, and the lane can be
// used again.
func TestPipesInLane(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".gitignore", "sub/.gitattributes", "new/x/.git/HEAD", "new/x/.git/config",
		"new/x/.git/commondir"} {
		w := newWorld(t, "")
		w.open()
		lane := w.lane("lane-1")
		pipe := filepath.Join(lane.Dir(), filepath.FromSlash(name))
		if strings.Contains(name, "/.git/") {
			w.git(lane.Dir(), "init", "-q", "new/x")
			w.write(lane.Dir(), "new/x/file", "x")
		}
		w.ok(os.RemoveAll(pipe))
		w.ok(syscall.Mkfifo(pipe, 0o600))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		_, _, err := lane.Commit(ctx, "Work")
		w.refused(err, "is no file: remove it")
		w.ok(lane.Reset(ctx, w.head()))
		_, _, err = lane.Commit(ctx, "Work")
		w.ok(err)
	}
}

// TestPipesInGit has an agent put pipes into the project's git folder: nothing waits for them, and no lock is left.
func TestPipesInGit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HEAD", "config", "commondir", "packed-refs", "shallow", "refs/heads/x",
		"logs/refs/heads/main", "logs/HEAD", "objects/info/alternates", "objects/info/commit-graph"} {
		w := newWorld(t, "")
		r := w.openHere()
		w.write(w.project, "a.txt", "ONE\n")
		pipe := filepath.Join(r.git, filepath.FromSlash(name))
		w.ok(os.MkdirAll(filepath.Dir(pipe), 0o755))
		w.ok(os.RemoveAll(pipe))
		w.ok(syscall.Mkfifo(pipe, 0o600))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		again, err := Open(ctx, Options{Project: w.project, Env: w.env(), Except: []string{loops}})
		w.refused(err, pipe+" is no file, and git would wait for it: remove it")
		if err == nil {
			again.Close()
		}
		if locks, _ := filepath.Glob(filepath.Join(w.top, ".git", "refs/heads/*.lock")); len(locks) > 0 {
			t.Errorf("%s: the locks %q are left", name, locks)
		}
	}
}
