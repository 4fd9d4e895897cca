package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestConflicts makes each kind of conflict between a lane and the loop's branch. The merge moves nothing, names the
// file, and the lane gets both versions; what it makes of them is merged then.
func TestConflicts(t *testing.T) {
	text := func(mark string) string { return strings.Repeat("a line that stays\n", 9) + mark + "\n" }
	type side func(w *world, dir string)
	write := func(name, text string) side { return func(w *world, dir string) { w.write(dir, name, text) } }
	remove := func(name string) side {
		return func(w *world, dir string) { w.ok(os.RemoveAll(filepath.Join(dir, name))) }
	}
	rename := func(from, to string) side {
		return func(w *world, dir string) { w.ok(os.Rename(filepath.Join(dir, from), filepath.Join(dir, to))) }
	}
	link := func(name, to string) side {
		return func(w *world, dir string) {
			_ = os.Remove(filepath.Join(dir, name))
			w.ok(os.Symlink(to, filepath.Join(dir, name)))
		}
	}
	mode := func(name, text string) side {
		return func(w *world, dir string) {
			w.write(dir, name, text)
			w.ok(os.Chmod(filepath.Join(dir, name), 0o755))
		}
	}
	for name, c := range map[string]struct {
		base, lane, loop side
		file, why        string // "" if there is no conflict
		marks            bool   // there are conflict markers in the file
	}{
		"content":        {write("f", text("0")), write("f", text("1")), write("f", text("2")), "f", "(content)", true},
		"the same":       {write("f", text("0")), write("f", text("1")), write("f", text("1")), "", "", false},
		"add/add":        {nil, write("f", "1\n"), write("f", "2\n"), "f", "CONFLICT (add/add)", true},
		"delete/modify":  {write("f", text("0")), remove("f"), write("f", text("2")), "f", "CONFLICT (modify/delete)", false},
		"modify/delete":  {write("f", text("0")), write("f", text("1")), remove("f"), "f", "CONFLICT (modify/delete)", false},
		"delete/delete":  {write("f", text("0")), remove("f"), remove("f"), "", "", false},
		"rename/rename":  {write("f", text("0")), rename("f", "g"), rename("f", "h"), "f", "CONFLICT (rename/rename)", false},
		"rename/modify":  {write("f", text("0")), rename("f", "g"), write("f", text("2")), "", "", false},
		"rename/delete":  {write("f", text("0")), rename("f", "g"), remove("f"), "g", "CONFLICT (rename/delete)", false},
		"rename/add":     {write("f", text("0")), rename("f", "g"), write("g", "2\n"), "g", "CONFLICT (add/add)", true},
		"binary":         {write("f", "\x000"), write("f", "\x001"), write("f", "\x002"), "f", "Cannot merge binary", false},
		"mode":           {nil, mode("f", "1\n"), write("f", "1\n"), "f", "", false},
		"file/folder":    {nil, write("f", "1\n"), write("f/g", "2\n"), "f", "CONFLICT (file/directory)", false},
		"folder/file":    {nil, write("f/g", "1\n"), write("f", "2\n"), "f", "CONFLICT (file/directory)", false},
		"link":           {link("f", "a"), link("f", "b"), link("f", "c"), "f", "CONFLICT (content)", false},
		"link/file":      {nil, link("f", "b"), write("f", "2\n"), "f", "CONFLICT (distinct types)", false},
		"odd name":       {nil, write("\"x\"\t🎉 é", "1\n"), write("\"x\"\t🎉 é", "2\n"), "\"x\"\t🎉 é", "CONFLICT", true},
		"line feed":      {nil, write("a\nb", "1\n"), write("a\nb", "2\n"), "a\nb", "CONFLICT", true},
		"the loops":      {nil, write(loops+"/shop/x", "1\n"), write(loops+"/shop/x", "2\n"), "", "", false},
		"no loops left":  {nil, remove(".claude"), write(loops+"/shop/x", "2\n"), "", "", false},
		"another's file": {nil, write("../x", "1\n"), write("../x", "2\n"), "../x", "CONFLICT (add/add)", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && strings.Contains("mode link link/file odd name line feed", name) {
				t.Skip("needs what Windows' file names and modes cannot be")
			}
			w := newWorld(t, "shop")
			save := func(what side) {
				if what != nil {
					what(w, w.project)
					w.git(w.top, "add", "-A")
					w.git(w.top, "commit", "-qm", "A person's")
				}
			}
			save(c.base)
			r := w.open()
			lane := w.lane("lane-1")
			c.lane(w, lane.Project())
			save(c.loop)
			before := w.head()
			m := w.merge(lane, "f")
			if c.file == "" {
				if len(m.Conflicts) > 0 {
					t.Errorf("there are conflicts: %q", m.Conflicts)
				}
				w.clean()
				return
			}
			if m.Commit != "" || len(m.Conflicts) == 0 || w.head() != before {
				t.Fatalf("merged as %+v", m)
			}
			w.clean()
			conflicts, err := lane.Update(t.Context(), before)
			w.ok(err)
			var files []string
			found := false
			for _, conflict := range conflicts {
				files = append(files, conflict.File)
				found = found || strings.HasPrefix(conflict.File, c.file) && strings.Contains(conflict.Why, c.why)
			}
			if !found {
				t.Errorf("the conflicts are %q, want one of %q with %q", conflicts, c.file, c.why)
			}
			left := lane.Unresolved()
			if c.marks != (len(left) > 0) {
				t.Errorf("files with markers: %q of %q", left, files)
			}
			w.want("git status in the lane", w.git(lane.Project(), "status", "--porcelain"), "")
			w.ok(lane.note(half, lane.tip)) // a run that was killed while it wrote the files knows them, too
			lane = w.lane("lane-1")
			w.want("files with markers, opened again", strings.Join(lane.Unresolved(), " "), strings.Join(left, " "))
			lane.base = before
			for _, file := range files { // the agent decides
				w.ok(os.RemoveAll(filepath.Join(lane.Project(), filepath.FromSlash(file))))
			}
			w.write(lane.Project(), "decided", "yes\n")
			if left := lane.Unresolved(); len(left) > 0 {
				t.Errorf("files with markers after that: %q", left)
			}
			if m := w.merge(lane, "f"); len(m.Conflicts) > 0 {
				t.Errorf("conflicts again: %q", m.Conflicts)
			}
			w.want("the file", w.read(w.project, "decided"), "yes\n")
			w.want("parents", w.git(w.top, "log", "-1", "--format=%P"), before)
			w.clean()
			w.ok(lane.Reset(t.Context(), w.head()))
			w.ok(lane.Remove(t.Context(), w.head()))
			_ = r
		})
	}
}

// TestWay commits a lane whose agent has put a link, or a file, in the place of a folder above what is never merged.
func TestWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.open()
	lane := w.lane("lane-1")
	for _, put := range []func(path string) error{
		func(path string) error { return os.Symlink("elsewhere", path) },
		func(path string) error { return os.WriteFile(path, []byte("x"), 0o644) },
	} {
		above := filepath.Join(lane.Project(), ".claude")
		w.ok(os.RemoveAll(above))
		w.ok(put(above))
		w.write(lane.Project(), "a.txt", "lane\n")
		w.commit(lane)
		w.ok(lane.WriteFile(loops+"/list.json", []byte("[]")))
		w.want("the list", w.read(lane.Project(), loops+"/list.json"), "[]")
	}
	w.refused(lane.WriteFile("sub/.GIT/config", []byte("x")), "git's own folder")
}

// TestExcept leaves out a list that is a file, and folders in folders. Both sides have changed each of them.
func TestExcept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "shop")
	files := []string{"prd [1].json", loops + "/shop/x", ".claude/data/y", ".claude/z"}
	change := func(dir, text string) {
		for _, name := range files {
			w.write(dir, name, text)
		}
		w.git(dir, "add", "-A")
		w.git(dir, "commit", "-qm", text)
	}
	change(w.project, "0\n")
	for _, except := range [][]string{
		{loops + "/shop", loops, ".claude/data", "prd [1].json"}, {".claude/data", loops, "not/there", "prd [1].json"},
	} {
		r, err := Open(t.Context(), Options{Project: w.project, Env: w.env(), Except: except})
		w.ok(err)
		w.repo = r
		defer r.Close()
		lane := w.lane("lane-1")
		for _, name := range files[:3] {
			w.write(lane.Project(), name, "copied, not committed\n")
		}
		if _, changed, err := lane.Commit(t.Context(), "x"); err != nil || changed {
			t.Errorf("files that are left out were committed: %v, %v", changed, err)
		}
		change(lane.Project(), "lane\n")
		w.write(lane.Project(), "work", fmt.Sprint(except))
		change(w.project, "loop\n")
		m, err := r.Merge(t.Context(), w.head(), Work{Commit: w.commit(lane), Base: lane.Base(), Feature: "f"})
		w.ok(err)
		if len(m.Conflicts) != 1 || m.Conflicts[0].File != ".claude/z" {
			t.Errorf("the conflicts are %q", m.Conflicts)
		}
		_, err = lane.Update(t.Context(), w.head())
		w.ok(err)
		w.write(lane.Project(), ".claude/z", "both\n")
		w.write(w.project, files[0], "a claim that is not committed\n")
		w.ok(r.Ready(t.Context()))
		w.merge(lane, "f")
		for _, name := range files[1:3] {
			w.want(name, w.read(w.project, name), "loop\n")
		}
		w.want(files[0], w.read(w.project, files[0]), "a claim that is not committed\n")
		w.want(files[3], w.read(w.project, files[3]), "both\n")
		w.ok(lane.Reset(t.Context(), w.head()))
		w.ok(lane.Remove(t.Context(), w.head()))
	}
}

// TestExceptWithColon leaves out a list whose name begins as a pattern of git does.
func TestExceptWithColon(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no file has such a name")
	}
	w := newWorld(t, "")
	change := func(text string) {
		w.write(w.project, ":list.json", text)
		w.git(w.project, "add", "-A")
		w.git(w.project, "commit", "-qm", "The list")
	}
	change("0\n")
	r, err := Open(t.Context(), Options{Project: w.project, Env: w.env(), Except: []string{":list.json"}})
	w.ok(err)
	w.repo = r
	defer r.Close()
	lane := w.lane("lane-1")
	w.write(lane.Project(), ":list.json", "lane\n")
	w.write(lane.Project(), "work", "lane\n")
	change("1\n")
	w.merge(lane, "f")
	w.want("the list", w.read(w.project, ":list.json"), "1\n")
	w.want("the work", w.read(w.project, "work"), "lane\n")
}

// TestSubmodules finds submodules that an agent makes. A conflict of two is one like others.
func TestSubmodules(t *testing.T) {
	w := newWorld(t, "")
	r := w.open()
	lane := w.lane("lane-1")
	w.git(lane.Project(), "init", "-q", "lib")
	w.write(lane.Project(), "lib/x", "x")
	_, _, err := lane.Commit(t.Context(), "x")
	w.refused(err, "lib")
	w.git(filepath.Join(lane.Project(), "lib"), "-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty",
		"-m", "x")
	_, _, err = lane.Commit(t.Context(), "x")
	w.refused(err, "the folder lib is a git repository of its own: remove its .git, or let git ignore it")
	w.ok(os.RemoveAll(filepath.Join(lane.Project(), "lib", ".git")))
	w.commit(lane)
	w.ok(lane.Reset(t.Context(), w.head()))

	link := func(id string) string {
		w.git(lane.Project(), "update-index", "--add", "--cacheinfo", "160000,"+id+",pointer")
		w.git(lane.Project(), "commit", "-qm", "A pointer")
		return w.git(lane.Project(), "rev-parse", "HEAD")
	}
	commit := link(strings.Repeat("1", 40))
	w.ok(lane.take(t.Context(), commit))
	w.git(w.top, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("2", 40)+",pointer")
	w.git(w.top, "commit", "-qm", "Another")
	m, err := r.Merge(t.Context(), w.head(), Work{Commit: commit, Base: lane.Base(), Feature: "f"})
	w.ok(err)
	if len(m.Conflicts) != 1 || m.Conflicts[0].File != "pointer" {
		t.Errorf("the conflicts are %q", m.Conflicts)
	}
}

// TestHistory refuses a lane that does not come from its base.
func TestHistory(t *testing.T) {
	w := newWorld(t, "")
	w.write(w.project, "a.txt", "second\n")
	w.git(w.top, "commit", "-qam", "Second")
	r := w.open()
	lane := w.lane("lane-1")
	w.git(lane.Project(), "checkout", "-q", "HEAD~1")
	_, _, err := lane.Commit(t.Context(), "x")
	w.refused(err, "history was rewritten: the lane is at commit")
	_, err = r.Merge(t.Context(), w.head(), Work{
		Commit: w.git(w.top, "rev-parse", "HEAD~1"), Base: w.head(), Feature: "f"})
	w.refused(err, "history was rewritten")
	w.ok(lane.Reset(t.Context(), w.head()))
	_, err = r.Merge(t.Context(), w.head(), Work{Commit: "--output=x", Base: lane.Base(), Feature: "f"})
	w.refused(err, "are to be commits")
}

// TestAgents leaves a lane as agents leave theirs: on another branch, in a merge, with locks, without .git. The work is
// committed, on the lane's branch.
func TestAgents(t *testing.T) {
	for name, do := range map[string]func(w *world, lane *Tree){
		"another branch":  func(w *world, lane *Tree) { w.git(lane.Project(), "switch", "-q", "-c", "mine") },
		"a detached head": func(w *world, lane *Tree) { w.git(lane.Project(), "checkout", "-q", "--detach") },
		"locks": func(w *world, lane *Tree) {
			for _, name := range []string{"index", "HEAD", "packed-refs", heads + lane.branch} {
				w.write(lane.dir, ".git/"+name+".lock", "")
			}
		},
		"a broken index": func(w *world, lane *Tree) { w.write(lane.dir, ".git/index", "broken") },
		"hidden files":   func(w *world, lane *Tree) { w.git(lane.Project(), "update-index", "--assume-unchanged", "a.txt") },
		"a merge": func(w *world, lane *Tree) {
			w.git(lane.Project(), "switch", "-q", "-c", "side")
			w.write(lane.Project(), "a.txt", "side\n")
			w.git(lane.Project(), "commit", "-qam", "Side")
			w.git(lane.Project(), "switch", "-q", lane.branch)
			w.write(lane.Project(), "a.txt", "lane\n")
			w.git(lane.Project(), "commit", "-qam", "Lane")
			_, _ = w.try(lane.Project(), "merge", "side")
		},
		"packed refs": func(w *world, lane *Tree) {
			w.write(lane.Project(), "a.txt", "lane\n")
			w.git(lane.Project(), "commit", "-qam", "Lane")
			w.git(lane.Project(), "pack-refs", "--all")
			w.git(lane.Project(), "gc", "-q")
		},
		"no .git": func(w *world, lane *Tree) { w.ok(os.RemoveAll(filepath.Join(lane.dir, ".git"))) },
		"a false one": func(w *world, lane *Tree) {
			w.ok(os.RemoveAll(filepath.Join(lane.dir, ".git")))
			w.write(lane.dir, ".git", "gitdir: "+w.top+"/.git\n")
		},
		"a link to another one": func(w *world, lane *Tree) {
			w.write(w.top, ".git/objects/info/mine", "a person's")
			w.ok(os.RemoveAll(filepath.Join(lane.dir, ".git")))
			w.ok(os.Symlink(filepath.Join(w.top, ".git"), filepath.Join(lane.dir, ".git")))
		},
		"a link to other objects": func(w *world, lane *Tree) {
			w.write(w.top, ".git/objects/info/mine", "a person's")
			w.write(lane.Project(), "a.txt", "lane\n")
			w.git(lane.Project(), "commit", "-qam", "Lane")
			at := filepath.Join(lane.dir, ".git", "objects")
			w.ok(os.Rename(at, at+"-old"))
			w.ok(os.Symlink(filepath.Join(w.top, ".git", "objects"), at))
			w.write(at+"-old", "info/alternates", filepath.Join(w.top, ".git", "objects")+"\n")
		},
		"its own one": func(w *world, lane *Tree) {
			w.ok(os.RemoveAll(filepath.Join(lane.dir, ".git")))
			w.git(lane.dir, "init", "-q")
		},
		"a branch that is main": func(w *world, lane *Tree) {
			w.git(lane.dir, "symbolic-ref", heads+lane.branch, "refs/heads/main")
		},
		"a borrowed .git": func(w *world, lane *Tree) {
			w.write(lane.dir, ".git/objects/info/alternates", "/dev/zero\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && strings.Contains(name, "link") {
				t.Skip("needs links")
			}
			w := newWorld(t, "")
			w.open()
			before := w.head()
			lane := w.lane("lane-1")
			do(w, lane)
			defer func() {
				if mine := w.read(w.top, ".git/objects/info/mine"); strings.Contains(name, "link") {
					w.want("a file of the person's repository", mine, "a person's")
				}
			}()
			w.write(lane.Project(), "a.txt", "the work\n")
			w.write(lane.Project(), "b.txt", "more\n")
			commit := w.commit(lane)
			w.want("main", w.head(), before)
			w.want("a file of the work", w.git(lane.dir, "show", commit+":a.txt"), "the work")
			w.want("another one", w.git(lane.dir, "show", commit+":b.txt"), "more")
			w.want("the lane's branch", w.git(lane.dir, "rev-parse", lane.branch), commit)
			w.want("the lane's status", w.git(lane.Project(), "status", "--porcelain", "--branch"), "## "+lane.branch)
			again := w.lane("lane-1")
			w.want("the work, opened again", w.read(again.Project(), "a.txt"), "the work\n")
			w.merge(again, "f")
			w.want("the work in the project", w.read(w.project, "a.txt"), "the work\n")
			w.clean()
		})
	}
}
