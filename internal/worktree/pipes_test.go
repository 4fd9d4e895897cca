package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPipes finds pipes where git looks for rules: it would read them for ever.
func TestPipes(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("needs mkfifo")
	}
	w := newWorld(t, "")
	r := w.open()
	lane := w.lane("lane-1")
	begin := time.Now()
	for _, name := range []string{".gitignore", "sub/.gitattributes"} {
		for _, dir := range []string{lane.Project(), w.project} {
			path := filepath.Join(dir, name)
			w.ok(os.MkdirAll(filepath.Dir(path), 0o755))
			w.ok(exec.Command(mkfifo, path).Run())
			_, _, err := lane.Commit(t.Context(), "x")
			if dir == w.project {
				err = r.Ready(t.Context())
			}
			w.refused(err, name+" is no file: remove it")
			w.ok(os.Remove(path))
		}
	}
	w.ok(exec.Command(mkfifo, filepath.Join(lane.Project(), "pipe")).Run())
	if _, changed, err := lane.Commit(t.Context(), "x"); err != nil || changed {
		t.Errorf("with a pipe, the lane is changed: %v, %v", changed, err)
	}
	w.ok(lane.Remove(t.Context(), w.head()))
	if time.Since(begin) > gitTime/2 {
		t.Error("git waited for a pipe")
	}
}

// TestIndexes goes forward where a person's index is of a kind of its own.
func TestIndexes(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"--split-index", "--untracked-cache", "--index-version 4"} {
		w := newWorld(t, "")
		for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
			w.write(w.project, name, name)
		}
		w.git(w.top, "add", "-A")
		w.git(w.top, "commit", "-qm", "Files")
		w.git(w.top, append([]string{"update-index"}, strings.Fields(kind)...)...)
		w.git(w.top, "status")
		r := w.open()
		w.ok(r.Ready(t.Context()))
		lane := w.lane("lane-1")
		w.write(lane.Project(), "a", "merged")
		w.write(lane.Project(), "new", "merged")
		w.write(w.project, "b", "a person's")
		w.merge(lane, "f")
		w.want("git status with "+kind, w.git(w.top, "status", "--porcelain"), "M b")
		w.want("the file", w.read(w.project, "a"), "merged")
		w.git(w.top, "add", "-A")
		w.git(w.top, "commit", "-qm", "A person's")
		w.want("git status with "+kind, w.git(w.top, "status", "--porcelain"), "")
	}
}
