package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestThrownAway has a person's gc throw away what was copied into the repository before a branch there had it.
func TestThrownAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.open()
	gc := func() { w.git(w.top, "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now") }
	lane := w.lane("lane-1")
	w.write(lane.Project(), "a.txt", "lane\n")
	w.write(lane.Project(), "new/n.txt", "lane\n")
	commit := w.commit(lane)
	w.ok(lane.Publish(t.Context()))
	w.git(w.top, "branch", "-D", lane.branch)
	gc()
	w.ok(lane.Publish(t.Context()))
	w.want("the branch of the lane", w.git(w.top, "rev-parse", lane.branch), commit)
	w.git(w.top, "branch", "-D", lane.branch)
	old := w.head()
	m, err := r.Merge(t.Context(), old, Work{Commit: commit, Base: lane.Base(), Feature: "f"})
	w.ok(err)
	w.write(w.project, "a.txt", "person\n")
	w.refused(r.Forward(t.Context(), old, m.Commit), "a.txt is changed in the project")
	w.git(w.top, "stash", "-q")
	gc()
	w.ok(r.Forward(t.Context(), old, m.Commit))
	w.want("the file", w.read(w.project, "a.txt"), "lane\n")
	w.git(w.top, "fsck", "--strict")
	w.clean()
}

// TestLinkedObjects has an agent put a link in the place of a folder of git's. Nothing goes where it leads.
func TestLinkedObjects(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs links")
	}
	for _, name := range []string{".git", ".git/objects"} {
		w := newWorld(t, "")
		w.open()
		lane := w.lane("lane-1")
		w.write(lane.Project(), "a.txt", "lane\n")
		w.git(lane.Project(), "commit", "-qam", "Work")
		other := filepath.Join(t.TempDir(), "other")
		w.ok(os.Rename(filepath.Join(lane.Dir(), filepath.FromSlash(name)), other))
		w.ok(os.Symlink(other, filepath.Join(lane.Dir(), filepath.FromSlash(name))))
		w.write(other, "info/mine", "mine")
		w.write(other, "objects/info/mine", "mine")
		w.commit(lane)
		w.want("a file where the link leads", w.read(other, "info/mine"), "mine")
		w.want("another one", w.read(other, "objects/info/mine"), "mine")
		w.ok(lane.Reset(t.Context(), w.head()))
		w.want("the file after that", w.read(other, "info/mine"), "mine")
	}
}

// TestLinkedLane has an agent put a link to the project in the place of its lane. The project's .git stays.
func TestLinkedLane(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs links")
	}
	w := newWorld(t, "")
	r := w.open()
	lane := w.lane("lane-1")
	w.ok(os.Rename(lane.Dir(), lane.Dir()+"-moved"))
	w.ok(os.Symlink(w.top, lane.Dir()))
	config := w.read(w.top, ".git/config")
	_, _, err := lane.Commit(t.Context(), "Work")
	w.refused(err, "is no folder")
	w.refused(lane.Reset(t.Context(), w.head()), "is no folder")
	w.refused(lane.Remove(t.Context(), w.head()), "is no folder")
	_, _ = r.Add(t.Context(), lane.Dir(), lane.branch, w.head())
	w.want("the project's configuration", w.read(w.top, ".git/config"), config)
}

// TestRefusedHistory has an agent fix the history that it has rewritten, in the folder as it was left.
func TestRefusedHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.open()
	lane := w.lane("lane-1")
	base := w.head()
	w.write(lane.Project(), "a.txt", "lane\n")
	w.git(lane.Project(), "commit", "-qa", "--amend", "-m", "Rewritten")
	_, _, err := lane.Commit(t.Context(), "Work")
	w.refused(err, "history was rewritten")
	w.git(lane.Project(), "reset", "-q", "--soft", base)
	w.git(lane.Project(), "commit", "-qm", "On top")
	commit := w.commit(lane)
	w.want("the parent", w.gitOfRun("rev-parse", commit+"^"), base)
}

// TestLostRepository deletes the repository of the run. The files of a lane are its work all the same.
func TestLostRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.open()
	lane := w.lane("lane-1")
	w.write(lane.Project(), "a.txt", "first\n")
	w.commit(lane)
	w.write(lane.Project(), "b.txt", "second\n")
	w.git(lane.Project(), "add", "-A")
	w.git(lane.Project(), "commit", "-qm", "Second")
	w.write(lane.Project(), "c.txt", "third\n")
	w.ok(os.RemoveAll(w.own()))
	w.open()
	commit := w.commit(w.lane("lane-1"))
	for name, text := range map[string]string{"a.txt": "first", "b.txt": "second", "c.txt": "third"} {
		w.want(name, w.gitOfRun("show", commit+":"+name), text)
	}
}
