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
