package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLineEnds works in a repository whose files have other line ends on the disk than in commits.
func TestLineEnds(t *testing.T) {
	w := newWorld(t, "")
	w.write(w.home, ".gitconfig", "[core]\n\tautocrlf = true\n")
	w.write(w.project, ".gitattributes", "*.crlf text eol=crlf\n*.lf text eol=lf\n*.bin -text\n*.log merge=union\n")
	for _, name := range []string{"x.crlf", "x.lf", "x.bin", "x.txt", "x.log"} {
		w.write(w.project, name, "1\n2\n3\n")
	}
	w.git(w.top, "add", "-A")
	w.git(w.top, "commit", "-qm", "Line ends")
	w.ok(os.RemoveAll(filepath.Join(w.project, "x.txt")))
	w.git(w.top, "checkout", "-q", "--", "x.txt")
	w.ok(os.RemoveAll(filepath.Join(w.project, "x.crlf")))
	w.git(w.top, "checkout", "-q", "--", "x.crlf")
	r := w.open()
	w.ok(r.Ready(t.Context()))
	lane, other := w.lane("lane-1"), w.lane("lane-2")
	want := map[string]string{
		"x.crlf": "1\r\n2\r\n3\r\n", "x.lf": "1\n2\n3\n", "x.bin": "1\n2\n3\n", "x.txt": "1\r\n2\r\n3\r\n",
	}
	for name, text := range want {
		w.want(name+" in a lane", w.read(lane.Project(), name), text)
	}
	if _, changed, err := lane.Commit(t.Context(), "x"); err != nil || changed {
		t.Errorf("an untouched lane is changed: %v, %v", changed, err)
	}
	for name, text := range want {
		w.write(lane.Project(), name, strings.Replace(text, "1", "ONE", 1))
	}
	w.write(lane.Project(), "x.log", "1\n2\n3\nlane\n")
	w.write(other.Project(), "x.log", "1\n2\n3\nother\n")
	w.merge(lane, "f")
	for name, text := range want {
		w.want(name+" in the project", w.read(w.project, name), strings.Replace(text, "1", "ONE", 1))
	}
	w.want("the commit", w.git(w.top, "show", "HEAD:x.crlf"), "ONE\n2\n3")
	w.clean()
	if m := w.merge(other, "g"); len(m.Conflicts) > 0 {
		t.Errorf("a file with merge=union conflicts: %q", m.Conflicts)
	}
	w.clean()
}

// TestIdentity commits for a person who has told git no name.
func TestIdentity(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.git(w.top, "config", "--unset", "user.name")
	w.git(w.top, "config", "--unset", "user.email")
	w.git(w.top, "config", "user.useConfigOnly", "true")
	w.open()
	lane := w.lane("lane-1")
	w.write(lane.Project(), "x", "x")
	w.merge(lane, "f")
	w.want("the author", w.git(w.top, "log", "-1", "--format=%an <%ae>"), "ralph-runner <ralph-runner@localhost>")
}

// TestIgnored keeps ignored files in a lane that is set to another commit, and no others. They are not committed.
func TestIgnored(t *testing.T) {
	w := newWorld(t, "")
	w.write(w.project, ".gitignore", "node_modules/\n")
	w.git(w.top, "add", "-A")
	w.git(w.top, "commit", "-qm", "Ignore")
	w.open()
	lane := w.lane("lane-1")
	w.write(lane.Project(), "node_modules/x/y", "kept\n")
	w.write(lane.Project(), "loose/z", "not kept\n")
	w.write(lane.Project(), "a.txt", "changed\n")
	w.ok(os.Chmod(filepath.Join(lane.Project(), "node_modules/x"), 0o555))
	w.ok(lane.Reset(t.Context(), w.head()))
	w.want("an ignored file", w.read(lane.Project(), "node_modules/x/y"), "kept\n")
	w.want("a loose file", w.read(lane.Project(), "loose/z"), "none")
	w.want("a changed file", w.read(lane.Project(), "a.txt"), "one\ntwo\nthree\n")
	if _, changed, err := lane.Commit(t.Context(), "x"); err != nil || changed {
		t.Errorf("the lane is changed: %v, %v", changed, err)
	}
	w.write(w.project, "node_modules/person", "a person's\n") // and one that git ignores, where the agent has another
	w.git(lane.Project(), "add", "-f", "node_modules/x/y")
	w.git(lane.Project(), "commit", "-qm", "Wanted")
	w.merge(lane, "f")
	w.want("a file that the agent has committed", w.read(w.project, "node_modules/x/y"), "kept\n")
	w.write(lane.Project(), "node_modules/person", "the agent's\n")
	w.git(lane.Project(), "add", "-f", "node_modules/person")
	w.git(lane.Project(), "commit", "-qm", "In the way")
	m, err := w.repo.Merge(t.Context(), w.head(), Work{Commit: w.commit(lane), Base: lane.Base(), Feature: "g"})
	w.ok(err)
	w.refused(w.repo.Forward(t.Context(), w.head(), m.Commit), "node_modules/person is changed in the project")
	w.want("a person's ignored file", w.read(w.project, "node_modules/person"), "a person's\n")
	w.ok(os.Chmod(filepath.Join(lane.Project(), "node_modules/x"), 0o555))
	w.ok(lane.Reset(t.Context(), w.head()))
	w.ok(lane.Remove(t.Context(), w.head()))
	if _, err := os.Stat(lane.dir); err == nil {
		t.Error("the worktree is still there")
	}
}

// TestLoopsIgnored commits the work in a project that ignores the folder of our loops.
func TestLoopsIgnored(t *testing.T) {
	for _, rule := range []string{".claude", ".claude/", "/.claude/*", "**/*.json"} {
		w := newWorld(t, "")
		w.write(w.project, ".gitignore", rule+"\n")
		w.git(w.top, "add", "-A")
		w.git(w.top, "commit", "-qm", "Ignore")
		w.open()
		lane := w.lane("lane-1")
		w.write(lane.Project(), "a.txt", "changed\n")
		w.write(lane.Project(), "new.txt", "new\n")
		w.write(lane.Project(), loops+"/shop/feature_list.json", "[2]\n")
		w.write(lane.Project(), loops+"/shop/progress.txt", "notes\n")
		w.want(rule, w.git(lane.Project(), "diff", "--name-only", "main", w.commit(lane)), "a.txt\nnew.txt")
	}
}

// TestAddKilled kills Add before each git command, and Reset and Remove, too. The next call makes the lane, and its
// work is there.
func TestAddKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.open()
	dir := filepath.Join(w.lanes, "lane-1")
	stop := func(n int, do func()) (stopped bool) {
		defer func() {
			r.step = func(string) {}
			stopped = recover() != nil
		}()
		r.step = func(string) {
			if n--; n == 0 {
				panic("killed")
			}
		}
		do()
		return false
	}
	for _, what := range []string{"add", "reset", "remove"} {
		for n := 1; ; n++ {
			r.copying.TryLock() // a killed process holds no lock in the next one
			r.copying.Unlock()
			var lane *Tree
			if what != "add" {
				lane = w.lane("lane-1")
			}
			stopped := stop(n, func() {
				switch what {
				case "add":
					_, _ = r.Add(t.Context(), dir, "ralph/shop/1/lane-1", w.head())
				case "reset":
					w.ok(lane.Reset(t.Context(), w.head()))
				case "remove":
					w.ok(lane.Remove(t.Context(), w.head()))
				}
			})
			r.copying.TryLock()
			r.copying.Unlock()
			lane = w.lane("lane-1")
			w.want("the lane after "+what, w.git(lane.Project(), "status", "--porcelain", "-b"), "## ralph/shop/1/lane-1")
			w.want("a file after "+what, w.read(lane.Project(), "a.txt"), "one\ntwo\nthree\n")
			if n%2 == 0 {
				w.write(lane.Project(), "x", "work\n")
				w.commit(lane)
				w.ok(os.RemoveAll(lane.dir)) // a person has cleaned the cache folder
				lane = w.lane("lane-1")
				w.want("the work", w.read(lane.Project(), "x"), "work\n")
				w.ok(lane.Reset(t.Context(), w.head()))
			}
			w.ok(lane.Remove(t.Context(), w.head()))
			if t.Failed() || !stopped {
				t.Logf("%s: %d steps", what, n)
				break
			}
		}
	}
	w.want("branches", w.git(w.top, "branch", "--format=%(refname)"), "refs/heads/main")
}

// TestMerger uses a worktree without a branch, as the merger does.
func TestMerger(t *testing.T) {
	w := newWorld(t, "")
	r := w.open()
	lane := w.lane("lane-1")
	w.write(lane.Project(), "a.txt", "lane\n")
	m, err := r.Merge(t.Context(), w.head(), Work{Commit: w.commit(lane), Base: lane.Base(), Feature: "f"})
	w.ok(err)
	merger, err := r.Add(t.Context(), filepath.Join(w.lanes, "merge"), "", w.head())
	w.ok(err)
	w.ok(merger.Reset(t.Context(), m.Commit))
	w.want("the file", w.read(merger.Project(), "a.txt"), "lane\n")
	w.git(merger.Project(), "checkout", "-q", "-b", "own") // a check may do so
	w.ok(merger.Reset(t.Context(), w.head()))
	w.want("the file", w.read(merger.Project(), "a.txt"), "one\ntwo\nthree\n")
	w.ok(merger.Remove(t.Context(), ""))
}

// TestFormats works with SHA-256, with a shallow clone, and in a worktree of a person.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sha256", "shallow", "worktree", "separate"} {
		w := newWorld(t, "")
		dir := filepath.Join(t.TempDir(), "other")
		switch kind {
		case "sha256":
			w.ok(os.RemoveAll(filepath.Join(w.top, ".git")))
			w.git(w.top, "init", "-q", "-b", "main", "--object-format=sha256")
			w.git(w.top, "config", "user.name", "x")
			w.git(w.top, "config", "user.email", "x")
			w.git(w.top, "add", "-A")
			w.git(w.top, "commit", "-qm", "First")
		case "shallow":
			w.git(w.top, "commit", "-q", "--allow-empty", "-m", "Second")
			w.git(w.top, "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(w.top), dir)
			w.top, w.project = dir, dir
		case "worktree":
			w.git(w.top, "worktree", "add", "-q", "-b", "mine", dir)
			w.top, w.project = dir, dir
		case "separate":
			w.git(w.top, "init", "-q", "--separate-git-dir="+dir)
		}
		r := w.open()
		w.ok(r.Ready(t.Context()))
		lane := w.lane("lane-1")
		w.write(lane.Project(), "a.txt", kind+"\n")
		w.write(lane.Project(), "new/x", kind+"\n")
		before := w.head()
		m := w.merge(lane, "f")
		w.want("the file", w.read(w.project, "a.txt"), kind+"\n")
		w.clean()
		bundle := filepath.Join(t.TempDir(), "bundle")
		w.ok(r.Bundle(t.Context(), bundle, before, m.Commit))
		commit, err := r.Import(t.Context(), bundle, 1<<20, before)
		w.ok(err)
		w.want("the commit of the bundle", commit, m.Commit)
		w.ok(lane.Reset(t.Context(), w.head()))
		w.ok(lane.Remove(t.Context(), w.head()))
	}
}

// TestFolderVanishes has the folders of a lane and of its git vanish: the branch keeps what the agent has committed.
func TestFolderVanishes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.open()
	lane := w.lane("one")
	w.write(lane.Project(), "a.txt", "work\n")
	commit := w.commit(lane)
	w.ok(os.RemoveAll(w.lanes))
	_, _, err := lane.Commit(t.Context(), "x")
	if err == nil {
		t.Error("a lane without a folder has been committed")
	}
	again := w.lane("one")
	w.want("the branch in a new folder", w.git(again.dir, "rev-parse", again.branch), commit)
	w.want("the work there", w.read(again.Project(), "a.txt"), "work\n")
}

// TestMany lets sixteen lanes work at the same time.
func TestMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.open()
	head := w.head()
	done := make(chan error)
	const lanes = 16
	for i := range lanes {
		go func() {
			name := "lane-" + string(rune('a'+i))
			lane, err := r.Add(t.Context(), filepath.Join(w.lanes, name), "ralph/"+name, head)
			if err == nil {
				err = os.WriteFile(filepath.Join(lane.Project(), name), []byte("x"), 0o644)
			}
			var commit string
			if err == nil {
				commit, _, err = lane.Commit(t.Context(), "x")
			}
			if err == nil {
				_, err = r.Merge(t.Context(), w.head(), Work{Commit: commit, Base: head, Feature: name})
			}
			if err == nil {
				err = lane.Reset(t.Context(), head)
			}
			if err == nil {
				err = lane.Remove(t.Context(), w.head())
			}
			done <- err
		}()
	}
	for range lanes {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	w.want("branches", w.git(w.top, "branch", "--format=%(refname)"), "refs/heads/main")
}

// TestModes keeps the mode of a script, and a link.
func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("has no modes")
	}
	w := newWorld(t, "")
	w.open()
	lane := w.lane("lane-1")
	w.write(lane.Project(), "run", "#!/bin/sh\necho ran\n")
	w.ok(os.Chmod(filepath.Join(lane.Project(), "run"), 0o755))
	w.ok(os.Symlink("run", filepath.Join(lane.Project(), "link")))
	w.merge(lane, "f")
	out, err := exec.Command(filepath.Join(w.project, "link")).CombinedOutput()
	w.want("the script", string(out), "ran\n")
	w.ok(err)
}

// TestTags gives lanes the tags of people, from which builds make versions, and none of ours. A lane whose files were
// being written when its run was killed is opened with the work that the run alone has.
func TestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.git(w.top, "tag", "-a", "-m", "One", "v1")
	w.git(w.top, "tag", "light")
	r := w.open()
	_, err := r.Backup(t.Context(), "run")
	w.ok(err)
	lane := w.lane("one")
	w.want("the version", w.git(lane.dir, "describe"), "v1")
	w.write(lane.Project(), "a.txt", "work\n")
	w.ok(lane.note(half, w.commit(lane)))
	w.write(lane.Project(), "a.txt", "half\n")
	w.open()
	lane = w.lane("one")
	w.want("the work", w.read(lane.Project(), "a.txt"), "work\n")
	w.want("the tags", w.git(lane.dir, "tag"), "light\nv1")
	w.want("the work's version", w.git(lane.dir, "describe", "--abbrev=0"), "v1")
}
