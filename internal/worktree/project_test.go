package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// proven is work that a stop has proven.
var proven = Work{Message: "login Log in", Feature: "login", Also: []string{"out"},
	More: []string{"Ralph-Agent: claude"}}

// TestCommitProject commits what has changed in a project, once, and nothing of the loops or of the rest of the
// repository.
func TestCommitProject(t *testing.T) {
	t.Parallel()
	for _, below := range []string{"", "packages/shop é"} {
		w := newWorld(t, below)
		r := w.openHere()
		first := w.head()
		w.write(w.project, "a.txt", "ONE\n")
		w.write(w.project, "new/odd \"name\".txt", "new\n")
		w.write(w.project, loops+"/shop/feature_list.json", "[2]\n")
		w.write(w.project, "x.log", "noise\n")
		if below != "" {
			w.write(w.top, "other.txt", "a person's\n")
		}
		commit, left, err := r.CommitProject(t.Context(), proven, nil)
		w.ok(err)
		w.want("what is left out", left, "x.log")
		w.want("the branch", w.head(), commit)
		w.want("its parent", w.git(w.top, "rev-parse", "HEAD^"), first)
		w.want("the message", w.git(w.top, "log", "-1", "--format=%an <%ae>, %cn: %B"), "A Person "+
			"<person@example.com>, A Person: login Log in\n\nRalph-Feature: login\nRalph-Feature: out\n"+
			"Ralph-Agent: claude")
		w.want("what is staged", w.git(w.top, "diff", "--cached", "--name-only"), "")
		w.want("what is changed", w.git(w.project, "diff", "--name-only", "--relative"), loops+"/shop/feature_list.json")
		if below != "" {
			w.want("the rest", w.git(w.top, "status", "--porcelain", "other.txt"), "?? other.txt")
		}
		commit, _, err = r.CommitProject(t.Context(), proven, nil)
		w.ok(err)
		w.want("a second commit", commit, "")
		w.want("the lock", w.read(w.top, ".git/index.lock"), "none")
	}
}

// TestCommitProjectShared commits in a repository that a group shares: the others can write there afterwards.
func TestCommitProjectShared(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs modes of files")
	}
	w := newWorld(t, "")
	w.git(w.top, "init", "-q", "--shared=group")
	w.git(w.top, "add", "-A")
	r := w.openHere()
	folders, err := os.ReadDir(filepath.Join(r.git, "objects"))
	w.ok(err)
	for _, folder := range folders { // git changes none that is there, and the commit may be in one of them
		w.ok(os.Chmod(filepath.Join(r.git, "objects", folder.Name()), 0o775))
	}
	w.write(w.project, "a.txt", "ONE\n")
	commit, _, err := r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	for _, name := range []string{"index", "objects/" + commit[:2]} {
		info, err := os.Stat(filepath.Join(r.git, filepath.FromSlash(name)))
		w.ok(err)
		if info.Mode().Perm()&0o060 != 0o060 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
}

// TestCommitProjectRefuses wants reasons, and a repository that is as it was.
func TestCommitProjectRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(w *world)
		want string
	}{
		"a merge":     {func(w *world) { w.write(w.top, ".git/MERGE_HEAD", "x") }, "a merge is in progress: type"},
		"another git": {func(w *world) { w.write(w.top, ".git/index.lock", "") }, "another git command works"},
		"another loop": {func(w *world) {
			w.write(w.top, ".git/index.lock", commitText+"x\n1\n\n")
		}, "another git command"},
		"a repository in it": {func(w *world) {
			w.git(w.top, "init", "-q", "inner")
			w.write(w.top, "inner/x", "x")
			w.git(w.top+"/inner", "add", "x")
			w.git(w.top+"/inner", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
		}, "the folder inner is a git repository of its own"},
		"a new file for a filter": {func(w *world) {
			w.git(w.top, "config", "filter.big.clean", "cat")
			w.write(w.top, ".gitattributes", "*.bin filter=big\n")
			w.git(w.top, "add", "-A")
			w.git(w.top, "commit", "-qm", "Attributes")
			w.write(w.top, "x.bin", "raw")
		}, `x.bin goes through the filter "big"`},
		"attributes for a filter, both new": {func(w *world) {
			w.git(w.top, "config", "filter.big.clean", "cat")
			w.write(w.top, ".gitattributes", "*.bin filter=big\n")
			w.write(w.top, "x.bin", "raw")
		}, `x.bin goes through the filter "big"`},
		"a submodule": {func(w *world) {
			w.git(w.top, "update-index", "--add", "--cacheinfo", "160000,"+w.git(w.top, "rev-parse", "HEAD")+",lib")
			w.git(w.top, "commit", "-qm", "A submodule")
		}, "lib is a submodule"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			r := w.openHere()
			w.write(w.project, "a.txt", "ONE\n")
			c.make(w)
			head := w.head()
			staged := w.git(w.top, "diff", "--cached", "--name-only")
			_, _, err := r.CommitProject(t.Context(), proven, nil)
			w.refused(err, c.want)
			w.want("the branch", w.head(), head)
			w.want("what is staged", w.git(w.top, "diff", "--cached", "--name-only"), staged)
			w.want("the file", w.read(w.project, "a.txt"), "ONE\n")
		})
	}
}

// TestCommitProjectBefore leaves a person's uncommitted files as they are, staged ones too.
func TestCommitProjectBefore(t *testing.T) {
	t.Parallel()
	for _, below := range []string{"", "packages/shop é"} {
		w := newWorld(t, below)
		for name, text := range map[string]string{
			"staged.txt": "1\n", "half.txt": "1\n", "gone.txt": "1\n", "edited.txt": "1\n", "work.txt": "1\n",
		} {
			w.write(w.project, name, text)
		}
		w.git(w.top, "add", "-A")
		w.git(w.top, "commit", "-qm", "Second")
		w.write(w.project, "staged.txt", "2\n")
		w.write(w.project, "half.txt", "2\n")
		w.git(w.project, "add", "staged.txt", "half.txt")
		w.write(w.project, "half.txt", "3\n")
		w.ok(os.Remove(filepath.Join(w.project, "gone.txt")))
		w.write(w.project, "edited.txt", "2\n")
		w.write(w.project, "new 'é'.txt", "2\n")
		w.write(w.project, "large.bin", strings.Repeat("x", maxNew+1))
		w.git(w.project, "init", "-q", "inner")
		w.write(w.project, "inner/x", "x")
		w.git(w.project+"/inner", "add", "x")
		w.git(w.project+"/inner", "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
		if below != "" {
			w.write(w.top, "outside.txt", "1\n")
			w.git(w.top, "add", "outside.txt")
		}
		was := w.git(w.top, "status", "--porcelain")
		r := w.openHere()
		before, err := r.Drafts(t.Context())
		w.ok(err)

		w.write(w.project, "work.txt", "2\n")
		w.write(w.project, "more.txt", "2\n")
		w.git(w.project, "add", "more.txt") // an agent does such things
		commit, left, err := r.CommitProject(t.Context(), proven, before)
		w.ok(err)
		w.want("what is left out", left, "")
		w.want("the commit", w.git(w.project, "diff", "--relative", "--name-only", commit+"^", commit), "more.txt\nwork.txt")
		w.want("what stays", w.git(w.top, "status", "--porcelain"), was)

		w.write(w.project, "edited.txt", "3\n")
		w.write(w.project, "work.txt", "3\n")
		_, _, err = r.CommitProject(t.Context(), proven, before)
		w.refused(err, "edited.txt was not committed when the run began, and has changed since: commit it yourself")
		w.want("the branch", w.head(), commit)
		w.git(w.project, "commit", "-qm", "mine", "edited.txt")
		commit, _, err = r.CommitProject(t.Context(), proven, before)
		w.ok(err)
		w.want("the commit", w.git(w.project, "diff", "--relative", "--name-only", commit+"^", commit), "work.txt")
		w.write(w.project, "edited.txt", "4\n")
		commit, _, err = r.CommitProject(t.Context(), proven, before)
		w.ok(err)
		w.want("the commit", w.git(w.project, "diff", "--relative", "--name-only", commit+"^", commit), "edited.txt")
	}
}

// TestCommitProjectAside has a person stash what was not committed, and an agent have git ignore it: back again, it
// stays uncommitted. What is done meanwhile with a file whose change is stashed is work.
func TestCommitProjectAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "packages/shop é")
	for _, name := range []string{"edited.txt", "other.txt", "work.txt"} {
		w.write(w.project, name, "1\n")
	}
	w.git(w.top, "add", "-A")
	w.git(w.top, "commit", "-qm", "Second")
	w.write(w.project, "edited.txt", "2\n")
	w.write(w.project, "other.txt", "2\n")
	w.write(w.project, "draft.txt", "2\n")
	w.write(w.project, "hidden.txt", "2\n")
	was := w.git(w.top, "status", "--porcelain")
	r := w.openHere()
	before, err := r.Drafts(t.Context())
	w.ok(err)
	commitWork := func(text, want string) {
		t.Helper()
		w.write(w.project, "work.txt", text)
		commit, _, err := r.CommitProject(t.Context(), proven, before)
		w.ok(err)
		w.want("the commit", w.git(w.project, "diff", "--relative", "--name-only", commit+"^", commit), want)
	}

	w.write(w.project, ".gitignore", "hidden.txt\n")
	w.git(w.project, "stash", "-q", "-u", "--", "edited.txt", "other.txt", "draft.txt")
	commitWork("2\n", ".gitignore\nwork.txt")
	w.git(w.project, "stash", "pop", "-q")
	w.ok(os.Remove(filepath.Join(w.project, ".gitignore")))
	commitWork("3\n", ".gitignore\nwork.txt")
	w.want("what stays", w.git(w.top, "status", "--porcelain"), was)

	w.git(w.project, "stash", "-q", "--", "edited.txt", "other.txt")
	commitWork("4\n", "work.txt")
	w.write(w.project, "edited.txt", "3\n")
	commitWork("5\n", "edited.txt\nwork.txt")
	w.write(w.project, "other.txt", "2\n")
	w.write(w.project, "edited.txt", "2\n") // by now there is other work
	commitWork("6\n", "edited.txt\nwork.txt")
	w.write(w.project, "other.txt", "3\n")
	_, _, err = r.CommitProject(t.Context(), proven, before)
	w.refused(err, "other.txt was not committed when the run began, and has changed since: commit it yourself")
}

// TestDraftsMany refuses to begin with more files than a record can have, before git reads them.
func TestDraftsMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	for n := range maxDrafts + 1 {
		w.write(w.project, fmt.Sprintf("many/%d.txt", n), "x")
	}
	r := w.openHere()
	_, err := r.Drafts(t.Context())
	w.refused(err, "more than 1000 files are not committed: commit them, or let git ignore them")
}

// TestUncommittedName refuses a name that the record of a run cannot have: it would be another one when the run goes
// on, and the file would be committed.
func TestUncommittedName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	name := "caf\xe9.txt"
	if err := os.WriteFile(filepath.Join(w.project, name), []byte("x"), 0o644); err != nil {
		t.Skip(err)
	}
	r := w.openHere()
	_, err := r.Drafts(t.Context())
	w.refused(err, " is not in UTF-8: rename it, commit it, or let git ignore it")
	w.git(w.project, "add", name)
	w.git(w.project, "commit", "-qm", "Name")
	_, err = r.Drafts(t.Context())
	w.ok(err)
}

// TestCommitProjectLinks has an agent put links, pipes and folders where files of ours belong: nothing is written
// through them, nothing waits, and the commit is there, or nothing is staged.
func TestCommitProjectLinks(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(place, victim string) error{
		"a link":   func(place, victim string) error { return os.Symlink(victim, place) },
		"a pipe":   func(place, _ string) error { return exec.Command("mkfifo", place).Run() },
		"a folder": func(place, _ string) error { return os.MkdirAll(filepath.Join(place, "x"), 0o755) },
	} {
		for _, file := range []string{"ralph.lock", "index" + asideEnd} {
			t.Run(name+" for "+file, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "")
				r := w.openHere()
				w.write(w.project, "a.txt", "ONE\n")
				victim := filepath.Join(t.TempDir(), "victim")
				w.ok(os.WriteFile(victim, []byte("mine"), 0o644))
				if err := put(filepath.Join(r.git, file), victim); err != nil {
					t.Skip(err)
				}
				head := w.head()
				commit, _, err := r.CommitProject(t.Context(), proven, nil)
				if err == nil {
					w.want("the branch", w.head(), commit)
				} else {
					w.want("the branch", w.head(), head)
				}
				text, _ := os.ReadFile(victim)
				w.want("the victim", string(text), "mine")
				w.want("what is staged", w.git(w.top, "diff", "--cached", "--name-only"), "")
				w.want("the lock", w.read(w.top, ".git/index.lock"), "none")
			})
		}
	}
}

// TestCommitProjectTracked leaves a file of Options.Tracked out until a person has committed it.
func TestCommitProjectTracked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "packages/shop")
	const list = loops + "/shop/list.json"
	o := Options{Project: w.project, Env: w.env(), Except: []string{loops}, Tracked: []string{"own", list}}
	r, err := Open(t.Context(), o)
	w.ok(err)
	defer r.Close()
	w.write(w.project, "own", "1")
	commit, left, err := r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.want("the commit of own alone", commit+left, "")
	w.write(w.project, "a.txt", "ONE\n")
	w.write(w.project, list, "[1]\n")
	commit, left, err = r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.want("the files", w.git(w.top, "diff", "--name-only", commit+"^", commit)+left, "packages/shop/a.txt")
	w.git(w.project, "add", "-f", list)
	w.git(w.project, "commit", "-qm", "The list")
	w.write(w.project, list, "[2]\n")
	w.write(w.project, loops+"/shop/notes.txt", "2\n")
	commit, _, err = r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.want("the files", w.git(w.top, "diff", "--name-only", commit+"^", commit), "packages/shop/"+list)
	w.git(w.project, "add", "own")
	w.git(w.project, "commit", "-qm", "mine")
	w.write(w.project, "own", "2")
	commit, _, err = r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.want("the files", w.git(w.top, "diff", "--name-only", commit+"^", commit), "packages/shop/own")
}

// TestCommitProjectForged has an agent write the lock of a commit that was cut off: no file and no commit changes, and
// what a person has staged stays so.
func TestCommitProjectForged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.openHere()
	w.write(w.project, "a.txt", "ONE\n")
	w.git(w.top, "commit", "-qam", "One")
	head := w.head()
	w.write(w.project, "a.txt", "TWO\n")
	w.write(w.project, "mine.txt", "mine\n")
	w.git(w.top, "add", "mine.txt")
	for _, commit := range []string{head, head + "^", "--help", ""} {
		w.write(w.top, ".git/index.lock", commitText+commit+"\n0\n\n")
		before := map[string]Draft{"a.txt": {}, "mine.txt": {ID: w.git(w.top, "hash-object", "mine.txt")}}
		_, _, err := r.CommitProject(t.Context(), proven, before)
		w.refused(err, "a.txt was not committed when the run began")
		w.want("the branch", w.head(), head)
		w.want("what is staged", w.git(w.top, "diff", "--cached", "--name-only"), "mine.txt")
		w.want("the file", w.read(w.project, "a.txt"), "TWO\n")
	}
}

// TestCommitProjectElsewhere refuses a .git that leads to the repository of another folder, and not that of a work
// tree.
func TestCommitProjectElsewhere(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t, ""), newWorld(t, "")
	theirs := other.git(other.top, "rev-parse", "HEAD")
	w.write(w.project, "a.txt", "ONE\n")
	w.ok(os.Rename(filepath.Join(w.top, ".git"), filepath.Join(w.top, "aside")))
	w.write(w.top, ".git", "gitdir: "+filepath.Join(other.top, ".git")+"\n")
	r, err := Open(t.Context(), Options{Project: w.project, Env: w.env(), Except: []string{loops}})
	w.ok(err)
	defer r.Close()
	_, err = r.Drafts(t.Context())
	w.refused(err, "leads to the repository of another folder")
	_, _, err = r.CommitProject(t.Context(), proven, nil)
	w.refused(err, "leads to the repository of another folder")
	w.want("the other branch", other.git(other.top, "rev-parse", "HEAD"), theirs)

	tree := filepath.Join(t.TempDir(), "tree")
	other.git(other.top, "worktree", "add", "-q", "-b", "second", tree)
	w.ok(os.WriteFile(filepath.Join(tree, "a.txt"), []byte("ONE\n"), 0o644))
	r, err = Open(t.Context(), Options{Project: tree, Env: other.env(), Except: []string{loops}})
	w.ok(err)
	defer r.Close()
	commit, _, err := r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.want("the branch of the work tree", other.git(tree, "rev-parse", "HEAD"), commit)
}

// TestCommitProjectOtherRepository has an agent remove the project's .git, and make another one: neither the repository
// around the project nor that of the agent gets a commit.
func TestCommitProjectOtherRepository(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		below string
		make  func(w *world)
	}{
		"around it": {"", func(w *world) {
			around := filepath.Dir(w.top)
			w.ok(os.Rename(filepath.Join(w.top, ".git"), filepath.Join(around, ".git")))
		}},
		"in it": {"packages/shop", func(w *world) {
			w.git(w.project, "init", "-q")
			w.git(w.project, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.below)
			folder := w.openHere().Folder()
			c.make(w)
			w.write(w.project, "a.txt", "ONE\n")
			o := Options{Project: w.project, Folder: folder, Env: w.env(), Except: []string{loops}}
			r, err := Open(t.Context(), o)
			w.refused(err, " is another repository than the one that was here when the run began: put its .git back")
			if err == nil {
				r.Close()
			}
		})
	}
}

// TestCommitProjectMoved lets a person commit and stage just before the branch moves: none of that is in our commit.
func TestCommitProjectMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.openHere()
	w.write(w.project, "a.txt", "ONE\n")
	w.write(w.project, "mine.txt", "mine\n")
	times := 0
	r.step = func(name string) {
		if name != "commit-tree" {
			return
		}
		times++
		if times == 1 {
			w.git(w.top, "add", "mine.txt")
			w.git(w.top, "commit", "-qm", "mine")
		}
	}
	commit, _, err := r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.want("our files", w.git(w.top, "diff", "--name-only", commit+"^", commit), "a.txt")
	w.want("the commits", w.git(w.top, "log", "--format=%s"), "login Log in\nmine\nFirst")
	w.clean()
}

// TestCommitProjectBusy lets another git command have the index for a moment, before the look at the project and just
// before the branch moves. Our commit waits for that.
func TestCommitProjectBusy(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"rev-parse", "commit-tree"} {
		w := newWorld(t, "")
		r := w.openHere()
		w.write(w.project, "a.txt", "ONE\n")
		times := 0
		r.step = func(name string) {
			if name != at {
				return
			}
			times++
			if times == 1 {
				w.write(w.top, ".git/index.lock", "")
				time.AfterFunc(200*time.Millisecond, func() { _ = os.Remove(r.indexLock()) })
			}
		}
		commit, _, err := r.CommitProject(t.Context(), proven, nil)
		w.ok(err)
		w.want("the branch", w.head(), commit)
		w.clean()
	}
}

// TestCommitProjectCollected has git gc work at the time of a commit: it can throw away what no branch has yet. The
// branch never has a commit with a file that is gone.
func TestCommitProjectCollected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	r := w.openHere()
	w.write(w.project, "a.txt", "ONE\n")
	head := w.head()
	blob := w.git(w.top, "hash-object", "a.txt")
	times := 0
	r.step = func(name string) {
		if name == "update-ref" {
			times++
		}
		if name == "update-ref" && times == 1 {
			w.ok(os.Remove(filepath.Join(w.top, ".git", "objects", blob[:2], blob[2:])))
		}
	}
	commit, _, err := r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.want("its parent", w.git(w.top, "rev-parse", "HEAD^"), head)
	w.want("the branch", w.head(), commit)
	w.git(w.top, "fsck", "--no-dangling")
	w.clean()

	w.write(w.project, "a.txt", "TWO\n")
	r.step = func(name string) {
		if name == "commit-tree" {
			w.write(w.top, ".git/gc.pid", fmt.Sprintf("%d here", os.Getpid()))
		}
	}
	_, _, err = r.CommitProject(t.Context(), proven, nil)
	w.refused(err, "another git command works in this repository, or one was killed: wait for it, or remove ")
	w.want("the branch", w.head(), commit)
	w.write(w.top, ".git/gc.pid", "0 here")
	r.step = func(string) {}
	_, _, err = r.CommitProject(t.Context(), proven, nil)
	w.ok(err)
	w.clean()
}

// TestCommitProjectKilled kills CommitProject before each of its steps. The next one makes the commit once, and a
// person has nothing staged.
func TestCommitProjectKilled(t *testing.T) {
	t.Parallel()
	killed, half, every := 0, 0, 1
	if testing.Short() {
		every = 2
	}
	for n := 1; ; n += every {
		w := newWorld(t, "")
		w.write(w.project, "a.txt", "ONE\n")
		w.write(w.project, "new.txt", "new\n")
		done := !kill(w, "commit", n, "", "")
		r := w.openHere()
		if w.git(w.top, "diff", "--cached", "--name-only") != "" {
			half++
		}
		_, _, err := r.CommitProject(t.Context(), proven, nil)
		w.ok(err)
		w.want("the commits", w.git(w.top, "log", "--format=%s"), "login Log in\nFirst")
		w.want("git status", w.git(w.top, "status", "--porcelain"), "")
		if _, err := os.Stat(r.indexLock()); err == nil {
			t.Error("the lock is left")
		}
		if t.Failed() {
			t.Fatalf("killed before step %d", n)
		}
		if done {
			break
		}
		killed++
	}
	if killed < 12/every || half == 0 {
		t.Errorf("killed at %d steps, and at %d between branch and index", killed, half)
	}
}
