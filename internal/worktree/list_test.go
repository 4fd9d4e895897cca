package worktree

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// list is the list of the tests: it has a line for each feature, with a 1 behind those that are done.
var list = List{File: loops + "/shop/list.txt", Merge: mergeMarks}

// marks returns what marks a feature in a list.
func marks(feature string) func([]byte) []byte {
	return func(text []byte) []byte {
		return []byte(strings.Replace(string(text), feature+" 0\n", feature+" 1\n", 1))
	}
}

func mergeMarks(base, other, data []byte) ([]byte, error) {
	if strings.Contains(string(data), "half") {
		return nil, errors.New("it is half saved")
	}
	for line := range strings.Lines(string(other)) {
		feature, done := strings.CutSuffix(line, " 1\n")
		if done && !strings.Contains(string(base), line) {
			data = marks(feature)(data)
		}
	}
	return data, nil
}

// save commits all that is in the project.
func (w *world) save() {
	w.Helper()
	w.git(w.top, "add", "-A")
	w.git(w.top, "commit", "-qm", "A person's")
}

// work merges what an agent has written into a file, "": none, and into its own copy of the list, which marks all.
func (w *world) work(lane *Tree, below, file, feature string) string {
	w.Helper()
	if file != "" {
		w.write(lane.Project(), file, feature)
	}
	copied := filepath.Join(lane.Dir(), filepath.FromSlash(w.repo.list))
	w.ok(os.MkdirAll(filepath.Dir(copied), 0o755))
	_ = os.Remove(copied)
	w.ok(os.WriteFile(copied, []byte("a 1\nb 1\nc 1\nan agent's\n"), 0o644))
	w.git(lane.Dir(), "add", "-A", "-f")
	w.git(lane.Dir(), "commit", "-q", "-m", "An agent's")
	work := Work{Commit: w.commit(lane), Base: lane.Base(), Feature: feature, Mark: marks(feature)}
	m, err := w.repo.Merge(w.Context(), below, work)
	w.ok(err)
	w.ok(w.repo.publish(w.Context(), m.Commit))
	return m.Commit
}

// changes returns what a commit has changed.
func (w *world) changes(commit string) string {
	w.Helper()
	out, err := w.try(w.top, "diff-tree", "-r", "-z", "--name-only", commit+"^", commit)
	w.ok(err)
	return strings.Join(slices.Sorted(slices.Values(proc.GitTexts([]byte(out)))), ", ")
}

// TestMergeMark has a feature marked in the list of its commit, wherever the list is, and nothing else changed there.
func TestMergeMark(t *testing.T) {
	for _, name := range []string{"list.json", loops + "/shop/list [1].md", "é 🎉/a \\ \"b\"/*.json", ":list.json"} {
		for _, below := range []string{"", "packages/shop é"} {
			t.Run(name+" in "+below, func(t *testing.T) {
				t.Parallel()
				if runtime.GOOS == "windows" && strings.ContainsAny(name, `:*"\`) {
					t.Skip("no file has such a name")
				}
				w := newWorld(t, below)
				w.write(w.project, name, "a 0\nb 0\nc 1\n")
				w.ok(os.Chmod(filepath.Join(w.project, filepath.FromSlash(name)), 0o755))
				w.save()
				first := w.git(w.top, "rev-parse", "HEAD")
				o := w.options()
				o.Except = append(o.Except, name)
				o.List.File = name
				w.repo = w.openWith(o)
				one, two := w.lane("lane-1"), w.lane("lane-2")
				a := w.work(one, first, "one.txt", "a")
				b := w.work(two, a, "two.txt", "b")
				w.ok(two.Reset(t.Context(), b))
				w.want("a commit without work", w.work(two, b, "", "b"), b)
				c := w.work(two, b, "three.txt", "c")
				from := func(name string) string { return path.Join(filepath.ToSlash(below), name) }
				both := func(file string) string {
					return strings.Join(slices.Sorted(slices.Values([]string{from(name), from(file)})), ", ")
				}
				w.want("a's changes", w.changes(a), both("one.txt"))
				w.want("b's changes", w.changes(b), both("two.txt"))
				w.want("c's changes", w.changes(c), from("three.txt"))
				for commit, text := range map[string]string{first: "a 0\nb 0\nc 1", a: "a 1\nb 0\nc 1", c: "a 1\nb 1\nc 1"} {
					w.want("the list", w.git(w.top, "show", commit+":"+from(name)), text)
				}
				mode, _, _ := strings.Cut(w.git(w.top, "ls-tree", "--full-tree", b, ":(top,literal)"+from(name)), " ")
				if runtime.GOOS != "windows" {
					w.want("the mode", mode, "100755")
				}
				w.want("the author", w.git(w.top, "log", "-1", "--format=%an <%ae>, %cn", b),
					"A Person <person@example.com>, A Person")
			})
		}
	}
}

// TestMergeMarkOnly commits the mark of a feature for which nothing was to do. A list that is not tracked, is a link,
// or has no such feature stays as it is.
func TestMergeMarkOnly(t *testing.T) {
	for name, c := range map[string]struct {
		make func(w *world)
		want string // what the commit changes; "": there is none
	}{
		"marked":     {func(w *world) { w.write(w.project, list.File, "a 0\n") }, list.File},
		"no feature": {func(w *world) { w.write(w.project, list.File, "b 0\n") }, ""},
		"empty":      {func(w *world) { w.write(w.project, list.File, "") }, ""},
		"ignored": {func(w *world) {
			w.write(w.project, list.File, "a 0\n")
			w.write(w.project, ".gitignore", loops+"\n")
		}, ""},
		"none":     {func(*world) {}, ""},
		"a folder": {func(w *world) { w.write(w.project, list.File+"/x", "a 0\n") }, ""},
		"a link": {func(w *world) {
			w.write(w.project, "real.txt", "a 0\n")
			w.ok(os.MkdirAll(filepath.Join(w.project, loops), 0o755))
			w.ok(os.MkdirAll(filepath.Dir(filepath.Join(w.project, list.File)), 0o755))
			w.ok(os.Symlink("../../../../real.txt", filepath.Join(w.project, list.File)))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && name == "a link" {
				t.Skip("needs links")
			}
			w := newWorld(t, "")
			c.make(w)
			w.write(w.project, "x", "")
			w.save()
			w.open()
			lane, head := w.lane("lane-1"), w.head()
			m, err := w.repo.Merge(t.Context(), head, Work{Commit: head, Base: lane.Base(), Feature: "a", Mark: marks("a")})
			w.ok(err)
			if c.want == "" {
				w.want("the commit", m.Commit, head)
				return
			}
			w.ok(w.repo.Forward(t.Context(), head, m.Commit))
			w.want("the changes", w.changes(m.Commit), c.want)
			w.want("the list in the project", w.read(w.project, list.File), "a 0\n")
		})
	}
}

// TestForwardList leaves the list in the project as it is, whatever the person or the loop has made of it.
func TestForwardList(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world)
		want string // of git status, or an error
	}{
		"marked": {func(w *world) { w.write(w.project, list.File, "a 1\nb 0\n") }, ""},
		"marked, with other line ends": {func(w *world) {
			w.git(w.top, "config", "core.autocrlf", "true")
			w.open()
			w.write(w.project, list.File, "a 1\r\nb 0\r\n")
		}, ""},
		"not marked":        {func(*world) {}, " M " + list.File},
		"edited":            {func(w *world) { w.write(w.project, list.File, "mine\na 1\nb 0\n") }, " M " + list.File},
		"half saved":        {func(w *world) { w.write(w.project, list.File, "a") }, " M " + list.File},
		"removed":           {func(w *world) { w.ok(os.Remove(filepath.Join(w.project, list.File))) }, " D " + list.File},
		"staged":            {stages("mine\na 0\nb 0\n", "mine\na 1\nb 0\n"), "M  " + list.File},
		"staged and edited": {stages("mine\na 0\nb 0\n", "a 1\nb 0\n"), "MM " + list.File},
		"staged, marked":    {stages("a 1\nb 0\n", "a 1\nb 0\n"), ""},
		"staged half":       {stages("half", "a 1\nb 0\n"), list.File + " is staged in the project"},
		"staged as removed": {func(w *world) { w.git(w.top, "rm", "-q", "--cached", list.File) }, "is staged in the project"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "")
			w.write(w.project, list.File, "a 0\nb 0\n")
			w.save()
			w.open()
			lane, old := w.lane("lane-1"), w.head()
			commit := w.work(lane, old, "one.txt", "a")
			c.do(w)
			before, status := w.read(w.project, list.File), w.git(w.top, "status", "--porcelain")
			err := w.repo.Forward(t.Context(), old, commit)
			w.want("the list", w.read(w.project, list.File), before)
			if strings.HasSuffix(c.want, "in the project") {
				w.refused(err, c.want)
				w.want("git status", w.git(w.top, "status", "--porcelain"), status)
				w.want("the branch", w.head(), old)
				return
			}
			w.ok(err)
			out, err := w.try(w.top, "status", "--porcelain")
			w.ok(err)
			w.want("git status", strings.TrimSuffix(out, "\n"), c.want)
			w.want("the work", w.read(w.project, "one.txt"), "a")
		})
	}
}

// stages returns what stages a list, and then writes it once more.
func stages(staged, edited string) func(w *world) {
	return func(w *world) {
		w.write(w.project, list.File, staged)
		w.git(w.top, "add", list.File)
		w.write(w.project, list.File, edited)
	}
}

// TestJoinList joins what a person has committed with the marks of a run, on the same lines, too.
func TestJoinList(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world)
		want string // the list; "none": there is none; "conflict"
	}{
		"other lines":    {lists("a 0\nb 0\nc\nd\nmine\n"), "a 1\nb 0\nc\nd\nmine"},
		"the same lines": {lists("mine\na 0\nmine, too\nb 0\n"), "mine\na 1\nmine, too\nb 0"},
		"another order":  {lists("d\nb 0\na 0\n"), "d\nb 0\na 1"},
		"without it":     {lists("b 0\n"), "b 0"},
		"the same":       {lists("a 1\nb 0\nc\nd\n"), "a 1\nb 0\nc\nd"},
		"half saved":     {lists("half\n"), "conflict"},
		"removed":        {func(w *world) { w.git(w.top, "rm", "-q", list.File) }, "none"},
		"not tracked": {func(w *world) {
			w.git(w.top, "rm", "-q", "--cached", list.File)
			w.write(w.top, ".git/info/exclude", "list.txt\n")
		}, "none"},
		"another file, too": {func(w *world) {
			w.write(w.project, list.File, "mine\n")
			w.write(w.project, "one.txt", "mine\n")
		}, "conflict"},
		"a link": {func(w *world) {
			w.ok(os.Remove(filepath.Join(w.project, list.File)))
			w.ok(os.Symlink("a.txt", filepath.Join(w.project, list.File)))
		}, "conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && name == "a link" {
				t.Skip("needs links")
			}
			w := newWorld(t, "")
			w.write(w.project, list.File, "a 0\nb 0\nc\nd\n")
			w.save()
			w.open()
			lane := w.lane("lane-1")
			commit := w.work(lane, w.head(), "one.txt", "a")
			c.do(w)
			w.save()
			persons := w.head()
			joined, conflicts, err := w.repo.Join(t.Context(), commit, persons)
			w.ok(err)
			if c.want == "conflict" {
				if joined != "" || len(conflicts) == 0 {
					t.Errorf("joined as %q with the conflicts %v", joined, conflicts)
				}
				return
			}
			if len(conflicts) > 0 {
				t.Fatalf("in conflict: %v", conflicts)
			}
			w.ok(w.repo.Forward(t.Context(), persons, joined))
			has, err := w.try(w.top, "show", joined+":"+list.File)
			if err != nil {
				has = "none"
			}
			w.want("the list", strings.TrimSpace(has), c.want)
			w.want("the work", w.read(w.project, "one.txt"), "a")
			w.want("parents", w.git(w.top, "log", "-1", "--format=%P"), commit+" "+persons)
			status := w.git(w.top, "status", "--porcelain")
			if status != "" && status != "M "+list.File {
				t.Errorf("git status says %q", status)
			}
		})
	}
}

// lists returns what writes a list.
func lists(text string) func(w *world) {
	return func(w *world) { w.write(w.project, list.File, text) }
}

// TestForwardListBack has somebody move the branch while a merge is written: all is as it was before.
func TestForwardListBack(t *testing.T) {
	t.Parallel()
	w, old, new := newForward(t)
	before := w.git(w.top, "status", "--porcelain")
	w.repo.step = func(name string) {
		if name == "written" {
			w.git(w.top, "update-ref", "refs/heads/main", old+"^")
		}
	}
	w.refused(w.repo.Forward(t.Context(), old, new), "somebody has moved the branch")
	w.repo.step = func(string) {}
	w.git(w.top, "update-ref", "refs/heads/main", old)
	w.want("git status", w.git(w.top, "status", "--porcelain"), before)
	w.persons()
	w.ok(w.repo.Forward(t.Context(), old, new))
	w.forwarded("")
}
