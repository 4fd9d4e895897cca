package proof

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

func init() { gittest.Isolate() }

// world is a project with a clean copy in a test.
type world struct {
	*testing.T
	Place
	project  string
	rules    map[string]string
	baseline *Baseline
	omitted  []Change // what could not be trusted
	rule     Rule
	extra    map[string][]byte // files beside what is proven
	settled  bool              // files count as not changed for an hour, so that a look goes by their stamps
	last     *Look
}

// newWorld makes a project. Only changes below src count.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{T: t, project: filepath.Join(dir, "project"), Place: Place{
		Store: filepath.Join(dir, "state", "proof"), Copy: filepath.Join(dir, "cache", "key", "project"),
	}}
	w.rule = ruleOf(func(name string, _ bool) string {
		if strings.HasPrefix(name, "src/") {
			return ""
		}
		return "not yours"
	})
	w.must(os.MkdirAll(w.project, 0o755))
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

// newFree makes a project in which all changes count, except for those of files with "protected" in their names.
func newFree(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := newWorld(t, files)
	w.rule = ruleOf(func(name string, _ bool) string {
		if strings.Contains(name, "protected") {
			return "not yours"
		}
		return ""
	})
	return w
}

func ruleOf(why func(name string, added bool) string) Rule {
	return Rule{
		Why:    why,
		Keys:   func(string) []string { return nil },
		InCopy: func(string) bool { return false },
	}
}

// owning has the copy have its own of some folders.
func (w *world) owning(names ...string) {
	w.rule.InCopy = func(name string) bool { return within(names, name) }
}

func (w *world) at(name string) string { return filepath.Join(w.project, filepath.FromSlash(name)) }
func (w *world) in(name string) string { return filepath.Join(w.Copy, filepath.FromSlash(name)) }

func (w *world) write(name, text string) {
	w.Helper()
	w.put(w.at(name), text)
}

// put writes a file at any path, and the folders above it.
func (w *world) put(path, text string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	w.must(os.WriteFile(path, []byte(text), 0o644))
}

// link makes a link in the place of what is there.
func (w *world) link(to, path string) {
	w.Helper()
	w.must(os.RemoveAll(path))
	w.must(os.MkdirAll(filepath.Dir(path), 0o755))
	w.must(os.Symlink(to, path))
}

func (w *world) remove(names ...string) {
	w.Helper()
	for _, name := range names {
		w.must(os.RemoveAll(w.at(name)))
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) git(dir string, args ...string) {
	w.Helper()
	_, err := exec.LookPath("git")
	if err != nil {
		w.Skip("needs git")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func needsLinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs links, or names that Windows does not have")
	}
}

func (w *world) tree() tree.Tree {
	env := os.Environ()
	_, err := os.Lstat(w.at(".git"))
	if err != nil { // git would only say that there is no repository, which takes time
		env = []string{"PATH=" + w.project}
	}
	return tree.Tree{Env: env, Dir: w.project, Top: w.project, Rules: w.rules}
}

func (w *world) entries(also []string) tree.Entries {
	w.Helper()
	entries, err := w.tree().Entries(w.Context(), also)
	w.must(err)
	for i := range entries.List {
		e := &entries.List[i]
		if w.settled && !e.Changed.IsZero() {
			e.Changed = e.Changed.Add(-time.Hour)
		}
	}
	return entries
}

func (w *world) trust() {
	w.Helper()
	w.rules = nil
	w.rules = w.tree().IgnoreRules(w.Context())
	var err error
	w.baseline, w.omitted, err = w.Trust(w.Context(), w.project, w.entries(nil))
	w.must(err)
}

func (w *world) look() *Look {
	w.Helper()
	l, err := w.Look(w.Context(), w.baseline, w.project, w.entries(w.baseline.Ignored()), w.rule, true)
	w.must(err)
	w.last = l
	return l
}

func (w *world) contents() Contents { return Contents{Rules: w.rules, Base: ".", Files: w.extra} }

func (w *world) tryFill() error {
	w.Helper()
	l, err := w.Look(w.Context(), w.baseline, w.project, w.entries(w.baseline.Ignored()), w.rule, true)
	if err != nil {
		return err
	}
	w.last = l
	_, err = w.Fill(w.Context(), l, w.contents(), Filled{})
	return err
}

// fill fills the copy and returns what does not count.
func (w *world) fill() []Change {
	w.Helper()
	w.must(w.tryFill())
	return w.last.NotCounted
}

// filled fills the copy. It skips the test where files have no time that no program can set.
func (w *world) filled() Filled {
	w.Helper()
	filled, err := w.Fill(w.Context(), w.look(), w.contents(), Filled{})
	w.must(err)
	if filled.At.IsZero() {
		w.Skip("this file system tells no such times")
	}
	return filled
}

// has returns what is in a folder: texts of files, "-> " and the target of links, and "/" of empty folders.
func (w *world) has(dir string) map[string]string {
	w.Helper()
	all := map[string]string{}
	w.must(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		switch {
		case name == ".":
		case entry.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			all[name] = "-> " + to
		case entry.IsDir():
			inside, _ := os.ReadDir(path)
			if len(inside) == 0 {
				all[name] = "/"
			}
		case !entry.Type().IsRegular():
			all[name] = "no file"
		default:
			text, err := os.ReadFile(path)
			all[name] = string(text)
			return err
		}
		return nil
	}))
	return all
}

func (w *world) want(want map[string]string) {
	w.Helper()
	got := w.has(w.Copy)
	for name, text := range want {
		is, has := got[name]
		if !has || is != text {
			w.Errorf("the copy has %q: %v %.200q, want %.200q", name, has, is, text)
		}
		delete(got, name)
	}
	for name, text := range got {
		w.Errorf("the copy also has %q: %.200q", name, text)
	}
}

// wantLeft compares what does not count, as "path: why".
func (w *world) wantLeft(want ...string) {
	w.Helper()
	var got []string
	for _, c := range w.last.NotCounted {
		got = append(got, c.Path+": "+c.Why)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		w.Errorf("these do not count:\n%q, want\n%q", got, want)
	}
}

func paths(all []Change) (names []string) {
	for _, c := range all {
		names = append(names, c.Path)
	}
	slices.Sort(names)
	return names
}

// TestOnlyWorkCounts has an agent change, make and delete files, and put files where folders were.
func TestOnlyWorkCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"Makefile": "test:\n", "src/a.go": "1", "src/b.go": "1", "tests/t.py": "1", "docs/x": "1", "lib": "1",
		".gitignore": "*.out\n/build/\n",
	})
	w.owning("build", "src/a.out")
	w.trust()
	left := w.fill()
	if len(left) > 0 {
		t.Errorf("nothing has changed, and this does not count: %v", left)
	}
	w.write("Makefile", "test:\n\ttrue\n")
	w.write("src/a.go", "2")
	w.write("src/new/c.go", "1")
	w.write("test", "")
	w.write("tests/__init__.py", "")
	w.write("planted/deep/x", "")
	w.write("planted/y", "")
	w.write("src/a.out", "ignored")
	w.write(".gitignore", "*.go\n")
	w.remove("tests/t.py", "src/b.go", "docs", "lib")
	w.write("docs", "a file now")
	w.write("lib/x", "a folder now")
	got := paths(w.fill())
	want := []string{
		".gitignore", "Makefile", "docs", "docs/x", "lib", "lib/", "planted/", "test", "tests/__init__.py", "tests/t.py",
	}
	if !slices.Equal(got, want) {
		t.Errorf("these do not count: %q, want %q", got, want)
	}
	all := map[string]string{
		"Makefile": "test:\n", "src/a.go": "2", "src/new/c.go": "1", "tests/t.py": "1", "docs/x": "1", "lib": "1",
		".gitignore": "*.out\n/build/\n",
	}
	w.want(all)

	// What a check leaves: the copy's own files stay, all else is put back or goes.
	w.put(w.in("build/out"), "x")
	w.put(w.in("src/a.out"), "x")
	w.put(w.in("src/b.out"), "x")
	w.must(os.MkdirAll(w.in("test/empty"), 0o755))
	w.must(os.MkdirAll(w.in("src/.git"), 0o755))
	w.put(w.in("src/.gitignore"), "*")
	w.put(w.in("planted"), "")
	w.put(w.in("Makefile"), "lies!\n")
	w.must(os.Remove(w.in("lib")))
	w.fill()
	all["build/out"], all["src/a.out"] = "x", "x"
	w.want(all)
	w.must(w.Reset())
	_, err := os.Lstat(w.Copy)
	if err == nil {
		t.Error("the copy is still there")
	}
}

// TestRepairs damages the copy in all ways that a check may. Outputs stay.
func TestRepairs(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", "b": "1", "d/x": "1", "d/e/y": "1", ".gitignore": "out/\n"})
	w.owning("out")
	w.link("a", w.at("l"))
	w.trust()
	w.write("d/agents", "2")
	all := map[string]string{
		"a": "1", "b": "1", "d/x": "1", "d/e/y": "1", ".gitignore": "out/\n", "l": "-> a", "d/agents": "2",
		"out/o": "made",
	}
	w.fill()
	damage := map[string]func(w *world){
		"text":       func(w *world) { w.put(w.in("a"), "2") },
		"text below": func(w *world) { w.put(w.in("d/e/y"), "2") },
		"agent's":    func(w *world) { w.put(w.in("d/agents"), "3") },
		"old time": func(w *world) {
			info, err := os.Lstat(w.in("a"))
			w.must(err)
			w.put(w.in("a"), "2")
			w.must(os.Chtimes(w.in("a"), info.ModTime(), info.ModTime()))
		},
		"gone":        func(w *world) { w.must(os.Remove(w.in("a"))) },
		"mode":        func(w *world) { w.must(os.Chmod(w.in("a"), 0o755)) },
		"closed file": func(w *world) { w.must(os.Chmod(w.in("a"), 0)) },
		"hard link": func(w *world) {
			w.must(os.Remove(w.in("a")))
			w.must(os.Link(w.in("b"), w.in("a")))
		},
		"hard link out": func(w *world) {
			w.must(os.Link(w.in("a"), w.in("../hard")))
			w.put(w.in("../hard"), "2")
		},
		"a link":       func(w *world) { w.link("b", w.in("a")) },
		"another link": func(w *world) { w.link("b", w.in("l")) },
		"a file": func(w *world) {
			w.must(os.Remove(w.in("l")))
			w.put(w.in("l"), "1")
		},
		"folder as link": func(w *world) {
			w.must(os.Rename(w.in("d"), w.in("o")))
			w.link("o", w.in("d"))
		},
		"folder as file": func(w *world) {
			w.must(os.RemoveAll(w.in("d")))
			w.put(w.in("d"), "1")
		},
		"file as folder": func(w *world) {
			w.must(os.Remove(w.in("a")))
			w.put(w.in("a/x"), "1")
		},
		"extra": func(w *world) {
			w.put(w.in("d/z"), "1")
			w.put(w.in("z/z"), "1")
		},
		"empty folder": func(w *world) { w.must(os.MkdirAll(w.in("d/z"), 0o755)) },
		"repository": func(w *world) {
			w.put(w.in(".git/config"), "1")
			w.put(w.in("d/.git/config"), "1")
		},
		"pipe": func(w *world) {
			w.must(os.Remove(w.in("a")))
			w.makeFIFO(w.in("a"))
		},
		"more pipes": func(w *world) {
			w.makeFIFO(w.in("p"))
			w.makeSocket(w.in("d/s"))
		},
		"closed": func(w *world) {
			w.must(os.Chmod(w.in("d/e"), 0))
			w.must(os.Chmod(w.in("d"), 0))
		},
		"closed extra": func(w *world) {
			w.put(w.in("z/y/x"), "1")
			w.must(os.Chmod(w.in("z/y"), 0))
		},
		"closed copy": func(w *world) { w.must(os.Chmod(w.Copy, 0)) },
		"not writable": func(w *world) {
			w.put(w.in("d/x"), "2")
			w.must(os.Chmod(w.in("d"), 0o555))
		},
		"not searchable": func(w *world) { w.must(os.Chmod(w.in("d"), 0o600)) },
		"only closed":    func(w *world) { w.must(os.Chmod(w.in("d"), 0o500)) },
		"swapped": func(w *world) {
			w.must(os.Rename(w.in("a"), w.in("o")))
			w.must(os.Rename(w.in("b"), w.in("a")))
			w.must(os.Rename(w.in("o"), w.in("b")))
		},
	}
	for what, damage := range damage {
		w.put(w.in("out/o"), "made")
		damage(w)
		w.fill()
		t.Run(what, func(t *testing.T) {
			w := *w
			w.T = t
			w.want(all)
			for _, name := range []string{".", "d", "d/e"} {
				info, err := os.Lstat(w.in(name))
				if err != nil || info.Mode()&0o700 != 0o700 {
					t.Errorf("%s: %v %v", name, info.Mode(), err)
				}
			}
			info, err := os.Lstat(w.in("a"))
			if err != nil || info.Mode().Perm() != 0o644 {
				t.Errorf("%v %v", info.Mode(), err)
			}
		})
	}
}

// TestWatch has a command write into the store, once with the times as they were. What was in an index is not believed
// any more.
func TestWatch(t *testing.T) {
	for _, tc := range []struct {
		name  string
		spoil func(w *world, index string) error
	}{
		{"in place", func(w *world, index string) error {
			info, err := os.Lstat(index)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(index)
			if err != nil || len(text) == 0 {
				return err
			}
			text[len(text)-1]++
			err = os.WriteFile(index, text, 0o600)
			return errors.Join(err, os.Chtimes(index, info.ModTime(), info.ModTime()))
		}},
		{"by another file", func(w *world, index string) error {
			return errors.Join(os.WriteFile(index+"2", nil, 0o600), os.Rename(index+"2", index))
		}},
		{"a folder in its place", func(w *world, index string) error {
			return errors.Join(os.Remove(index), os.MkdirAll(filepath.Join(index, "x"), 0o700))
		}},
		{"removed", func(w *world, index string) error { return os.Remove(index) }},
		{"and the folder closed", func(w *world, index string) error {
			return errors.Join(os.WriteFile(index, nil, 0o600), os.Chmod(w.Store, 0))
		}},
	} {
		for _, index := range []string{copyFile, copyOfFile, preparedFile, seenFile, lastFile} {
			t.Run(index+" "+tc.name, func(t *testing.T) {
				w := newWorld(t, map[string]string{"src/a": "1", "test": "2"})
				w.trust()
				w.fill()
				w.SetPrepared(t.Context(), w.contents(), nil, nil)
				p := w.Place
				p.Name = "other"
				w.must(p.write(p.named(copyOfFile), []byte("x")))
				time.Sleep(20 * time.Millisecond) // a clock may tick only so often
				before := w.indexes()

				w.must(os.Chmod(w.Store, 0o755))
				is, err := os.Stat(w.Store)
				w.must(err)
				w.must(w.Watch()())
				info, err := os.Stat(w.Store)
				if now := w.indexes(); err != nil || info.Mode() != is.Mode() || !maps.Equal(now, before) {
					t.Fatalf("after a command that wrote nothing there are %v, want %v", now, before)
				}

				end := w.Watch()
				w.must(tc.spoil(w, filepath.Join(w.Store, index)))
				w.must(end())
				for name := range before {
					_, exists := w.indexes()[name]
					isSpoiled := slices.Contains(indexFiles(index), name)
					if exists == isSpoiled {
						t.Errorf("%s: exists is %v", name, exists)
					}
				}
				w.fill()
				w.want(map[string]string{"src/a": "1", "test": "2"})
			})
		}
	}
}

// TestWatchOwn writes indexes while a command runs, as a run with lanes does.
func TestWatchOwn(t *testing.T) {
	w := newWorld(t, map[string]string{"src/a": "1"})
	w.trust()
	w.fill()
	end := w.Watch()
	w.write("src/b", "2")
	w.fill()
	before := w.indexes()
	w.must(end())
	if now := w.indexes(); !maps.Equal(now, before) || len(now) < 4 {
		t.Errorf("there are %v, want %v", now, before)
	}
}

// TestCopyReplaced has something else in the place of the copy, and leaves it alone where it belongs to others.
func TestCopyReplaced(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1"})
	w.trust()
	for range 2 {
		w.fill()
		other := t.TempDir()
		w.put(filepath.Join(other, "x"), "stays")
		w.link(other, w.Copy)
		w.fill()
		w.want(map[string]string{"a": "1"})
		text, _ := os.ReadFile(filepath.Join(other, "x"))
		if string(text) != "stays" {
			t.Error("a folder elsewhere was emptied")
		}
		w.must(os.RemoveAll(w.Copy))
		w.must(os.WriteFile(w.Copy, nil, 0o600))
		w.fill()
		w.want(map[string]string{"a": "1"})
		w.must(os.RemoveAll(filepath.Dir(w.Copy)))
		w.fill()
		w.want(map[string]string{"a": "1"})
	}
}

// TestChanges makes one kind of change at a time.
func TestChanges(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	const no = "not yours"
	for what, c := range map[string]struct {
		do   func(w *world)
		copy map[string]string // beside what is as it was; "gone": it is not there
		left []string
	}{
		"nothing": {do: func(*world) {}},
		"same again": {do: func(w *world) {
			w.write("a", "1")
			w.write("protected", "1")
		}},
		"changed":     {do: func(w *world) { w.write("a", "2") }, copy: map[string]string{"a": "2"}},
		"changed, no": {do: func(w *world) { w.write("protected", "2") }, left: []string{"protected: " + no}},
		"added":       {do: func(w *world) { w.write("n/x", "2") }, copy: map[string]string{"n/x": "2"}},
		"added, no":   {do: func(w *world) { w.write("d/protected2", "2") }, left: []string{"d/protected2: " + no}},
		"deleted":     {do: func(w *world) { w.remove("d/x") }, copy: map[string]string{"d/x": "gone"}},
		"deleted, no": {do: func(w *world) { w.remove("d/protected") }, left: []string{"d/protected: " + no}},
		"a new folder": {
			do: func(w *world) {
				w.write("n/protected/x", "")
				w.write("n/protected/y", "")
			},
			copy: map[string]string{"n": "/"}, left: []string{"n/: " + no}},
		"a new folder in part": {
			do: func(w *world) {
				w.write("n/protected/x", "")
				w.write("n/protected/m/y", "")
				w.write("n/z", "2")
			},
			copy: map[string]string{"n/z": "2"}, left: []string{"n/protected/: " + no}},
		"two reasons": {
			do: func(w *world) {
				w.write("n/-x", "")
				w.write("n/protected", "")
			},
			copy: map[string]string{"n": "/"}, left: []string{"n/-x: " + misread, "n/: " + no}},
		"file to folder": {
			do: func(w *world) {
				w.remove("a")
				w.write("a/x", "2")
			},
			copy: map[string]string{"a": "gone", "a/x": "2"}},
		"file to folder, no": {
			do: func(w *world) {
				w.remove("protected")
				w.write("protected/x", "2")
			},
			left: []string{"protected: " + no, "protected/: " + no}},
		"file to folder, blocked": {
			do: func(w *world) {
				w.remove("blocks-protected")
				w.write("blocks-protected/x", "2")
			},
			left: []string{"blocks-protected: " + no, "blocks-protected/x: " + inTheWay}},
		"file to folders without files, no": {
			do: func(w *world) {
				w.remove("protected")
				w.must(os.MkdirAll(w.at("protected/m/n"), 0o755))
			},
			left: []string{"protected: " + no}},
		"file to folders without files, blocked": {
			do: func(w *world) {
				w.remove("blocks-protected")
				w.must(os.MkdirAll(w.at("blocks-protected/m/n"), 0o755))
			},
			left: []string{"blocks-protected: " + no}},
		"folder to file": {
			do: func(w *world) {
				w.remove("e")
				w.write("e", "2")
			},
			copy: map[string]string{"e": "2", "e/x": "gone", "e/f/y": "gone"}},
		"folder to file, blocked": {
			do: func(w *world) {
				w.remove("d")
				w.write("d", "2")
			},
			copy: map[string]string{"d/x": "gone"}, left: []string{"d: " + inTheWay, "d/protected: " + no}},
		"folder to link": {
			do: func(w *world) {
				w.remove("e")
				w.link("d", w.at("e"))
			},
			copy: map[string]string{"e": "-> d", "e/x": "gone", "e/f/y": "gone"}},
		"folder to link, blocked": {
			do: func(w *world) {
				w.remove("d")
				w.link("e", w.at("d"))
			},
			copy: map[string]string{"d/x": "gone"}, left: []string{"d: " + inTheWay, "d/protected: " + no}},
		"file to link":     {do: func(w *world) { w.link("d/x", w.at("a")) }, copy: map[string]string{"a": "-> d/x"}},
		"file to link, no": {do: func(w *world) { w.link("a", w.at("protected")) }, left: []string{"protected: " + no}},
		"link to file": {do: func(w *world) {
			w.remove("l")
			w.write("l", "2")
		}, copy: map[string]string{"l": "2"}},
		"link to file that says the link": {
			do: func(w *world) {
				w.remove("l")
				w.write("l", "a")
			}, copy: map[string]string{"l": "a"}},
		"another link":     {do: func(w *world) { w.link("d/x", w.at("l")) }, copy: map[string]string{"l": "-> d/x"}},
		"another link, no": {do: func(w *world) { w.link("d", w.at("lprotected")) }, left: []string{"lprotected: " + no}},
		"link to folder": {
			do: func(w *world) {
				w.remove("l")
				w.write("l/x", "2")
			},
			copy: map[string]string{"l": "gone", "l/x": "2"}},
		"moved": {
			do:   func(w *world) { w.must(os.Rename(w.at("e"), w.at("n"))) },
			copy: map[string]string{"e/x": "gone", "e/f/y": "gone", "n/x": "1", "n/f/y": "1"}},
		"empty folder":     {do: func(w *world) { w.must(os.Mkdir(w.at("n"), 0o755)) }, copy: map[string]string{"n": "/"}},
		"empty folder, no": {do: func(w *world) { w.must(os.MkdirAll(w.at("protected2/m"), 0o755)) }},
		"emptied folder with what does not count": {
			do: func(w *world) {
				w.remove("e/x", "e/f")
				w.write("e/protected", "")
			},
			copy: map[string]string{"e/x": "gone", "e/f/y": "gone", "e": "/"}, left: []string{"e/protected: " + no}},
		"emptied folder": {
			do:   func(w *world) { w.remove("e/x", "e/f/y") },
			copy: map[string]string{"e/x": "gone", "e/f/y": "gone", "e/f": "/"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newFree(t, nil)
			all := map[string]string{
				"a": "1", "d/x": "1", "e/x": "1", "e/f/y": "1", "protected": "1", "d/protected": "1", "l": "-> a",
				"blocks-protected": "1", "lprotected": "-> protected",
			}
			w.rule.Why = func(name string, added bool) string {
				if strings.Contains(name, "protected") && !strings.Contains(name, "blocks-protected/") {
					return no
				}
				return ""
			}
			for name, text := range all {
				to, isLink := strings.CutPrefix(text, "-> ")
				if isLink {
					w.link(to, w.at(name))
				} else {
					w.write(name, text)
				}
			}
			w.trust()
			w.fill()
			w.want(all)
			c.do(w)
			for name, text := range c.copy {
				all[name] = text
				if text == "gone" {
					delete(all, name)
				}
			}
			w.fill()
			w.want(all)
			w.wantLeft(c.left...)
			was := w.stamps()
			w.fill()
			w.want(all)
			now := w.stamps()
			if !reflect.DeepEqual(was, now) {
				t.Errorf("nothing has changed, and the copy was written: %v, was %v", now, was)
			}
			w.must(w.Reset())
			w.fill()
			w.want(all)
		})
	}
}

// stamps returns the stamps of all that is in the copy, but for folders.
func (w *world) stamps() map[string]string {
	w.Helper()
	all := map[string]string{}
	for name := range w.has(w.Copy) {
		info, err := os.Lstat(w.in(name))
		w.must(err)
		if !info.IsDir() {
			all[name] = tree.StampOf(info)
		}
	}
	return all
}

// TestModes has files become programs, and back.
func TestModes(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", "protected": "1", "run": "1"})
	w.must(os.Chmod(w.at("run"), 0o755))
	w.trust()
	want := func(a, protected, run fs.FileMode, left ...string) {
		t.Helper()
		w.fill()
		w.wantLeft(left...)
		for name, mode := range map[string]fs.FileMode{"a": a, "protected": protected, "run": run} {
			info, err := os.Lstat(w.in(name))
			w.must(err)
			if info.Mode().Perm()&0o700 != mode {
				t.Errorf("%s has %v, want %v", name, info.Mode(), mode)
			}
		}
	}
	want(0o600, 0o600, 0o700)
	w.must(os.Chmod(w.at("a"), 0o755))
	w.must(os.Chmod(w.at("protected"), 0o755))
	w.must(os.Chmod(w.at("run"), 0o644))
	want(0o700, 0o600, 0o600, "protected: not yours")
	w.must(os.Chmod(w.at("a"), 0o600))
	w.must(os.Chmod(w.at("protected"), 0o440)) // nobody but its owner is asked
	w.must(os.Chmod(w.at("run"), 0o500))
	want(0o600, 0o600, 0o700)
}

// TestTold has many changes that do not count. A commit of what is proven leaves out each of them.
func TestTold(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1"})
	w.trust()
	const count = 300
	for i := range count {
		w.write(fmt.Sprintf("protected%03d", i), "")
	}
	left := w.fill()
	if len(left) != count || left[count-1].Path != "protected299" || left[0].Path != "protected000" {
		t.Errorf("%d are told, the last one is %v", len(left), left[len(left)-1])
	}
}

// TestOddNames takes names that few programs expect.
func TestOddNames(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	files := map[string]string{
		"a\nb": "1", "tab\t\"quote\" 'x'": "2", " ": "3", strings.Repeat("n", 255): "4", "-rf": "5", ":(top)x": "6",
		"é": "7", "*": "8", "src/a\nb": "9", "deep/" + strings.Repeat("d/", 100) + "x": "10", "[x]": "14", "a?": "15",
	}
	if runtime.GOOS == "linux" {
		files["not\xff\xfeutf8"] = "11"
		files["Case"], files["case"] = "12", "13"
	}
	w := newWorld(t, files)
	w.trust()
	left := w.fill()
	if len(left) > 0 {
		t.Errorf("these do not count: %q", left)
	}
	w.want(files)
	for _, name := range []string{`src/back\slash`, "src/git~1", "src/ ", "src/é", "src/[y]*", "src/..."} {
		w.write(name, "x")
		files[name] = "x"
	}
	w.fill()
	w.wantLeft()
	w.want(files)
}

// TestMisread refuses new names that a program or a shell could misread. Those that were trusted may change.
func TestMisread(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	bad := []string{
		"-x", "d/-x", "-d/x", "a;b", "a|b", "a&b", "a`b`", "a$(b)", "a${b}", "a<b", "a>b", "a\nb", "x$IFS", "$PS4",
		"$(x)/y",
	}
	good := []string{"a-x", "d-/x-", "a$b", "(a)", "a b", "{a}", "a$", "#a", "~a", "a'b", "%a", "@a", "=a", "+a"}
	w := newFree(t, map[string]string{"-trusted": "1", "d/x": "1"})
	w.trust()
	all := map[string]string{"-trusted": "2", "d/x": "1"}
	var left []string
	for i, name := range bad {
		w.write(path.Join(fmt.Sprint(i), name), "")
		w.write(path.Join(fmt.Sprint(i), "beside"), "")
		all[path.Join(fmt.Sprint(i), "beside")] = ""
		if path.Dir(name) == "d" {
			all[path.Join(fmt.Sprint(i), "d")] = "/"
		}
		left = append(left, fmt.Sprintf("%d/%s: %s", i, name, misread))
	}
	for _, name := range good {
		w.write(name, "")
		all[name] = ""
	}
	w.write("-trusted", "2")
	w.link("d", w.at("-l"))
	left = append(left, "-l: "+misread)
	for _, name := range []string{"-empty", "e/$(x)", "e/y"} {
		w.must(os.MkdirAll(w.at(name), 0o755))
	}
	all["e/y"] = "/"
	w.fill()
	w.want(all)
	w.wantLeft(left...)
}

// TestKeys keeps keys of JSON files as they were trusted.
func TestKeys(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	const trusted = `{"name":"x","scripts":{"test":"jest"},"a":{"b":1,"c":[1,2]},"dependencies":{}}`
	const broken = "p.json: " + notJSON
	const scripts, jest, ab = `p.json#scripts: "protect" names it`, `p.json#jest: "protect" names it`,
		`p.json#a.b: "protect" names it`
	for what, c := range map[string]struct {
		text string
		want string // "": as it was trusted
		left []string
	}{
		"other key": {text: `{"name":"x","scripts":{"test":"jest"},"a":{"b":1},"dependencies":{"y":"1"}}`,
			want: `{"name":"x","scripts":{"test":"jest"},"a":{"b":1},"dependencies":{"y":"1"}}`},
		"key changed": {text: `{"scripts":{"test":"true"},"a":{"b":1},"dependencies":{"y":"1"}}`,
			want: `{"scripts":{"test":"jest"},"a":{"b":1},"dependencies":{"y":"1"}}`, left: []string{scripts}},
		"key of another kind": {text: `{"scripts":"true","a":{"b":1}}`,
			want: `{"scripts":{"test":"jest"},"a":{"b":1}}`, left: []string{scripts}},
		"key gone": {text: `{"a":{"b":1}}`, want: `{"a":{"b":1},"scripts":{"test":"jest"}}`, left: []string{scripts}},
		"key added": {text: `{"scripts":{"test":"jest"},"a":{"b":1},"jest":{"bail":true},"z":1}`,
			want: `{"scripts":{"test":"jest"},"a":{"b":1},"z":1}`, left: []string{jest}},
		"below": {text: `{"scripts":{"test":"jest"},"a":{"b":2,"d":3}}`,
			want: `{"scripts":{"test":"jest"},"a":{"b":1,"d":3}}`, left: []string{ab}},
		"other spaces": {text: ` { "scripts" : {"test" : "jest"}, "a":{"b":1} } `,
			want: ` { "scripts" : {"test" : "jest"}, "a":{"b":1} } `},
		"other escapes": {text: `{"scripts":{"t\u0065st":"j\u0065st"},"a":{"b":1}}`,
			want: `{"scripts":{"t\u0065st":"j\u0065st"},"a":{"b":1}}`},
		"escaped key": {text: `{"scr\u0069pts":{"test":"true"},"a":{"b":1}}`,
			want: `{"scripts":{"test":"jest"},"a":{"b":1}}`, left: []string{scripts}},
		"escaped key added": {text: `{"scripts":{"test":"jest"},"a":{"b":1},"\u006aest":1}`,
			want: `{"scripts":{"test":"jest"},"a":{"b":1}}`, left: []string{jest}},
		"elsewhere": {text: `{"x":{"scripts":{"test":"true"}},"scripts":{"test":"jest"},"a":{"b":1}}`,
			want: `{"x":{"scripts":{"test":"true"}},"scripts":{"test":"jest"},"a":{"b":1}}`},
		"only keys": {text: `{"name":"x","scripts":{"test":"t"},"a":{"b":1,"c":[1,2]},"dependencies":{}}`,
			want: trusted, left: []string{scripts}},
		"no JSON":       {text: `{"scripts":`, left: []string{broken}},
		"a comment":     {text: "// x\n" + trusted, left: []string{broken}},
		"more after it": {text: trusted + trusted, left: []string{broken}},
		"nothing":       {text: "", left: []string{broken}},
		"a mark":        {text: "\xef\xbb\xbf" + trusted, left: []string{broken}},
		"no object":     {text: `[1]`, left: []string{broken}},
		"a number":      {text: `1`, left: []string{broken}},
		"null":          {text: `null`, left: []string{broken}},
		"above a key": {text: `{"scripts":{"test":"jest"},"a":7}`,
			want: `{"scripts":{"test":"jest"},"a":{"b":1}}`, left: []string{ab}},
		"a list above a key": {text: `{"scripts":{"test":"jest"},"a":[7]}`, left: []string{ab,
			"p.json: cannot set array element for non-numeric key 'b'"}},
		"twice": {text: `{"scripts":{"test":"jest"},"scripts":{"test":"true"}}`, left: []string{broken}},
		"twice, escaped": {text: `{"scripts":{"test":"jest"},"scr\u0069pts":{"test":"true"},"a":{"b":1}}`,
			left: []string{broken}},
		"twice below": {text: `{"scripts":{"test":"jest","test":"true"}}`, left: []string{broken}},
		"deep":        {text: strings.Repeat("[", maxKeys-1), left: []string{broken}},
		"deep and whole": {text: `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
			left: []string{broken}},
		"too long": {text: `{"scripts":{"test":"jest"},"a":{"b":1}}` + strings.Repeat(" ", maxKeys),
			left: []string{"p.json: " + tooLong}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newFree(t, map[string]string{"p.json": trusted, "q.json": trusted})
			w.rule.Keys = func(name string) []string {
				if name == "p.json" {
					return []string{"scripts", "jest", "a.b"}
				}
				return nil
			}
			w.trust()
			w.write("p.json", c.text)
			w.write("q.json", c.text)
			for range 2 {
				w.fill()
				w.wantLeft(c.left...)
				got := w.has(w.Copy)
				if c.want == "" {
					c.want = trusted
				}
				if got["p.json"] != c.want && !sameJSON(got["p.json"], c.want) || got["q.json"] != c.text {
					t.Errorf("the copy has %.300q, want %q", got["p.json"], c.want)
				}
			}
		})
	}
	w := newFree(t, map[string]string{"p.json": trusted, "broken": `{"x":1,"x":2}`, "evil.json": `{"scripts":1}`})
	w.rule.Keys = func(name string) []string { return []string{"scripts", "x"} }
	w.trust()
	w.link("evil.json", w.at("p.json"))
	w.write("broken", `{"x":3}`)
	w.write("new.json", `{"scripts":1}`)
	w.fill()
	w.wantLeft("p.json: "+partProtected, "broken: "+notJSON)
	w.want(map[string]string{
		"p.json": trusted, "broken": `{"x":1,"x":2}`, "evil.json": `{"scripts":1}`, "new.json": `{"scripts":1}`,
	})
	w.remove("p.json") // without it, npm would look for another one above
	w.remove("new.json")
	w.fill()
	w.wantLeft("p.json: "+partProtected, "broken: "+notJSON)
	w.want(map[string]string{"p.json": trusted, "broken": `{"x":1,"x":2}`, "evil.json": `{"scripts":1}`})
}

// TestLinks refuses links out of the copy, also by way of other links.
func TestLinks(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newWorld(t, map[string]string{"src/x": "1", "a/b/c": "1", ".gitignore": "node_modules\n.env\n", "src/was": "1"})
	w.link("src", w.at("inside"))
	w.link("/etc", w.at("trusted-out"))
	w.link("x", w.at("src/old"))
	w.link(w.at("a/b"), w.at("a/abs"))
	w.link(w.project, w.at("a/top"))
	w.link(w.project+"/../x", w.at("a/up"))
	w.write(".git/config", "")
	w.trust()
	w.write("node_modules/p/x", "1")
	w.write(".env", "1")
	all := map[string]string{
		"src/x": "1", "a/b/c": "1", ".gitignore": "node_modules\n.env\n", "inside": "-> src", "trusted-out": "-> /etc",
		"a/abs": "-> ../a/b", "a/top": "-> ../.", "a/up": "-> " + w.project + "/../x",
		"node_modules/p": "-> " + w.at("node_modules/p"), ".env": "-> " + w.at(".env"),
		"src/old": "-> x", "src/was": "1",
	}
	outside := t.TempDir()
	w.link(outside, w.at("node_modules/out"))
	all["node_modules/out"] = "-> " + w.at("node_modules/out")
	var left []string
	for name, c := range map[string]struct{ to, copy, why string }{
		"in":         {to: "../a/b"},
		"nowhere":    {to: "missing"},
		"abs":        {to: w.at("src"), copy: "../src"},
		"abs-file":   {to: w.at("a/b/c"), copy: "../a/b/c"},
		"abs-top":    {to: w.project, copy: "../."},
		"deep":       {to: "../a/b/../.."},
		"dot":        {to: "./././x"},
		"slashes":    {to: "..//a///b"},
		"self":       {to: ".."},
		"via":        {to: "../inside/x"},
		"via-abs":    {to: "../a/abs/../../src/x"},
		"up":         {to: "../../x", why: leadsOut},
		"up2":        {to: "../..", why: leadsOut},
		"up-in":      {to: "../../project/src/x", why: leadsOut},
		"hop":        {to: "deep/../x", why: leadsOut},
		"abs-out":    {to: "/etc/passwd", why: leadsOut},
		"abs-near":   {to: w.project + "2/x", why: leadsOut},
		"abs-up":     {to: w.project + "/../x", why: leadsOut},
		"via-out":    {to: "../trusted-out/passwd", why: leadsOut},
		"circle":     {to: "circle", why: leadsOut},
		"circle-1":   {to: "circle-2", why: leadsOut},
		"circle-2":   {to: "circle-1/x", why: leadsOut},
		"git":        {to: "../.git/config", why: leadsToGit},
		"git2":       {to: "../.GIT", why: leadsToGit},
		"git3":       {to: "../.git/../src/x", why: leadsToGit},
		"git-abs":    {to: w.at(".git"), why: leadsToGit},
		"via-git":    {to: "git2/config", why: leadsToGit},
		"own":        {to: "../node_modules/p/x", why: leadsToIgnored},
		"own-folder": {to: "../node_modules", why: leadsToIgnored},
		"own-file":   {to: "../.env", why: leadsToIgnored},
		"own-out":    {to: "../node_modules/out/../x", why: leadsToIgnored},
		"own-abs":    {to: w.at("node_modules"), why: leadsToIgnored},
		"via-own":    {to: "own-folder/p", why: leadsToIgnored},
		"old":        {to: "../..", why: leadsOut},
		"was":        {to: "../..", why: leadsOut},
	} {
		w.link(c.to, w.at("src/"+name))
		switch {
		case c.why != "":
			left = append(left, "src/"+name+": "+c.why)
		case c.copy != "":
			all["src/"+name] = "-> " + c.copy
		default:
			all["src/"+name] = "-> " + c.to
		}
	}
	for range 2 {
		w.fill()
		w.wantLeft(left...)
		w.want(all)
	}
}

// TestLinksByBlocked has a link that leads out only because another one, through which it leads, does not count.
func TestLinksByBlocked(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"d/protected": "1", "deep/er/er/x": "1", "s": "1"})
	w.trust()
	w.remove("d")
	w.link("deep/er/er", w.at("d"))
	w.link("d/../../s", w.at("a"))
	w.fill()
	w.wantLeft("d/protected: not yours", "d: "+inTheWay, "a: "+leadsOut)
	w.want(map[string]string{"d/protected": "1", "deep/er/er/x": "1", "s": "1"})
}

// TestProjectsGitHasNoSay gives the project a repository that would have git run programs and change files.
func TestProjectsGitHasNoSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"src/crlf.txt": "a\r\nb\r\n", "src/lf.txt": "a\nb\n", "src/id.txt": "$Id$\n"})
	pwned := w.at("../pwned")
	w.git(w.project, "init", "-q")
	for _, one := range []string{"filter.own.clean", "filter.own.smudge", "core.fsmonitor", "core.sshCommand"} {
		w.git(w.project, "config", one, "touch "+pwned+"; cat")
	}
	w.git(w.project, "config", "core.autocrlf", "true")
	w.git(w.project, "config", "core.worktree", t.TempDir())
	w.write(".gitattributes", "[attr]text filter=own\n"+
		"* text=auto eol=crlf filter=own ident working-tree-encoding=UTF-16\n*.txt text\n")
	w.write(".git/info/exclude", "src/\n")
	w.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch "+pwned+"\n")
	w.must(os.Chmod(w.at(".git/hooks/post-index-change"), 0o755))
	w.trust()
	w.write("src/.gitattributes", "* text eol=lf filter=own\n")
	w.write("src/new.txt", "x\r\ny\n$Id$\n")
	w.fill()
	project := w.has(w.project)
	for name := range project {
		if strings.HasPrefix(name, ".git/") {
			delete(project, name)
		}
	}
	w.want(project)
	_, err := os.Stat(pwned)
	if err == nil {
		t.Error("a program of the project's repository has run")
	}
}

// TestOddFiles takes repositories within the project as files, and names what is no file.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"src/x": "1", "nested/y": "1", "src/was": "1", "src/grown": "1", "src/shut": "1"})
	w.git(w.project, "init", "-q")
	w.git(w.at("nested"), "init", "-q") // without a commit
	w.write("sub/z", "1")
	w.git(w.at("sub"), "init", "-q")
	w.git(w.at("sub"), "add", "z")
	w.git(w.at("sub"), "commit", "-qm", "x")
	w.git(w.project, "add", "sub") // a link to a commit
	w.trust()
	all := map[string]string{
		"src/x": "1", "nested/y": "1", "sub/z": "1", "src/was": "1", "src/grown": "1", "src/shut": "1",
	}
	w.fill()
	w.want(all)
	w.write("nested/planted", "1")
	w.write("sub/planted", "1")
	left := []string{"nested/planted: not yours", "sub/planted: not yours"}
	for _, name := range []string{"src/huge", "src/grown"} {
		big, err := os.Create(w.at(name))
		w.must(err)
		w.must(big.Truncate(maxFile + 1)) // sparse
		w.must(big.Close())
		left = append(left, name+": "+tooLarge)
	}
	if runtime.GOOS != "windows" {
		w.makeFIFO(w.at("src/fifo"))
		w.makeSocket(w.at("src/socket"))
		w.remove("src/was")
		w.makeFIFO(w.at("src/was"))
		left = append(left, "src/fifo: "+notRegular, "src/socket: "+notRegular, "src/was: "+notRegular)
		if os.Geteuid() != 0 {
			w.write("src/closed", "x")
			w.write("src/shut", "2")
			w.must(os.Chmod(w.at("src/closed"), 0))
			w.must(os.Chmod(w.at("src/shut"), 0))
			left = append(left, "src/closed: "+unreadable, "src/shut: "+unreadable)
		}
	}
	w.settled = true
	for range 3 { // it knows that it could not read them
		w.fill()
		w.wantLeft(left...)
		w.want(all)
	}
	w.trust()
	if len(w.omitted) != len(left)-2 {
		t.Errorf("%v cannot be trusted", w.omitted)
	}
	for _, c := range w.omitted {
		is := w.baseline.Files.Find(c.Path) != nil
		if is || !slices.Contains(left, c.Path+": "+c.Why) {
			t.Errorf("%v: %v", c, is)
		}
	}
}

// TestUnreadable keeps what is in a folder that nobody can read.
func TestUnreadable(t *testing.T) {
	needsLinks(t)
	if os.Geteuid() == 0 {
		t.Skip("root can read all")
	}
	t.Parallel()
	w := newFree(t, map[string]string{"d/x": "1", "d/e/y": "1", "d2/x": "1", "z": "1"})
	w.trust()
	w.write("z", "2")
	w.remove("d2")
	defer os.Chmod(w.at("d"), 0o755)
	for _, mode := range []fs.FileMode{0, 0o200, 0o400, 0o100} {
		w.must(os.Chmod(w.at("d"), mode))
		w.fill()
		w.want(map[string]string{"d/x": "1", "d/e/y": "1", "z": "2"})
		got := paths(w.last.NotCounted)
		if !slices.Equal(got, []string{".", "d/e/y", "d/x"}) {
			t.Errorf("%v: these do not count: %v", mode, w.last.NotCounted)
		}
	}
	w.must(os.Chmod(w.at("d"), 0o755))
	w.must(os.Chmod(w.project, 0o100))
	defer os.Chmod(w.project, 0o755)
	_, err := w.tree().Entries(t.Context(), nil)
	if err == nil {
		t.Error("a project that cannot be read looks as if all were gone")
	}
}

// TestIgnored links what git ignores.
func TestIgnored(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{
		".gitignore": "node_modules\n.env\n/gone\n/now-link\n*.pyc\n", "packages/a/x": "1", "src/x": "1",
		"node_modules/one/x": "1", "node_modules/own/x": "1", "node_modules/@s/two/x": "1", "node_modules/@s/three/x": "1",
		"node_modules/.bin/tool": "1", "node_modules/.cache/x": "1", "node_modules/.vite/x": "1", "node_modules/file": "1",
		".env": "secret", "gone/x": "1", "now-link/x": "1", "packages/a/node_modules/p/x": "1", "src/x.pyc": "1",
	})
	w.owning("node_modules/own")
	outside := t.TempDir()
	w.link("../packages/a", w.at("node_modules/a"))
	w.link("../../packages/a", w.at("node_modules/@s/a"))
	w.link(w.at("packages/a"), w.at("node_modules/abs"))
	w.link("../../elsewhere", w.at("node_modules/up"))
	w.link(outside, w.at("node_modules/out"))
	w.trust()
	w.write("packages/a/x", "2")
	all := map[string]string{
		".gitignore": "node_modules\n.env\n/gone\n/now-link\n*.pyc\n", "packages/a/x": "2", "src/x": "1",
		"node_modules/a": "-> ../packages/a", "node_modules/@s/a": "-> ../../packages/a",
		"node_modules/abs": "-> ../packages/a", "src/x.pyc": "-> " + w.at("src/x.pyc"),
	}
	linked := func(names ...string) {
		for _, name := range names {
			all[name] = "-> " + w.at(name)
		}
	}
	linked("node_modules/one", "node_modules/@s/two", "node_modules/@s/three", "node_modules/.bin", "node_modules/file",
		".env", "gone/x", "now-link/x", "packages/a/node_modules/p", "node_modules/up", "node_modules/out")
	for range 2 {
		w.fill()
		w.wantLeft()
		w.want(all)
	}
	text, err := os.ReadFile(w.in("node_modules/a/x"))
	if err != nil || string(text) != "2" {
		t.Errorf("%q %v", text, err)
	}

	// What a check adds stays, and what it puts in the place of a link goes.
	w.put(w.in("node_modules/.cache/made"), "1")
	w.put(w.in("node_modules/.vite/made"), "1")
	w.put(w.in("node_modules/added/x"), "1")
	w.put(w.in("node_modules/@mine/x"), "1")
	w.must(os.Remove(w.in("node_modules/one")))
	w.put(w.in("node_modules/one/x"), "lies")
	w.link("packages", w.in("now-link"))
	w.link("../src", w.in("node_modules/@s"))
	w.link("src", w.in(".env"))
	all["node_modules/.cache/made"], all["node_modules/.vite/made"], all["node_modules/added/x"] = "1", "1", "1"
	all["node_modules/@mine/x"] = "1"
	w.fill()
	w.want(all)

	// What goes in the project goes in the copy.
	w.remove("node_modules/one", "node_modules/@s/two", "gone", ".env", "now-link", "node_modules/a", "src/x.pyc")
	w.link("packages/a", w.at("now-link"))
	for _, name := range []string{
		"node_modules/one", "node_modules/@s/two", "gone/x", ".env", "now-link/x", "node_modules/a", "src/x.pyc",
	} {
		delete(all, name)
	}
	all["now-link"] = "-> packages/a"
	w.fill()
	w.want(all)
	w.remove("node_modules/@s", "now-link")
	w.write("now-link/y", "1")
	delete(all, "now-link")
	delete(all, "node_modules/@s/three")
	delete(all, "node_modules/@s/a")
	linked("now-link/y")
	w.fill()
	w.want(all)
	w.remove("node_modules")
	for name := range all {
		if strings.HasPrefix(name, "node_modules/") {
			delete(all, name)
		}
	}
	w.fill()
	w.want(all)
	text, _ = os.ReadFile(w.at("packages/a/x"))
	if string(text) != "2" {
		t.Error("a file of the project was changed")
	}
}

// TestOwn has outputs that the copy has of its own.
func TestOwn(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{".gitignore": "build/\n__pycache__\n", "src/x": "1"})
	w.owning("build", "src/__pycache__")
	w.trust()
	w.write("build/planted", "1")
	w.write("src/__pycache__/planted", "1")
	all := map[string]string{".gitignore": "build/\n__pycache__\n", "src/x": "1"}
	w.fill()
	w.want(all)
	w.put(w.in("build/deep/made"), "1")
	w.put(w.in("src/__pycache__/made"), "1")
	w.put(w.in("src/left"), "1")
	all["build/deep/made"], all["src/__pycache__/made"] = "1", "1"
	for i := range 3 {
		w.write("src/x", fmt.Sprint(i))
		all["src/x"] = fmt.Sprint(i)
		w.fill()
		w.want(all)
	}
	w.write("src/new", "1") // another baseline: what was made of the old one goes
	w.trust()
	w.fill()
	w.want(map[string]string{".gitignore": "build/\n__pycache__\n", "src/x": "2", "src/new": "1"})
}

// TestTrackedIgnored has files that git tracks although a rule ignores them.
func TestTrackedIgnored(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{
		".gitignore": "/lib\n.env*\n/out\n", "lib/a": "1", "lib/protected": "1", "lib/d/protected": "1", ".env": "1",
		".env-protected": "1", "out/protected": "1",
	})
	w.owning("out")
	w.git(w.project, "init", "-q")
	w.git(w.project, "add", "-f", ".")
	w.trust()
	w.write("lib/not", "1")
	w.write("lib/d/not", "1")
	w.write("lib/e/not", "1")
	w.write(".env-not", "1")
	w.write("out/not", "1")
	w.link(".env", w.at("l"))
	all := map[string]string{
		".gitignore": "/lib\n.env*\n/out\n", "lib/a": "1", "lib/protected": "1", "lib/d/protected": "1", ".env": "1",
		".env-protected": "1", "out/protected": "1",
		"lib/not": "-> " + w.at("lib/not"), "lib/d/not": "-> " + w.at("lib/d/not"), "lib/e": "-> " + w.at("lib/e"),
		".env-not": "-> " + w.at(".env-not"), "l": "-> .env",
	}
	for range 2 {
		w.fill()
		w.wantLeft()
		w.want(all)
	}
	same, err := w.Baseline(w.baseline.ID)
	w.must(err)
	ignored := same.Ignored()
	slices.Sort(ignored)
	want := []string{".env", ".env-protected", "lib/a", "lib/d/protected", "lib/protected", "out/protected"}
	if !slices.Equal(ignored, want) {
		t.Errorf("the baseline has of what a rule ignores %q, want %q", ignored, want)
	}
	w.put(w.in("out/made"), "1")
	all["out/made"] = "1"
	for _, name := range []string{"lib/a", "lib/protected", "lib/d/protected", ".env", ".env-protected", "out/protected"} {
		w.write(name, "2")
	}
	all["lib/a"], all[".env"] = "2", "2"
	left := []string{
		"lib/protected: not yours", "lib/d/protected: not yours", ".env-protected: not yours", "out/protected: not yours",
	}
	w.fill()
	w.wantLeft(left...)
	w.want(all)
	w.must(os.RemoveAll(w.at(".git"))) // nobody says any more what is tracked
	w.fill()
	w.wantLeft(left...)
	w.want(all)
	w.remove("lib/a", "lib/protected", "lib/d/protected", ".env", ".env-protected", "out/protected")
	delete(all, "lib/a")
	delete(all, ".env")
	w.fill()
	w.wantLeft(left...)
	w.want(all)

	// Folders become files, and the other way round.
	w.remove("lib/d", ".env-protected")
	w.write("lib/d", "a file now")
	w.write(".env-protected/x", "a folder now")
	delete(all, "lib/d/not")
	left = append(left, ".env-protected/: not yours")
	w.fill()
	w.wantLeft(left...)
	w.want(all)

	// The ignored folders become links: to a folder elsewhere, and to one of the project.
	w.remove("lib/d")
	w.write("lib/d/not", "1")
	w.fill()
	all["lib/d/not"] = "-> " + w.at("lib/d/not")
	w.want(all)
	delete(all, "lib/d/not")
	outside := t.TempDir()
	w.put(filepath.Join(outside, "protected"), "planted")
	w.put(filepath.Join(outside, "a"), "planted")
	w.write("planted/protected", "planted")
	w.write("planted/a", "planted")
	delete(all, "lib/not")
	delete(all, "lib/e")
	all["planted/a"] = "planted"
	for _, to := range []string{outside, "planted"} {
		w.link(to, w.at("lib"))
		w.link(to, w.at("out"))
		w.fill()
		w.wantLeft(append(left, "planted/protected: not yours")...)
		w.want(all)
	}
}

// TestTrustBehindLink trusts a project in which a folder that git ignores, and of which git tracks files, is a link.
func TestTrustBehindLink(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{".gitignore": "lib\n", "lib/a": "1", "other/a": "2"})
	w.git(w.project, "init", "-q")
	w.git(w.project, "add", "-f", ".")
	w.link("other", w.at("lib"))
	w.trust()
	if w.baseline.Files.Find("lib/a") != nil {
		t.Error("a file behind a link was trusted")
	}
	w.fill()
	w.wantLeft()
	w.want(map[string]string{".gitignore": "lib\n", "other/a": "2", "lib": "-> other"})
}

// TestTrustWritten has files change while they are trusted: each is taken as it is then, and none spoils another one.
func TestTrustWritten(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1234", "b": "1234", "c": "1234", "d": "1234"})
	entries := w.entries(nil)
	w.write("a", "12345678")
	w.write("b", "")
	w.write("c", "5678")
	var err error
	w.baseline, _, err = w.Trust(t.Context(), w.project, entries)
	w.must(err)
	w.fill()
	w.wantLeft()
	w.want(map[string]string{"a": "12345678", "b": "", "c": "5678", "d": "1234"})
	if w.last.want.Find("a").Agents {
		t.Error("a was not trusted")
	}
}

// TestSeen has looks keep the stamp of a file only if it shows each change from then on.
func TestSeen(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", "b": "1", "protected": "1"})
	w.trust()
	for _, w.settled = range []bool{false, true} {
		if w.settled && runtime.GOOS == "windows" {
			break // only the time of the last write is known there, and these files are too young
		}
		w.write("b", "2")
		w.look()
		seen := w.readIndex(seenFile)
		for _, e := range w.entries(nil).List {
			stamp := seen.Find(e.Path).Stamp
			if (stamp == e.Stamp()) != w.settled || !w.settled && stamp != "" {
				t.Errorf("%s: settled: %v, and the stamp is %q", e.Path, w.settled, stamp)
			}
		}
	}
}

// TestIgnoredInTheWay has ignored files and folders in the places of trusted files.
func TestIgnoredInTheWay(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{".gitignore": "protected/\nx.o\n", "protected": "1", "a-protected": "1", "b": "1"})
	w.link("b", w.at("l-protected"))
	w.trust()
	all := map[string]string{
		".gitignore": "protected/\nx.o\n", "protected": "1", "a-protected": "1", "b": "1", "l-protected": "-> b",
	}
	w.fill()
	w.want(all)
	w.remove("protected", "a-protected", "l-protected", "b")
	w.write("protected/y", "planted")
	w.write("a-protected/x.o", "planted")
	w.write("l-protected/x.o", "planted")
	w.write("b/x.o", "2")
	delete(all, "b")
	all["b/x.o"] = "-> " + w.at("b/x.o")
	for range 2 {
		w.fill()
		w.wantLeft("protected: not yours", "a-protected: not yours", "l-protected: not yours")
		w.want(all)
	}
}

// TestExtra has files in the copy that are no part of what is proven.
func TestExtra(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{".gitignore": ".ralph\nlist.json\n", "x": "1", "list.json": "agent's"})
	w.write(".ralph/d/own", "1")
	w.write(".ralph/e/own", "1")
	w.trust()
	w.extra = map[string][]byte{"list.json": []byte("trusted"), ".ralph/d/list": []byte("2"), "new/list": []byte("3")}
	all := map[string]string{
		".gitignore": ".ralph\nlist.json\n", "x": "1", "list.json": "trusted", ".ralph/d/list": "2", "new/list": "3",
		".ralph/d/own": "-> " + w.at(".ralph/d/own"), ".ralph/e": "-> " + w.at(".ralph/e"),
	}
	for range 2 {
		w.fill()
		w.want(all)
		w.must(os.RemoveAll(w.in(".ralph")))
		w.link(w.at(".ralph"), w.in(".ralph"))
		w.link(w.at("x"), w.in("list.json"))
	}
	w.fill()
	w.want(all)
	got := w.has(w.project)
	if got["x"] != "1" || got[".ralph/d/list"] != "" {
		t.Errorf("the project has %v", got)
	}
}

// TestKilled leaves what processes leave that are killed at any step.
func TestKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"src/x": "1", "b": "1", "src/same": "1"})
	w.settled = true
	w.trust()
	w.fill()
	all := map[string]string{"src/x": "2", "b": "1", "src/same": "1"}
	truncate := func(name string, size int64) func() {
		return func() { w.must(os.Truncate(filepath.Join(w.Store, name), size)) }
	}
	remove := func(name string) func() { return func() { w.must(os.Remove(filepath.Join(w.Store, name))) } }
	garbage := func(name string) func() {
		return func() {
			file := filepath.Join(w.Store, name)
			text, err := os.ReadFile(file)
			w.must(err)
			w.must(os.WriteFile(file, bytes.ReplaceAll(text, []byte(digest([]byte("1"))), []byte("0")), 0o600))
		}
	}
	damage := map[string]func(){
		"half of what was seen": truncate(seenFile, 40),
		"half of the copy":      truncate(copyFile, 40),
		"an empty index":        truncate(copyFile, 0),
		"seen garbage":          garbage(seenFile),
		"copied garbage":        garbage(copyFile),
		"nothing seen":          remove(seenFile),
		"nothing copied":        remove(copyFile),
		"of no baseline":        remove(copyOfFile),
		"of half a baseline":    truncate(copyOfFile, 10),
		"half of a report":      truncate(lastFile, 10),
		"half a copy":           func() { w.must(os.RemoveAll(w.in("src"))) },
		"an empty copy": func() {
			w.must(os.RemoveAll(w.Copy))
			w.must(os.Mkdir(w.Copy, 0o700))
		},
		"a file": func() {
			w.must(os.RemoveAll(w.Copy))
			w.must(os.WriteFile(w.Copy, nil, 0o600))
		},
		"prepared": func() { w.put(filepath.Join(w.Store, preparedFile), `{"Made":["x`) },
	}
	for what, damage := range damage {
		w.write("src/x", "2")
		damage()
		w.fill()
		t.Run(what, func(t *testing.T) {
			w := *w
			w.T = t
			w.want(all)
		})
	}
}

// TestDamagedBaseline has a baseline that is damaged: there is an error, and never another copy.
func TestDamagedBaseline(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	trusted := func(t *testing.T) *world {
		w := newFree(t, map[string]string{"a": "1", "protected": "trusted", "p.json": `{"scripts":"trusted"}`})
		w.rule.Keys = func(name string) []string {
			if name == "p.json" {
				return []string{"scripts"}
			}
			return nil
		}
		w.link("a", w.at("protected-l"))
		w.trust()
		w.write("protected", "2")
		w.link("p.json", w.at("protected-l"))
		w.write("p.json", `{"scripts":"true"}`)
		return w
	}
	files := map[string]func(w *world) string{
		"files": func(w *world) string { return filepath.Join(w.Store, packPrefix+w.baseline.ID) },
		"link":  func(w *world) string { return w.object(digest([]byte("a"))) },
	}
	ways := map[string]func(file string) error{
		"gone":    os.Remove,
		"changed": func(file string) error { return os.WriteFile(file, []byte(`{"scripts":"a"}`), 0o600) },
		"half":    func(file string) error { return os.Truncate(file, 0) },
		"longer": func(file string) error {
			text, err := os.ReadFile(file)
			return errors.Join(err, os.WriteFile(file, append([]byte("x"), text...), 0o600), os.Truncate(file, 8<<20))
		},
	}
	for what, file := range files {
		for way, damage := range ways {
			t.Run(what+" "+way, func(t *testing.T) {
				t.Parallel()
				w := trusted(t)
				w.must(damage(file(w)))
				for range 2 {
					err := w.tryFill()
					if !errors.Is(err, errDamaged) {
						t.Errorf("no error of damage: %v, and the copy has %v", err, w.has(w.Copy))
					}
				}
				w.write("protected", "trusted") // a person trusts what there was, again
				w.link("a", w.at("protected-l"))
				w.write("p.json", `{"scripts":"trusted"}`)
				w.trust()
				w.fill()
				w.want(map[string]string{
					"a": "1", "protected": "trusted", "p.json": `{"scripts":"trusted"}`, "protected-l": "-> a",
				})
			})
		}
	}
	w := trusted(t)
	w.write("p.json", `{"scripts":"trusted"}`)
	w.fill()
	w.must(os.Remove(files["files"](w))) // the copy has what it said
	w.fill()
	w.put(w.in("protected"), "lies")
	err := w.tryFill()
	if !errors.Is(err, errDamaged) {
		t.Errorf("no error of damage: %v", err)
	}
	w = trusted(t)
	w.fill()
	w.must(os.Remove(files["files"](w)))
	w.write("p.json", `{"scripts":1}`)
	err = w.tryFill()
	if !errors.Is(err, errDamaged) {
		t.Errorf("no error of damage: %v", err)
	}
	index := filepath.Join(w.Store, baselinePrefix+w.baseline.ID)
	whole, err := os.ReadFile(index)
	w.must(err)
	same, err := w.Baseline(w.baseline.ID)
	if err != nil || !reflect.DeepEqual(same.folders, w.baseline.folders) || len(same.Differ(w.baseline)) > 0 {
		t.Errorf("%v %v", same, err)
	}
	for _, text := range [][]byte{nil, whole[:len(whole)/2], append([]byte("x"), whole...)} {
		w.must(os.WriteFile(index, text, 0o600))
		_, err := w.Baseline(w.baseline.ID)
		if !errors.Is(err, errDamaged) {
			t.Errorf("%d bytes of %d: %v", len(text), len(whole), err)
		}
	}
	for _, id := range []string{"", "missing", strings.Repeat("0", 64)} {
		_, err := w.Baseline(id)
		if !errors.Is(err, errDamaged) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestDamagedAgents has an object of the agent's that is damaged: the next look stores it again.
func TestDamagedAgents(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1"})
	w.settled = true
	w.trust()
	w.write("a", "agent's")
	w.put(w.object(digest([]byte("agent's"))), "agen") // of a look that was killed
	w.fill()
	w.want(map[string]string{"a": "agent's"})
	w.must(os.Truncate(w.object(digest([]byte("agent's"))), 0))
	w.must(w.Reset())
	_ = w.tryFill()
	w.fill()
	w.want(map[string]string{"a": "agent's"})
}

// TestCannotStore has a store in which nothing can be stored: that is no fault of a file.
func TestCannotStore(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", "p.json": "{}"})
	w.rule.Keys = func(name string) []string { return map[string][]string{"p.json": {"x"}}[name] }
	w.trust()
	objects := filepath.Join(w.Store, objectsFolder)
	away := objects + "-away"
	for what, change := range map[string]func(){
		"file": func() { w.write("a", "2") },
		"link": func() {
			w.remove("a")
			w.must(os.Symlink("p.json", w.at("a")))
		},
		"keys": func() { w.write("p.json", `{"x":1}`) },
	} {
		if what == "link" && runtime.GOOS == "windows" {
			continue
		}
		change()
		w.must(os.Rename(objects, away))
		w.put(objects, "")
		entries := w.entries(nil)
		_, err := w.Look(t.Context(), w.baseline, w.project, entries, w.rule, true)
		if err == nil {
			t.Errorf("%s: a look stores nothing, and says nothing", what)
		}
		_, _, err = w.Trust(t.Context(), w.project, entries)
		if err == nil {
			t.Errorf("%s: nothing is stored, and it is trusted", what)
		}
		w.must(os.Remove(objects))
		w.must(os.Rename(away, objects))
		w.remove("a")
		w.write("a", "1")
		w.write("p.json", "{}")
	}
}

// TestKilledAtAnyTime kills a process while it looks at a changing project and fills the copy. The next one finds all
// in order.
func TestKilledAtAnyTime(t *testing.T) {
	t.Parallel()
	const dir = "TEST_PROOF_DIR"
	at := os.Getenv(dir)
	w := newWorld(t, nil)
	if at == "" {
		at = t.TempDir()
	}
	w.project = filepath.Join(at, "project")
	w.Place = Place{Store: filepath.Join(at, "proof"), Copy: filepath.Join(at, "copies", "copy")}
	w.must(os.MkdirAll(w.project, 0o755))
	if os.Getenv(dir) != "" {
		id, err := os.ReadFile(filepath.Join(at, "trusted"))
		w.must(err)
		w.rules = map[string]string{}
		w.baseline, err = w.Baseline(string(id))
		w.must(err)
		for {
			for i := range 300 {
				w.write(fmt.Sprintf("src/%d/%d", i%7, i), time.Now().String())
			}
			w.fill()
		}
	}
	if testing.Short() {
		t.Skip("needs some seconds")
	}
	w.write("Makefile", "all:\n")
	w.trust()
	w.must(os.WriteFile(filepath.Join(at, "trusted"), []byte(w.baseline.ID), 0o600))
	for i := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=TestKilledAtAnyTime$")
		cmd.Env = append(os.Environ(), dir+"="+at)
		w.must(cmd.Start())
		time.Sleep(time.Duration(30+13*i) * time.Millisecond)
		w.must(cmd.Process.Kill())
		_ = cmd.Wait()
		w.write("Makefile", "all: planted\n")
		w.write("src/last", fmt.Sprint(i))
		w.fill()
		project := w.has(w.project)
		project["Makefile"] = "all:\n"
		w.want(project)
		w.write("Makefile", "all:\n")
	}
}

// TestAnyEdits changes the project and the copy at random: files become folders and links, and back. After each filling
// the copy has what a simple model says, and two looks have one ID only if they have the same copy.
func TestAnyEdits(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	for _, settled := range []bool{false, true} {
		w := newFree(t, map[string]string{"src/a": "0", "src/b/c": "0", "keep": "0", "src/c/d": "0", "src/d": "0"})
		w.rule.Why = func(name string, _ bool) string {
			if path.Base(name) == "d" {
				return "d"
			}
			return ""
		}
		w.settled = settled
		w.trust()
		trusted := w.has(w.project)
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		random := rand.New(rand.NewPCG(seed, 0))
		byID, byCopy := map[string]string{}, map[string]string{}
		for i := range 60 {
			for range random.IntN(4) {
				w.edit(random, w.project, i)
			}
			for range random.IntN(3) {
				w.edit(random, w.Copy, i)
			}
			w.fill()
			want := modelOf(trusted, w.has(w.project), w.rule)
			w.want(want)
			text, err := json.Marshal(want)
			w.must(err)
			id, known := byCopy[string(text)]
			if known && id != w.last.ID {
				t.Errorf("two IDs for one copy: %s", text)
			}
			was, known := byID[w.last.ID]
			if known && was != string(text) {
				t.Errorf("one ID for %s and %s", text, was)
			}
			byCopy[string(text)], byID[w.last.ID] = w.last.ID, string(text)
			if t.Failed() {
				t.Fatalf("after %d edits", i)
			}
			w.tick()
		}
		if len(byID) < 20 {
			t.Errorf("only %d copies were seen", len(byID))
		}
	}
}

// edit changes one thing in a folder.
func (w *world) edit(random *rand.Rand, dir string, i int) {
	w.must(os.MkdirAll(dir, 0o755))
	name := filepath.Join(dir, "src")
	for range 1 + random.IntN(3) {
		name = filepath.Join(name, string(rune('a'+random.IntN(4))))
	}
	for at := filepath.Dir(name); at != dir; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err == nil && !info.IsDir() {
			w.must(os.Remove(at))
		}
	}
	w.must(os.RemoveAll(name))
	w.must(os.MkdirAll(filepath.Dir(name), 0o755))
	switch random.IntN(6) {
	case 0, 1:
		w.must(os.WriteFile(name, fmt.Append(nil, i%3), 0o644))
	case 2:
		w.must(os.Symlink("nothing", name))
	case 3:
		w.must(os.MkdirAll(name, 0o755))
	case 4:
		_ = os.Link(filepath.Join(dir, "src", "a"), name) // there may be none
	}
}

// modelOf returns what the copy is to have. All are as has returns them.
func modelOf(trusted, project map[string]string, rule Rule) map[string]string {
	want, stays := map[string]string{}, map[string]bool{}
	for name, text := range trusted {
		if project[name] == text || rule.Why(name, false) != "" {
			want[name] = text
			stays[name] = true
		}
	}
	isBlocked := func(name string) bool {
		for other := range stays {
			if strings.HasPrefix(name, other+"/") || strings.HasPrefix(other, name+"/") {
				return true
			}
		}
		return false
	}
	empty := map[string]bool{}
	for name, text := range project {
		_, has := want[name]
		if text == "/" {
			empty[name] = true
		} else {
			for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
				empty[dir] = true
			}
			if !has && rule.Why(name, false) == "" && !isBlocked(name) {
				want[name] = text
			}
		}
	}
	for dir := range empty {
		for above := path.Dir(dir); above != "."; above = path.Dir(above) {
			empty[above] = true
		}
	}
	folders := map[string]bool{}
	for dir := range empty {
		_, has := want[dir]
		if !has && rule.Why(dir+"/x", true) == "" && !isUnder(stays, dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		used := false
		for name := range want {
			used = used || strings.HasPrefix(name, dir+"/")
		}
		for other := range folders {
			used = used || strings.HasPrefix(other, dir+"/")
		}
		if !used {
			want[dir] = "/"
		}
	}
	return want
}

// isUnder reports whether a path is below one of some files.
func isUnder(files map[string]bool, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if files[dir] {
			return true
		}
	}
	return false
}

// TestPipesInCopy has pipes in the places of files.
func TestPipesInCopy(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newWorld(t, map[string]string{".gitattributes": "* text\n", "src/x": "0", "src/.gitattributes": "x -text\n"})
	w.trust()
	w.fill()
	for i, name := range []string{".gitattributes", "src/.gitattributes", "src/x"} {
		w.must(os.Remove(w.in(name)))
		w.makeFIFO(w.in(name))
		w.write("src/y", fmt.Sprint(i))
		w.fill()
		w.want(map[string]string{
			".gitattributes": "* text\n", "src/x": "0", "src/.gitattributes": "x -text\n", "src/y": fmt.Sprint(i),
		})
	}
}

// TestPipeMeanwhile has a pipe and a link in the places of files that were seen.
func TestPipeMeanwhile(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	all := map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "p.json": "{}", "q.json": `{"x":1}`}
	w := newFree(t, all)
	w.rule.Keys = func(name string) []string { return map[string][]string{"p.json": {"x"}}[name] }
	w.trust()
	for _, name := range []string{"a", "b", "c", "d", "p.json"} {
		w.write(name, "2")
	}
	entries := w.entries(nil)
	w.remove("a", "c")
	w.makeFIFO(w.at("a"))
	w.link("/etc/passwd", w.at("b"))
	w.remove("d")
	w.must(os.Mkdir(w.at("d"), 0o755))
	w.link("q.json", w.at("p.json"))
	l, err := w.Look(t.Context(), w.baseline, w.project, entries, w.rule, true)
	w.must(err)
	w.last = l
	w.wantLeft("a: "+unreadable, "b: "+unreadable, "c: "+unreadable, "d: "+unreadable, `p.json#x: "protect" names it`)
	_, err = w.Fill(t.Context(), l, w.contents(), Filled{})
	w.must(err)
	w.want(all)
}

// TestSwapped has folders that change places, with files that look as old and as long as those there: in the copy, and
// in the project.
func TestSwapped(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	files := map[string]string{"src/x": "0"}
	for i := range 20 { // some of them are written at one time
		files[fmt.Sprintf("src/real/%d", i)], files[fmt.Sprintf("src/fake/%d", i)] = "trusted", "planted"
		files[fmt.Sprintf("src/real/below/%d", i)], files[fmt.Sprintf("src/fake/below/%d", i)] = "trusted", "planted"
	}
	w := newWorld(t, files)
	same := time.Unix(1e9, 0)
	for name := range files {
		w.must(os.Chtimes(w.at(name), same, same))
	}
	w.settled = true
	w.trust()
	w.fill()
	w.want(files)
	swap := func(dir, a, b string) {
		w.must(os.Rename(filepath.Join(dir, a), filepath.Join(dir, "aside")))
		w.must(os.Rename(filepath.Join(dir, b), filepath.Join(dir, a)))
		w.must(os.Rename(filepath.Join(dir, "aside"), filepath.Join(dir, b)))
	}
	for i, pair := range [][2]string{{"src/real/below", "src/fake/below"}, {"src/real", "src/fake"}} {
		w.tick()
		swap(w.Copy, pair[0], pair[1])
		if i != 0 {
			w.write("src/x", fmt.Sprint(i))
			files["src/x"] = fmt.Sprint(i)
		}
		w.fill()
		w.want(files)
		swap(w.project, pair[0], pair[1])
		w.fill()
		w.want(w.has(w.project))
		swap(w.project, pair[0], pair[1])
		w.fill()
		w.want(files)
	}
}

// TestBothWays changes a file to and fro without a change of its size, as fast as it can.
func TestBothWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"src/x": "0"})
	w.trust()
	for i := range 20 {
		text := fmt.Sprint(i % 10)
		w.write("src/x", text)
		w.fill()
		w.want(map[string]string{"src/x": text})
		w.put(w.in("src/x"), "!")
	}
}

// TestWhole compares a copy of random bytes with the project.
func TestWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 50 {
		w.write(fmt.Sprintf("src/%d", i), string(bytes.Repeat([]byte{byte(i), 0, '\r', '\n', 0xff}, i*100)))
	}
	w.trust()
	w.fill()
	w.want(w.has(w.project))
	for i := range 50 {
		w.write(fmt.Sprintf("src/%d", i), string(bytes.Repeat([]byte{byte(i), 1, '\r', '\n', 0xff}, i*1000)))
	}
	w.fill()
	w.want(w.has(w.project))
}

// TestPrune bounds the store: what belongs to no baseline that is in use goes, and the rest is whole.
func TestPrune(t *testing.T) {
	age := pruneAfter
	pruneAfter = 0
	defer func() { pruneAfter = age }()
	w := newWorld(t, map[string]string{"src/a": "1", "Makefile": "all:", "old": "stays"})
	dir := filepath.Dir(w.Store)
	w.Store = filepath.Join(dir, "p[x]*", "proof")
	if runtime.GOOS == "windows" {
		w.Store = filepath.Join(dir, "p[x]", "proof")
	}
	beside := filepath.Join(dir, "px1", "proof", objectsFolder, "00", "other")
	w.put(beside, "another loop's")
	w.trust()
	objects := func() (count int) {
		w.Helper()
		for name := range w.has(w.Store) {
			isObject := strings.HasPrefix(name, objectsFolder) && strings.Count(name, "/") == 2
			if isObject || strings.HasPrefix(name, packPrefix) {
				count++
			}
		}
		return count
	}
	before := objects()
	for i := range 20 {
		w.write("src/a", fmt.Sprint("change ", i))
		w.write("Makefile", fmt.Sprint("bad: ", i))
		l := w.look()
		w.Prune(w.baseline.ID) // another process may do so meanwhile
		_, err := w.Fill(t.Context(), l, w.contents(), Filled{})
		w.must(err)
	}
	n := objects()
	if n > before+1 {
		t.Errorf("%d objects are left after 20 changes, of %d", n, before)
	}
	w.must(w.Reset())
	w.must(os.Remove(filepath.Join(w.Store, seenFile))) // it is no root of the baseline
	w.remove("old")
	w.put(filepath.Join(w.Store, objectsFolder, ".new-1"), "killed")
	w.put(filepath.Join(w.Store, objectsFolder, "00", ".new-00"), "killed")
	w.put(filepath.Join(w.Store, ".new-1-pack"), "killed")
	w.Prune(w.baseline.ID)
	w.fill()
	want := map[string]string{"src/a": "change 19", "Makefile": "all:", "old": "stays"}
	w.want(want)
	first := w.baseline.ID
	w.trust()
	pruneAfter = time.Hour
	w.put(filepath.Join(w.Store, objectsFolder, "00", "00"), "")
	w.Prune(w.baseline.ID)
	_, err := w.Baseline(first)
	if err != nil || objects() < 4 {
		t.Errorf("what is young goes: %v, %d", err, objects())
	}
	pruneAfter = 0
	w.Prune(first, w.baseline.ID)
	_, err = w.Baseline(first)
	w.must(err)
	w.Prune(w.baseline.ID)
	_, err = w.Baseline(first)
	if err == nil {
		t.Error("a baseline that nobody needs is left")
	}
	w.fill()
	w.want(map[string]string{"src/a": "change 19", "Makefile": "bad: 19"})
	for name := range w.has(w.Store) {
		if strings.Contains(name, ".new-") {
			t.Errorf("%s is left", name)
		}
	}
	_, err = os.Lstat(beside)
	w.must(err)
}

// TestKilledWrites has what killed processes leave of a file of ours: a part of it. It is no damage.
func TestKilledWrites(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"src/a": "first", "src/b": "stays"})
	w.trust()
	cut := func(path string) {
		text, err := os.ReadFile(path)
		w.must(err)
		w.put(path, string(text[:len(text)/2]))
	}
	cut(filepath.Join(w.Store, baselinePrefix+w.baseline.ID))
	w.trust()
	w.fill()
	w.write("src/a", "second")
	object := w.object(digest([]byte("second")))
	w.put(filepath.Join(filepath.Dir(object), newPrefix+filepath.Base(object)), "sec")
	w.fill()
	for range 3 {
		cut(filepath.Join(w.Store, seenFile))
		cut(filepath.Join(w.Store, copyFile))
		cut(filepath.Join(w.Store, copyOfFile))
		w.fill()
		w.want(map[string]string{"src/a": "second", "src/b": "stays"})
	}
	for name := range w.has(w.Store) {
		if strings.Contains(name, newPrefix) {
			t.Errorf("%s is left", name)
		}
	}
}

// TestNames has files whose names programs could take for flags. They were trusted, so their changes count.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"src/a": "1", "--index-info": "x", "-z": "x", "src/--add": "x"})
	w.trust()
	for i := range 2 {
		w.write("-z", fmt.Sprint(i))
		w.write("src/--add", fmt.Sprint(i))
		w.write("src/a", fmt.Sprint(i))
		w.fill()
		w.wantLeft("-z: not yours")
		w.want(map[string]string{"src/a": fmt.Sprint(i), "--index-info": "x", "-z": "x", "src/--add": fmt.Sprint(i)})
	}
	w.remove("src/--add", "--index-info")
	w.fill()
	w.want(map[string]string{"src/a": "1", "--index-info": "x", "-z": "x"})
}

// TestFiles lists the files that the copy has.
func TestFiles(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "", "a-b": "", "a.b": "", "d/x": "", "d/y/z": "", "d0": "", "protected": ""})
	w.trust()
	w.remove("a", "d", "protected")
	w.write("a/0", "")
	w.write("d", "")
	w.write("protected-not", "")
	var got []string
	for _, f := range w.look().want {
		got = append(got, f.Path)
	}
	want := []string{"a-b", "a.b", "a/0", "d", "d0", "protected"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTimes checks that what is as it was at trust has the time that it had then, whatever has happened to it, and the
// agent's files later ones, which stay.
func TestTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"report": "1", "src/a": "1", "src/b": "1", "src/z/c": "1", "z": "1", "src/gone": "1", ".gitignore": "made",
	})
	w.owning("made")
	w.must(os.Chtimes(w.at("src/b"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	w.must(os.Chtimes(w.at("src/gone"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	w.must(os.Chtimes(w.at("z"), time.Now(), time.Now().AddDate(1, 0, 0)))
	w.trust()
	trusted := map[string]time.Time{}
	note := func() {
		for name := range w.has(w.Copy) {
			info, err := os.Lstat(w.at(name))
			w.must(err)
			trusted[name] = info.ModTime()
			if info.ModTime().After(time.Now()) {
				trusted[name] = time.Time{} // the copy has that of trust
			}
		}
	}
	w.fill()
	note()
	touch := func(name string, at time.Time) { w.must(os.Chtimes(w.in(name), at, at)) }
	ancient, future := time.Unix(1e9, 0), time.Now().AddDate(70, 0, 0)
	agents := map[string]time.Time{} // as they were
	look := func(when string, changed ...string) {
		t.Helper()
		w.fill()
		of := map[string]time.Time{}
		for name := range w.has(w.Copy) {
			info, err := os.Lstat(w.in(name))
			w.must(err)
			of[name] = info.ModTime()
		}
		for name, at := range of {
			before, isAgents := agents[name]
			switch {
			case !isAgents && !at.Equal(trusted[name]) && !trusted[name].IsZero():
				t.Errorf("%s: %s is of %v, at trust of %v", when, name, at, trusted[name])
			case isAgents && (!at.After(of["report"]) || !at.After(of["z"])):
				t.Errorf("%s: %s is of %v, not after %v and %v", when, name, at, of["report"], of["z"])
			case isAgents && !before.Equal(at) && !slices.Contains(changed, name):
				t.Errorf("%s: %s is of %v, and was of %v", when, name, at, before)
			}
		}
		for name := range agents {
			agents[name] = of[name]
		}
	}
	work := func(name, text string) {
		w.write(name, text)
		agents[name] = time.Time{}
	}
	work("src/a", "2")
	work("src/z/new", "2")
	look("filled first", "src/a", "src/z/new")

	w.put(w.in("report"), "lies")
	look("a check wrote a trusted file")
	if runtime.GOOS == "windows" {
		return // a program can set all times there, and nobody sees that
	}

	touch("report", future)
	touch("src/a", ancient)
	look("a check set times", "src/a")

	touch("report", future)
	touch("src/a", ancient)
	w.put(w.in("src/z/left"), "") // so the folder has changed
	look("a check set times, and left a file", "src/a")

	w.must(os.Mkdir(w.in("copy"), 0o755))
	w.put(w.in("copy/c"), "1")
	w.put(w.in("copy/new"), "2")
	touch("copy/c", future)
	touch("copy/new", ancient)
	w.must(os.RemoveAll(w.in("src/z")))
	w.must(os.Rename(w.in("copy"), w.in("src/z")))
	look("a check replaced a folder", "src/z/new")

	w.must(os.Remove(w.in("report")))
	w.must(os.Link(w.in("src/b"), w.in("report"))) // which says the same
	w.put(w.in("src/z/left"), "")
	work("src/b", "2")
	look("a check made a hard link", "src/b")
	w.write("src/b", "1")
	look("the agent has put a file back", "src/b")
	w.put(w.in("src/z/left"), "")
	look("the agent has put a file back, and a check left one")
	w.put(w.in("src/b"), "lies")
	look("a check changed a file that was put back", "src/b")

	work("src/b", "2")
	look("changed", "src/b")
	w.remove("src/gone")
	look("a trusted file taken away")
	w.remove("src/b")
	look("taken away")
	w.put(w.in("src/z/left"), "")
	look("nothing new")
	work("src/b", "1")
	work("src/gone", "1")
	look("put back after it was away", "src/b", "src/gone")
	look("nothing new again")

	w.must(w.Reset())
	delete(agents, "src/b")
	delete(agents, "src/gone")
	trusted["src/b"], trusted["src/gone"] = ancient, ancient
	look("the copy was made again", "src/a", "src/z/new")

	w.put(w.in("made"), "")
	w.fill()
	_, has := w.has(w.Copy)["made"]
	if !has {
		t.Error("an output of the copy is gone")
	}
	w.trust()
	clear(agents)
	w.fill()
	_, has = w.has(w.Copy)["made"]
	if has {
		t.Error("what was made of what was trusted before stays")
	}
	note()
	work("src/a", "1")
	look("trusted again, then put back", "src/a")
}

// TestMake has make with outputs that are committed: it makes what is older than the agent's work, and nothing else.
func TestMake(t *testing.T) {
	needsLinks(t)
	_, err := exec.LookPath("make")
	if err != nil {
		t.Skip("needs make")
	}
	t.Parallel()
	const makefile = "all: one two out/three\n" +
		"one: one.in\n\tcp one.in one\ntwo: two.in\n\tcp two.in two\n" +
		"out/three: three.in\n\tmkdir -p out\n\tcp three.in out/three\n"
	w := newFree(t, map[string]string{".gitignore": "out\n", "one.in": "1", "two.in": "1", "three.in": "1"})
	w.owning("out")
	w.write("Makefile", makefile)
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"one.in", "two.in", "three.in"} {
		w.must(os.Chtimes(w.at(name), long, long))
	}
	w.write("one", "1")
	w.write("two", "1")
	w.trust()
	makes := func(want ...string) {
		t.Helper()
		w.tick() // an agent's work takes longer than that
		w.fill()
		cmd := exec.Command("make", "--no-print-directory")
		cmd.Dir = w.Copy
		out, err := cmd.CombinedOutput()
		w.must(err)
		for _, name := range []string{"one", "two", "three"} {
			is := strings.Contains(string(out), "cp "+name)
			if is != slices.Contains(want, name) {
				t.Errorf("%s is made: %v, want %v", name, is, want)
			}
		}
	}
	makes("three")
	makes()
	w.write("one.in", "2")
	w.write("three.in", "2")
	makes("one", "three")
	makes("one") // a check's version of a committed output does not stay
	w.write("one.in", "1")
	w.write("three.in", "1")
	makes("one", "three") // since the output in the copy is of the other text
	w.write("three.in", "2")
	makes("one", "three")
	w.remove("three.in")
	w.fill()
	w.write("three.in", "1")
	makes("one", "three")
}

// TestID checks that looks have one ID if checks find the same, and else another.
func TestID(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	files := map[string]string{
		"a": "1", "d/x": "1", "protected": "1", ".gitignore": "ignored\n", "p.json": `{"scripts":1}`,
	}
	start := func(t *testing.T) *world {
		w := newFree(t, files)
		w.rule.Keys = func(name string) []string { return map[string][]string{"p.json": {"scripts"}}[name] }
		w.link("a", w.at("l"))
		return w
	}
	w := start(t)
	w.trust()
	first := w.look().ID
	same := map[string]func(w *world){
		"nothing":          func(*world) {},
		"written again":    func(w *world) { w.write("a", "1") },
		"protected":        func(w *world) { w.write("protected", "2") },
		"protected, added": func(w *world) { w.write("d/protected", "2") },
		"ignored":          func(w *world) { w.write("ignored", "2") },
		"keys":             func(w *world) { w.write("p.json", `{"scripts":2}`) },
		"permissions":      func(w *world) { w.must(os.Chmod(w.at("a"), 0o600)) },
		"pipe": func(w *world) {
			w.remove("a")
			w.makeFIFO(w.at("a"))
		},
		"link out": func(w *world) { w.link("..", w.at("l")) },
		"time":     func(w *world) { w.must(os.Chtimes(w.at("a"), time.Unix(1e9, 0), time.Unix(1e9, 0))) },
	}
	other := map[string]func(w *world){
		"text":           func(w *world) { w.write("a", "2") },
		"added":          func(w *world) { w.write("n", "1") },
		"added empty":    func(w *world) { w.write("n", "") },
		"gone":           func(w *world) { w.remove("a") },
		"moved":          func(w *world) { w.must(os.Rename(w.at("a"), w.at("b"))) },
		"moved below":    func(w *world) { w.must(os.Rename(w.at("a"), w.at("d/a"))) },
		"program":        func(w *world) { w.must(os.Chmod(w.at("a"), 0o755)) },
		"link":           func(w *world) { w.link("d/x", w.at("a")) },
		"link to itself": func(w *world) { w.link("d", w.at("l")) },
		"link's text": func(w *world) {
			w.remove("l")
			w.write("l", "a")
		},
		"empty folder":  func(w *world) { w.must(os.Mkdir(w.at("n"), 0o755)) },
		"empty folders": func(w *world) { w.must(os.MkdirAll(w.at("n/m"), 0o755)) },
		"emptied":       func(w *world) { w.remove("d/x") },
		"folder gone":   func(w *world) { w.remove("d") },
		"other key":     func(w *world) { w.write("p.json", `{"scripts":1,"x":1}`) },
	}
	ids := map[string]string{first: "nothing"}
	for what, do := range same {
		w := start(t)
		if what == "nothing" {
			w.must(os.Chtimes(w.at("a"), time.Unix(1e9, 0), time.Unix(1e9, 0))) // another baseline of the same files
		}
		w.trust()
		do(w)
		id := w.look().ID
		if id != first {
			t.Errorf("%s has another ID", what)
		}
	}
	for what, do := range other {
		w := start(t)
		w.trust()
		do(w)
		id := w.look().ID
		if ids[id] != "" {
			t.Errorf("%s has the ID of %s", what, ids[id])
		}
		ids[id] = what
		now, err := w.Look(t.Context(), w.baseline, w.project, w.entries(nil), w.rule, false)
		w.must(err)
		if now.ID != id {
			t.Errorf("%s has another ID if nothing is kept", what)
		}
		w.trust() // what is trusted now was the agent's
		if w.look().ID != id {
			t.Errorf("%s has another ID if it is trusted", what)
		}
	}
}

// TestLookOnly looks without a trace.
func TestLookOnly(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", "protected": "1"})
	w.trust()
	w.write("protected", "2")
	w.fill()
	got := w.LastNotCounted(w.baseline.ID)
	if len(got) != 1 || got[0].Path != "protected" {
		t.Errorf("%v was told last", got)
	}
	got = w.LastNotCounted("another")
	if got != nil {
		t.Errorf("%v was told of another baseline", got)
	}
	w.write("a", "2")
	w.write("protected", "1")
	before := w.has(w.Store)
	l, err := w.Look(t.Context(), w.baseline, w.project, w.entries(nil), w.rule, false)
	w.must(err)
	if len(l.NotCounted) > 0 || !reflect.DeepEqual(before, w.has(w.Store)) {
		t.Errorf("%v; the store was %v, and is %v", l.NotCounted, before, w.has(w.Store))
	}
	w.fill()
	w.want(map[string]string{"a": "2", "protected": "1"})
	got = w.LastNotCounted(w.baseline.ID)
	if len(got) != 0 {
		t.Errorf("%v was told last", got)
	}
}

// TestDiffer compares two baselines.
func TestDiffer(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1", "f": "1"})
	w.trust()
	first := w.baseline
	w.write("a", "2")
	w.remove("b")
	w.link("a", w.at("c"))
	w.must(os.Chmod(w.at("d"), 0o755))
	w.write("e", "1")
	w.write("g", "1")
	w.trust()
	want := []string{"a", "b", "c", "d", "g"}
	got := first.Differ(w.baseline)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = w.baseline.Differ(first)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = first.Differ(first)
	if len(got) > 0 {
		t.Errorf("%q differ from themselves", got)
	}
}

// TestChangedSince finds what checks have changed, also where they have put it back.
func TestChangedSince(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", "free": "1", "d/x": "1", "d/e/y": "1", "f/free": "1", "f/z": "1"})
	w.link("a", w.at("l"))
	w.trust()
	free := func(name string) bool { return path.Base(name) == "free" }
	for what, c := range map[string]struct {
		do   func()
		want string
	}{
		"nothing": {do: func() {}},
		"free": {do: func() {
			w.put(w.in("free"), "2")
			w.put(w.in("f/free"), "2")
		}},
		"beside": {do: func() {
			w.put(w.in("f/new"), "2")
			w.put(w.in("new"), "2")
		}},
		"changed": {do: func() { w.put(w.in("a"), "2") }, want: "a"},
		"back": {do: func() {
			w.put(w.in("d/x"), "2")
			w.put(w.in("d/x"), "1")
			w.must(os.Chtimes(w.in("d/x"), time.Time{},
				time.Unix(1e9, 0)))
		}, want: "d/x"},
		"gone":         {do: func() { w.must(os.Remove(w.in("d/e/y"))) }, want: "d/e/y"},
		"another link": {do: func() { w.link("d", w.in("l")) }, want: "l"},
		"moved away and back": {do: func() {
			w.must(os.Rename(w.in("d"), w.in("o")))
			w.must(os.Rename(w.in("o"), w.in("d")))
		}, want: "d/"},
		"new in a folder": {do: func() { w.put(w.in("d/e/new"), "") }, want: "d/e/"},
	} {
		filled := w.filled()
		c.do()
		got := w.ChangedSince(filled, free)
		if got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
		filled.At = time.Time{}
		got = w.ChangedSince(filled, free)
		if got != "" {
			t.Errorf("%s: without a time %q", what, got)
		}
	}
}

// TestChangedMeanwhile changes a file of the copy between the look at it and the end of Fill.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1"})
	w.trust()
	filled := w.filled()
	w.put(w.in("a"), "2")
	filled.At = w.tick()
	got := w.ChangedSince(filled, func(string) bool { return false })
	if got != "a" {
		t.Errorf("got %q, want a", got)
	}
}

// TestForgedIndex has a command write the index of the copy between two fills of one process.
func TestForgedIndex(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "trusted"})
	w.trust()
	filled := w.filled()
	w.put(w.in("a"), "forged")
	info, err := os.Lstat(w.in("a"))
	w.must(err)
	forged := *filled.files[0]
	forged.Stamp = tree.StampOf(info)
	w.must(w.Place.write(copyFile, formatIndex(Index{&forged})))
	_, err = w.Fill(t.Context(), w.look(), w.contents(), filled)
	w.must(err)
	w.want(map[string]string{"a": "trusted"})
}

// TestMovedCopies has a command move the folder of the copies to where an agent can write.
func TestMovedCopies(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1"})
	w.trust()
	w.fill()
	copies, moved := filepath.Dir(w.Copy), w.at("moved")
	w.must(os.Rename(copies, moved))
	w.must(os.Symlink(moved, copies))
	w.fill()
	info, err := os.Lstat(copies)
	w.must(err)
	if !info.IsDir() {
		t.Errorf("%s is %v", copies, info.Mode())
	}
}

// TestSameDigest has two trees whose files and folders have the same words in the same order.
func TestSameDigest(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a/keep": "", "z": "last"})
	w.trust()
	file := w.look().ID
	w.remove("z")
	w.must(os.MkdirAll(w.at("z"), 0o755))
	w.must(os.MkdirAll(w.at("false644"+digest([]byte("last"))), 0o755))
	if w.look().ID == file {
		t.Error("a file and two folders have one digest")
	}
}

// TestSplitIndex has a repository whose index has another part in a file of its own.
func TestSplitIndex(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1"})
	w.git(w.project, "init", "-q")
	w.git(w.project, "add", ".")
	w.git(w.project, "commit", "-qm", "x")
	w.git(w.project, "update-index", "--split-index")
	w.trust()
	c := w.contents()
	c.Git = true
	_, err := w.Fill(t.Context(), w.look(), c, Filled{})
	w.must(err)
	w.git(w.Copy, "diff", "--quiet", "HEAD")
}

// TestFileOnce protects a folder that git ignores, and of which it tracks a file.
func TestFileOnce(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{".gitignore": "ignored/\n", "ignored/x": "1"})
	w.git(w.project, "init", "-q")
	w.git(w.project, "add", "-f", ".")
	w.rules = w.tree().IgnoreRules(t.Context())
	baseline, _, err := w.Trust(t.Context(), w.project, w.entries([]string{"ignored"}))
	w.must(err)
	_, err = w.Fill(t.Context(), baseline.AsTrusted(), Contents{Base: "."}, Filled{})
	w.must(err)
}

// TestGoneRepository has the project lose its repository. That of the copy goes, too.
func TestGoneRepository(t *testing.T) {
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1"})
	w.trust()
	c := w.contents()
	c.Git = true
	w.put(filepath.Join(w.Copy, gitFolder, "config"), "[core]\n\tfsmonitor = true\n")
	_, err := w.Fill(t.Context(), w.look(), c, Filled{})
	w.must(err)
	w.remove(".git")
	w.put(filepath.Join(w.Copy, gitFolder, "config"), "[core]\n\tfsmonitor = true\n")
	_, err = w.Fill(t.Context(), w.look(), c, Filled{})
	w.must(err)
	_, err = os.Lstat(w.in(gitFolder))
	if err == nil {
		t.Error("the repository of the copy is left")
	}
}

// TestPrepared keeps what commands have made, as long as it is as they made it.
func TestPrepared(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{".gitignore": "node_modules\nbuild\n", "lock": "1", "other": "1"})
	w.owning("build")
	w.trust()
	w.write("node_modules/agents/x", "1")
	all := map[string]string{".gitignore": "node_modules\nbuild\n", "lock": "1", "other": "1"}
	w.extra = nil
	w.fill()
	w.must(os.RemoveAll(w.in("node_modules"))) // the caller has it made by a command
	before := w.Hidden(t.Context(), w.contents())
	w.put(w.in("node_modules/made/x"), "1")
	inputs := map[string]string{"make": "1"}
	w.SetPrepared(t.Context(), w.contents(), inputs, before)
	done := w.Prepared()
	made := []string{"node_modules"}
	if !slices.Equal(done.Made, made) || !reflect.DeepEqual(done.Inputs, inputs) || !w.AsPrepared(done) {
		t.Errorf("%v was prepared", done)
	}
	all["node_modules/made/x"] = "1"
	for range 2 {
		w.fill()
		w.want(all)
	}
	w.put(w.in("node_modules/made/.cache/x"), "1")
	w.put(w.in("build/x"), "1")
	if !w.AsPrepared(w.Prepared()) {
		t.Error("a cache is no change")
	}
	for what, change := range map[string]func(){
		"new":     func() { w.put(w.in("node_modules/made/y"), "1") },
		"changed": func() { w.put(w.in("node_modules/made/x"), "2") },
		"gone":    func() { w.must(os.Remove(w.in("node_modules/made/x"))) },
		"folder":  func() { w.must(os.MkdirAll(w.in("node_modules/empty"), 0o755)) },
	} {
		w.put(w.in("node_modules/made/x"), "1")
		w.SetPrepared(t.Context(), w.contents(), inputs, append(before, "build"))
		w.tick()
		change()
		if w.AsPrepared(w.Prepared()) {
			t.Errorf("%s: it is not as it was made", what)
		}
	}
	w.must(w.Unprepare())
	w.must(w.Unprepare())
	w.fill()
	w.want(map[string]string{
		".gitignore": "node_modules\nbuild\n", "lock": "1", "other": "1", "build/x": "1",
		"node_modules/agents": "-> " + w.at("node_modules/agents"),
	})
	w.SetPrepared(t.Context(), w.contents(), inputs, before)
	w.must(w.Reset())
	got := w.Prepared()
	if got.Inputs != nil {
		t.Errorf("%v was prepared in a copy that is gone", got)
	}

	lock := func(name string) bool { return name == "lock" }
	first := w.look().Inputs(lock)
	w.write("other", "2")
	if w.look().Inputs(lock) != first {
		t.Error("another file changes the inputs")
	}
	for _, change := range []func(){
		func() { w.write("lock", "2") }, func() { w.remove("lock") }, func() { w.write("lock", "") },
		func() {
			w.write("lock", "1")
			w.must(os.Chmod(w.at("lock"), 0o755))
		},
	} {
		change()
		if w.look().Inputs(lock) == first {
			t.Error("the inputs are as they were")
		}
	}
}

// TestIgnoredAlone has git ignore all that is in a new folder of which no file counts.
func TestIgnoredAlone(t *testing.T) {
	needsLinks(t)
	t.Parallel()
	w := newFree(t, map[string]string{"a": "1", ".gitignore": "*.csv\n"})
	w.trust()
	w.write("protected/deep/x.csv", "2")
	w.write("protected/y", "2")
	w.fill()
	w.wantLeft("protected/: not yours")
	text, err := os.ReadFile(w.in("protected/deep/x.csv"))
	if err != nil || string(text) != "2" {
		t.Errorf("the copy has %q: %v", text, err)
	}
}
