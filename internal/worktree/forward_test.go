package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// The files of a merge that goes forward: what they are before and after it. "none" is no file.
var fates = []struct{ name, old, new string }{
	{"a.txt", "one\ntwo\nthree\n", "ONE\n"},
	{"gone.txt", "gone\n", "none"},
	{"deep/er/gone.txt", "gone\n", "none"},
	{"made/in/new.txt", "none", "new\n"},
	{"to-folder", "file\n", "none"},
	{"to-folder/x", "none", "x\n"},
	{"to-file/x", "x\n", "none"},
	{"to-file", "none", "file\n"},
	{"odd \"name\" 🎉", "1\n", "2\n"},
	{"script", "1\n", "2\n"},
}

// A person's files, which no merge touches. The second one is staged with another text than on the disk.
const (
	mine   = "mine.txt"
	staged = "staged.txt"
	notes  = "notes.txt" // not tracked
)

// newForward makes a world with a merge that can go forward, and a person's work beside it.
func newForward(t *testing.T) (w *world, old, new string) {
	w = newWorld(t, "")
	set := func(dir string, at func(i int) string) {
		for i := range fates {
			if at(i) == "none" {
				w.ok(os.RemoveAll(filepath.Join(dir, fates[i].name)))
			}
		}
		for i := range fates {
			if text := at(i); text != "none" {
				w.ok(os.RemoveAll(filepath.Join(dir, fates[i].name)))
				w.write(dir, fates[i].name, text)
			}
		}
	}
	set(w.project, func(i int) string { return fates[i].old })
	w.write(w.project, list.File, "a 0\nb 0\n")
	w.write(w.project, mine, "committed\n")
	w.write(w.project, staged, "committed\n")
	w.git(w.top, "add", "-A")
	w.git(w.top, "commit", "-qm", "Old")
	r := w.open()
	lane := w.lane("lane-1")
	set(lane.Project(), func(i int) string { return fates[i].new })
	w.ok(os.Chmod(filepath.Join(lane.Project(), "script"), 0o755))
	work := Work{Commit: w.commit(lane), Base: lane.Base(), Feature: "f", Mark: marks("a")}
	m, err := r.Merge(t.Context(), w.head(), work)
	w.ok(err)
	w.write(w.project, list.File, "staged\na 0\nb 0\n")
	w.git(w.top, "add", list.File)
	w.write(w.project, list.File, "staged\na 1\nb 0\nedited\n")
	w.write(w.project, mine, "a person's\n")
	w.write(w.project, staged, "staged\n")
	w.git(w.top, "add", staged)
	w.write(w.project, staged, "and edited\n")
	w.write(w.project, notes, "a person's\n")
	return w, w.head(), m.Commit
}

// persons checks that a person's files are as they were.
func (w *world) persons() {
	w.Helper()
	w.want(mine, w.read(w.project, mine), "a person's\n")
	w.want(staged, w.read(w.project, staged), "and edited\n")
	w.want(staged+" in the index", w.git(w.top, "show", ":"+staged), "staged")
	w.want(notes, w.read(w.project, notes), "a person's\n")
	w.want("the list", w.read(w.project, list.File), "staged\na 1\nb 0\nedited\n")
	want := "staged\na 0\nb 0"
	if w.git(w.top, "show", "HEAD:"+list.File) == "a 1\nb 0" {
		want = "staged\na 1\nb 0"
	}
	w.want("the list in the index", w.git(w.top, "show", ":"+list.File), want)
}

// recovers has Recover repair what a kill has left, and merges again if nothing of the merge is there.
func (w *world) recovers(old, new string) {
	w.Helper()
	w.ok(w.repo.Recover(w.Context(), old, new))
	if w.head() == old {
		w.tidy()
		for _, f := range fates {
			w.want(f.name, w.read(w.project, f.name), f.old)
		}
		w.persons()
		w.ok(w.repo.Forward(w.Context(), old, new))
	}
	w.forwarded("")
}

// forwarded checks that the merge is there, and that git sees only a person's changes. edited is a file that the person
// has changed, too.
func (w *world) forwarded(edited string) {
	w.Helper()
	want := []string{" M " + mine, "MM " + staged, "MM " + list.File, "?? " + notes}
	w.want("the list in the commit", w.git(w.top, "show", "HEAD:"+list.File), "a 1\nb 0")
	for _, f := range fates {
		if f.name != edited && !strings.HasPrefix(edited, f.name+"/") {
			w.want(f.name, w.read(w.project, f.name), f.new)
		} else if f.name == edited {
			want = append(want, " M "+edited)
		}
	}
	if info, err := os.Stat(filepath.Join(w.project, "script")); err != nil || runtime.GOOS != "windows" &&
		info.Mode()&0o100 == 0 {
		w.Error("the script cannot be executed")
	}
	out, err := w.try(w.top, "status", "--porcelain", "-z")
	w.ok(err)
	got := proc.GitTexts([]byte(out))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		w.Errorf("git status says %q, want %q", got, want)
	}
	w.persons()
	w.tidy()
}

// tidy checks that nothing of ours is left in the project.
func (w *world) tidy() {
	w.Helper()
	if left := w.left(); len(left) > 0 {
		w.Errorf("%q is left", left)
	}
}

// left returns what is left of ours in the project.
func (w *world) left() (names []string) {
	for _, name := range []string{".git/index.lock", ".git/index.ralph", ".git/ralph.lock"} {
		if _, err := os.Lstat(filepath.Join(w.top, name)); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// TestForward moves branch and files together, beside a person's work.
func TestForward(t *testing.T) {
	t.Parallel()
	w, old, new := newForward(t)
	w.ok(w.repo.Forward(t.Context(), old, new))
	w.want("the branch", w.head(), new)
	w.forwarded("")
	w.ok(w.repo.Recover(t.Context(), old, new))
	w.forwarded("")
	w.refused(w.repo.Forward(t.Context(), old, new), "somebody has moved the branch: main is at commit")
}

// TestForwardRefuses changes nothing where a person's work would be lost, and names the file.
func TestForwardRefuses(t *testing.T) {
	outside := t.TempDir()
	for name, c := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"an edit":             {func(w *world) { w.write(w.project, "a.txt", "mine\n") }, "a.txt is changed in the project"},
		"an edit of one gone": {func(w *world) { w.write(w.project, "gone.txt", "person\n") }, "gone.txt is changed"},
		"a deletion":          {func(w *world) { w.ok(os.Remove(filepath.Join(w.project, "a.txt"))) }, "a.txt is changed"},
		"a new file":          {func(w *world) { w.write(w.project, "made/in/new.txt", "mine\n") }, "made/in/new.txt is"},
		"an ignored file": {func(w *world) {
			w.write(w.top, ".git/info/exclude", "new.txt\n")
			w.write(w.project, "made/in/new.txt", "person\n")
		}, "made/in/new.txt is changed"},
		"a file in a folder that becomes a file": {func(w *world) { w.write(w.project, "to-file/y", "person\n") },
			"to-file is changed"},
		"a file above a new file": {func(w *world) { w.write(w.project, "made", "person\n") }, "made/in/new.txt is changed"},
		"a staged edit": {func(w *world) {
			w.write(w.project, "a.txt", "person\n")
			w.git(w.top, "add", "a.txt")
			w.write(w.project, "a.txt", "one\ntwo\nthree\n")
		}, "a.txt is staged in the project"},
		"a link out of the project": {func(w *world) {
			w.ok(os.RemoveAll(filepath.Join(w.project, "made")))
			w.ok(os.Symlink(outside, filepath.Join(w.project, "made")))
		}, "made/in/new.txt is changed"},
		"another branch": {func(w *world) { w.git(w.top, "checkout", "-q", "-b", "other") },
			"the project is not on branch main any more: type git switch main"},
		"a git command": {func(w *world) { w.write(w.top, ".git/index.lock", "") }, "another git command works"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && strings.Contains(name, "link") {
				t.Skip("needs links")
			}
			w, old, new := newForward(t)
			c.do(w)
			before := w.git(w.top, "status", "--porcelain")
			w.refused(w.repo.Forward(t.Context(), old, new), c.want)
			w.want("the branch", w.head(), old)
			w.want("git status", w.git(w.top, "status", "--porcelain"), before)
			w.persons()
			files, err := os.ReadDir(outside)
			w.ok(err)
			w.want("files outside", fmt.Sprint(files), "[]")
		})
	}
}

// TestRecoverMoved has nothing to do where a person has committed after a Forward that was refused, or after one that
// went well, or has put the branch back.
func TestRecoverMoved(t *testing.T) {
	for _, what := range []string{"refused", "done", "put back"} {
		w, old, new := newForward(t)
		if what == "refused" {
			w.write(w.project, "a.txt", "a person's\n")
			w.refused(w.repo.Forward(t.Context(), old, new), "a.txt is changed in the project")
		} else {
			w.ok(w.repo.Forward(t.Context(), old, new))
		}
		if what == "put back" {
			w.git(w.top, "reset", "-q", "--hard", old+"~1")
		} else {
			w.git(w.top, "commit", "-qam", "A person's")
		}
		before := w.head()
		w.ok(w.repo.Recover(t.Context(), old, new))
		w.want("the branch", w.head(), before)
		w.want("git status", w.git(w.top, "status", "--porcelain"), "?? "+notes)
		w.tidy()
	}
}

// TestForwardSameSecond has a person change a file without changing its size, in the second in which git wrote it and
// its index: only what is in the file tells.
func TestForwardSameSecond(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clock of files is finer there")
	}
	w, old, new := newForward(t)
	text, err := os.ReadFile(filepath.Join(w.project, "a.txt"))
	w.ok(err)
	for time.Now().Nanosecond() > 100_000_000 { // the start of a second
		time.Sleep(10 * time.Millisecond)
	}
	w.write(w.project, "a.txt", string(text))
	w.git(w.top, "add", filepath.Join(w.project, "a.txt"))
	mine := strings.ToUpper(string(text))
	w.write(w.project, "a.txt", mine)
	time.Sleep(1100 * time.Millisecond) // the copy of the index is younger
	w.refused(w.repo.Forward(t.Context(), old, new), "a.txt is changed in the project")
	now, err := os.ReadFile(filepath.Join(w.project, "a.txt"))
	w.ok(err)
	w.want("a.txt", string(now), mine)
}
