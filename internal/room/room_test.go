package room

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

func init() { gittest.Apart() }

// world is a project with a room in a test.
type world struct {
	*testing.T
	Room
	project string
	trusted string
	rules   map[string]string
	lent    map[string]string
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	w := &world{T: t, project: filepath.Join(dir, "project"), Room: Room{
		Git: filepath.Join(dir, "state", "room.git"), Dir: filepath.Join(dir, "cache", "rooms", "key", "project"),
		Env: os.Environ(),
	}}
	for name, text := range files {
		w.write(name, text)
	}
	return w
}

func (w *world) at(name string) string { return filepath.Join(w.project, name) }

func (w *world) write(name, text string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.at(name)), 0o755))
	w.must(os.WriteFile(w.at(name), []byte(text), 0o644))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) gitIn(dir string, args ...string) {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (w *world) tree() tree.Tree {
	return tree.Tree{Env: os.Environ(), Dir: w.project, Top: w.project, Rules: w.rules}
}

func (w *world) trust() {
	w.Helper()
	w.rules = nil
	w.rules = w.tree().IgnoreRules(w.Context())
	now, err := w.Snapshot(w.Context(), w.tree(), "", nil)
	w.must(err)
	w.trusted = now.Tree
}

// fill fills the room with what is trusted and the agent's changes below src, and returns what does not count.
func (w *world) fill() []Change {
	w.Helper()
	now, err := w.Snapshot(w.Context(), w.tree(), w.trusted, nil)
	w.must(err)
	rule := Rule{Name: "src", Why: func(e Edit) string {
		if strings.HasPrefix(e.Path, "src/") {
			return ""
		}
		return "not yours"
	}}
	for name := range w.lent {
		rule.Lent = append(rule.Lent, name)
	}
	proof, err := w.Prove(w.Context(), w.trusted, now.Tree, rule)
	w.must(err)
	_, err = w.Fill(w.Context(), Contents{Tree: proof.Tree, Trusted: w.trusted, Rules: w.rules, Base: ".",
		Lent: w.lent})
	w.must(err)
	return append(now.Left, proof.Left...)
}

// room returns what is in the room: texts of files, "-> " and the target of links, and "/" of empty folders.
func (w *world) room() map[string]string {
	w.Helper()
	all := map[string]string{}
	w.must(filepath.WalkDir(w.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(w.Dir, path)
		switch {
		case entry.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			all[name] = "-> " + to
		case entry.IsDir():
			if inside, _ := os.ReadDir(path); len(inside) == 0 {
				all[name] = "/"
			}
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
	got := w.room()
	for name, text := range want {
		if is, has := got[name]; !has || is != text {
			w.Errorf("the room has %q: %v %q, want %q", name, has, is, text)
		}
		delete(got, name)
	}
	for name := range got {
		w.Errorf("the room also has %q", name)
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
	w := newWorld(t, map[string]string{
		"Makefile": "test:\n", "src/a.go": "1", "src/b.go": "1", "tests/t.py": "1", "docs/x": "1", "lib": "1",
		".gitignore": "*.out\n/build/\n",
	})
	w.trust()
	if left := w.fill(); len(left) > 0 {
		t.Errorf("nothing has changed, and this does not count: %v", left)
	}
	w.write("Makefile", "test:\n\ttrue\n")
	w.write("src/a.go", "2")
	w.write("src/new/c.go", "1")
	w.write("test", "")
	w.write("tests/__init__.py", "")
	w.write("planted/deep/x", "")
	w.write("planted/y", "")
	w.write("src/x.out", "ignored")
	w.write(".gitignore", "*.go\n")
	w.must(os.RemoveAll(w.at("tests/t.py")))
	w.must(os.Remove(w.at("src/b.go")))
	w.must(os.RemoveAll(w.at("docs")))
	w.write("docs", "a file now")
	w.must(os.Remove(w.at("lib")))
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

	// What a check leaves: ignored files stay, all else is put back or goes.
	in := func(name string) string { return filepath.Join(w.Dir, name) }
	w.must(os.MkdirAll(in("build"), 0o755))
	w.must(os.WriteFile(in("build/out"), []byte("x"), 0o644))
	w.must(os.WriteFile(in("src/a.out"), []byte("x"), 0o644))
	w.must(os.MkdirAll(in("test/empty"), 0o755))
	w.must(os.MkdirAll(in("src/.git"), 0o755))
	w.must(os.WriteFile(in("src/.gitignore"), []byte("*"), 0o644))
	w.must(os.WriteFile(in("planted"), nil, 0o644))
	w.must(os.WriteFile(in("Makefile"), []byte("lies!\n"), 0o644))
	w.must(os.Remove(in("lib")))
	w.fill()
	all["build/out"], all["src/a.out"] = "x", "x"
	w.want(all)
	if runtime.GOOS != "windows" {
		w.must(os.Rename(in("docs"), w.at("../docs")))
		w.must(os.Symlink(w.at("../docs"), in("docs")))
		w.fill()
		delete(all, "build/out")
		delete(all, "src/a.out")
		w.want(all)
	}
	if runtime.GOOS != "windows" {
		w.must(os.Chmod(in("tests"), 0o555))
		w.must(os.Chmod(in("src"), 0o000))
		w.fill()
		w.want(w.room())
		if text, _ := os.ReadFile(in("src/a.go")); string(text) != "2" {
			t.Errorf("after a check closed a folder: %q", text)
		}
	}
	w.must(w.Reset())
	if _, err := os.Lstat(w.Dir); err == nil {
		t.Error("the room is still there")
	}
}

// TestOddNames takes names that few programs expect.
func TestOddNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such names")
	}
	files := map[string]string{
		"a\nb": "1", "tab\t\"quote\" 'x'": "2", " ": "3", strings.Repeat("n", 255): "4", "-rf": "5", ":(top)x": "6",
		"é": "7", "*": "8", "src/a\nb": "9", "deep/" + strings.Repeat("d/", 100) + "x": "10",
	}
	if runtime.GOOS == "linux" {
		files["not\xff\xfeutf8"] = "11"
		files["Case"], files["case"] = "12", "13"
	}
	w := newWorld(t, files)
	w.trust()
	if left := w.fill(); len(left) > 0 {
		t.Errorf("these do not count: %q", left)
	}
	w.want(files)
	w.write(`back\slash`, "x")
	w.write("git~1", "x")
	got := paths(w.fill())
	if !slices.Contains(got, `back\slash`) || !slices.Contains(got, "git~1") {
		t.Errorf("names that git does not take are not told: %q", got)
	}
	w.want(files)
}

// TestLinks refuses links out of the room, also by way of other links.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links")
	}
	w := newWorld(t, map[string]string{"src/x": "1", "a/b/c": "1"})
	w.must(os.Symlink("src", w.at("inside")))
	w.must(os.Symlink("/etc", w.at("trusted-out")))
	w.trust()
	links := map[string]string{
		"src/in": "../a/b", "src/nowhere": "missing", "src/abs": w.at("src"), "src/up": "../../x", "src/up2": "../..",
		"src/deep": "../a/b/../..", "src/hop": "deep/../x", "src/circle": "circle", "src/lent": "../node_modules/x",
		"src/lent-out": "../node_modules/../x", "src/dot": "./././x", "src/self": "..",
	}
	for name, to := range links {
		w.must(os.Symlink(to, w.at(name)))
	}
	w.must(os.MkdirAll(w.at("node_modules"), 0o755))
	w.lent = map[string]string{"node_modules": w.at("node_modules")}
	got := paths(w.fill())
	want := []string{
		"src/abs", "src/circle", "src/hop", "src/lent-out", "src/up", "src/up2", "trusted-out",
	}
	if !slices.Equal(got, want) {
		t.Errorf("refused %q, want %q", got, want)
	}
	w.want(map[string]string{
		"src/x": "1", "a/b/c": "1", "inside": "-> src", "src/in": "-> ../a/b", "src/nowhere": "-> missing",
		"src/deep": "-> ../a/b/../..", "src/lent": "-> ../node_modules/x", "src/dot": "-> ./././x", "src/self": "-> ..",
		"node_modules": "-> " + w.at("node_modules"),
	})
}

// TestProjectsGitHasNoSay gives the project a repository that would have git run programs and change files.
func TestProjectsGitHasNoSay(t *testing.T) {
	w := newWorld(t, map[string]string{"src/crlf.txt": "a\r\nb\r\n", "src/lf.txt": "a\nb\n", "src/id.txt": "$Id$\n"})
	pwned := w.at("../pwned")
	w.gitIn(w.project, "init", "-q")
	for _, one := range []string{"filter.own.clean", "filter.own.smudge", "core.fsmonitor", "core.sshCommand"} {
		w.gitIn(w.project, "config", one, "touch "+pwned+"; cat")
	}
	w.gitIn(w.project, "config", "core.autocrlf", "true")
	w.gitIn(w.project, "config", "core.worktree", t.TempDir())
	w.write(".gitattributes", "[attr]text filter=own\n"+
		"* text=auto eol=crlf filter=own ident working-tree-encoding=UTF-16\n*.txt text\n")
	w.write(".git/info/exclude", "src/\n")
	w.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch "+pwned+"\n")
	w.must(os.Chmod(w.at(".git/hooks/post-index-change"), 0o755))
	w.trust()
	w.write("src/.gitattributes", "* text eol=lf filter=own\n")
	w.write("src/new.txt", "x\r\ny\n$Id$\n")
	w.fill()
	got := w.room()
	for _, name := range []string{"src/crlf.txt", "src/lf.txt", "src/id.txt", "src/new.txt", "src/.gitattributes"} {
		text, err := os.ReadFile(w.at(name))
		w.must(err)
		if got[name] != string(text) {
			t.Errorf("%s is %q in the room, and %q in the project", name, got[name], text)
		}
	}
	if _, has := got[".git/config"]; has {
		t.Error("the room has the project's repository")
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("a program of the project's repository has run")
	}
}

// TestOddFiles takes repositories within the project as files, and names what is no file.
func TestOddFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"src/x": "1", "nested/y": "1"})
	w.gitIn(w.project, "init", "-q")
	w.gitIn(w.at("nested"), "init", "-q") // without a commit
	w.write("sub/z", "1")
	w.gitIn(w.at("sub"), "init", "-q")
	w.gitIn(w.at("sub"), "add", "z")
	w.gitIn(w.at("sub"), "commit", "-qm", "x")
	w.gitIn(w.project, "add", "sub") // a link to a commit
	w.write("run.sh", "#!/bin/sh\n")
	w.must(os.Chmod(w.at("run.sh"), 0o755))
	w.trust()
	all := map[string]string{"src/x": "1", "nested/y": "1", "sub/z": "1", "run.sh": "#!/bin/sh\n"}
	w.fill()
	w.want(all)
	if info, err := os.Stat(filepath.Join(w.Dir, "run.sh")); err != nil || runtime.GOOS != "windows" &&
		info.Mode()&0o100 == 0 {
		t.Errorf("run.sh: %v %v", info, err)
	}
	w.write("nested/planted", "1")
	w.write("sub/planted", "1")
	want := []string{"nested/planted", "sub/planted"}
	big, err := os.Create(w.at("src/huge"))
	w.must(err)
	w.must(big.Truncate(maxFile + 1)) // sparse
	w.must(big.Close())
	want = append(want, "src/huge")
	if runtime.GOOS != "windows" {
		makeFIFO(w, "src/fifo")
		want = append(want, "src/fifo")
		if os.Geteuid() != 0 {
			w.write("src/closed", "x")
			w.must(os.Chmod(w.at("src/closed"), 0))
			want = append(want, "src/closed")
		}
	}
	got := paths(w.fill())
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("these are not taken: %q, want %q", got, want)
	}
	w.want(all)
}

// TestKilled leaves what processes leave that are killed at any step.
func TestKilled(t *testing.T) {
	w := newWorld(t, map[string]string{"src/x": "1", "b": "1"})
	w.trust()
	w.fill()
	all := map[string]string{"src/x": "2", "b": "1"}
	damage := map[string]func(){
		"locks": func() {
			for _, name := range []string{"room.lock", "project.lock", "index.lock"} {
				w.must(os.WriteFile(filepath.Join(w.Git, name), nil, 0o600))
			}
		},
		"half an index": func() {
			for _, name := range []string{"room", "project"} {
				w.must(os.Truncate(filepath.Join(w.Git, name), 40))
			}
		},
		"no index":      func() { w.must(os.Remove(filepath.Join(w.Git, "room"))) },
		"half a proof":  func() { w.must(os.Truncate(filepath.Join(w.Git, "proof.json"), 10)) },
		"half a room":   func() { w.must(os.RemoveAll(filepath.Join(w.Dir, "src"))) },
		"an empty room": func() { w.must(os.RemoveAll(w.Dir)); w.must(os.Mkdir(w.Dir, 0o700)) },
		"a file":        func() { w.must(os.RemoveAll(w.Dir)); w.must(os.WriteFile(w.Dir, nil, 0o600)) },
		"half a repository": func() {
			w.must(os.Remove(filepath.Join(w.Git, "HEAD")))
			w.must(os.Truncate(filepath.Join(w.Git, "config"), 10))
		},
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

// TestKilledAtAnyTime kills a process while it takes a snapshot of a changing project and fills the room. The next one
// finds all in order.
func TestKilledAtAnyTime(t *testing.T) {
	const dir = "TEST_ROOM_DIR"
	at := os.Getenv(dir)
	if at == "" {
		at = t.TempDir()
	}
	w := &world{T: t, project: filepath.Join(at, "project"), rules: map[string]string{}, Room: Room{
		Git: filepath.Join(at, "room.git"), Dir: filepath.Join(at, "room"), Env: os.Environ(),
	}}
	if os.Getenv(dir) != "" {
		id, err := os.ReadFile(filepath.Join(at, "trusted"))
		w.must(err)
		for w.trusted = string(id); ; {
			for i := range 300 {
				w.write(fmt.Sprintf("src/%d/%d", i%7, i), time.Now().String())
			}
			w.fill()
		}
	}
	if _, err := exec.LookPath("git"); err != nil || testing.Short() {
		t.Skip("needs git, and some seconds")
	}
	w.write("Makefile", "all:\n")
	w.trust()
	w.must(os.WriteFile(filepath.Join(at, "trusted"), []byte(w.trusted), 0o600))
	for i := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=TestKilledAtAnyTime$")
		cmd.Env = append(os.Environ(), dir+"="+at)
		w.must(cmd.Start())
		time.Sleep(time.Duration(60+37*i) * time.Millisecond)
		w.must(cmd.Process.Kill())
		_ = cmd.Wait()
		time.Sleep(300 * time.Millisecond) // its git may still run
		w.write("Makefile", "all: planted\n")
		w.write("src/last", fmt.Sprint(i))
		w.fill()
		got := w.room()
		if got["Makefile"] != "all:\n" || got["src/last"] != fmt.Sprint(i) {
			t.Errorf("after %d: %q, %q", i, got["Makefile"], got["src/last"])
		}
		for name, text := range got {
			if is, err := os.ReadFile(w.at(name)); name != "Makefile" && (err != nil || string(is) != text) {
				t.Errorf("after %d: %s is %q in the room and %q in the project: %v", i, name, text, is, err)
			}
		}
	}
}

// TestAnyEdits changes the project and the room at random: files become folders and links, and back. After each filling
// the room has what the project has.
func TestAnyEdits(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links")
	}
	w := newWorld(t, map[string]string{"src/a": "0", "src/b/c": "0", "keep": "0"})
	w.trust()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	edit := func(dir string, i int) {
		name := filepath.Join(dir, "src")
		for range 1 + random.IntN(3) {
			name = filepath.Join(name, string(rune('a'+random.IntN(4))))
		}
		for at := filepath.Dir(name); at != dir; at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && !info.IsDir() {
				w.must(os.Remove(at))
			}
		}
		w.must(os.RemoveAll(name))
		w.must(os.MkdirAll(filepath.Dir(name), 0o755))
		switch random.IntN(5) {
		case 0, 1:
			w.must(os.WriteFile(name, fmt.Append(nil, i%10), 0o644))
		case 2:
			w.must(os.Symlink("nothing", name))
		case 3:
			w.must(os.MkdirAll(name, 0o755))
		}
	}
	for i := range 60 {
		for range random.IntN(4) {
			edit(w.project, i)
		}
		for range random.IntN(3) {
			edit(w.Dir, i)
		}
		w.fill()
		want := map[string]string{}
		project := *w
		project.Dir = w.project
		for name, text := range project.room() {
			if text != "/" { // git has no folders without files
				want[name] = text
			}
		}
		w.want(want)
		if t.Failed() {
			t.Fatalf("after %d edits", i)
		}
	}
}

// TestPipesInRoom has pipes in the places of files, at which git would wait for ever.
func TestPipesInRoom(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs pipes")
	}
	w := newWorld(t, map[string]string{".gitattributes": "* text\n", "src/x": "0", "src/.gitattributes": "x -text\n"})
	w.trust()
	w.fill()
	room := *w
	room.project = w.Dir
	for i, name := range []string{".gitattributes", "src/.gitattributes", "src/x"} {
		w.must(os.Remove(filepath.Join(w.Dir, name)))
		makeFIFO(&room, name)
		w.write("src/y", fmt.Sprint(i))
		w.fill()
		w.want(map[string]string{
			".gitattributes": "* text\n", "src/x": "0", "src/.gitattributes": "x -text\n", "src/y": fmt.Sprint(i),
		})
	}
}

// TestSwapped has checks that put another folder in the place of one, with files that look as old as those there.
func TestSwapped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such names")
	}
	files := map[string]string{
		"src/real/test": "trusted", "src/real/below/test": "trusted", "src/x": "0", ":x": "trusted",
	}
	w := newWorld(t, files)
	w.trust()
	w.write("src/fake/test", "planted")
	w.write("src/fake/below/test", "planted")
	files["src/fake/test"], files["src/fake/below/test"] = "planted", "planted"
	w.fill()
	swap := func(a, b string) {
		w.must(os.Rename(filepath.Join(w.Dir, a), filepath.Join(w.Dir, "aside")))
		w.must(os.Rename(filepath.Join(w.Dir, b), filepath.Join(w.Dir, a)))
		w.must(os.Rename(filepath.Join(w.Dir, "aside"), filepath.Join(w.Dir, b)))
	}
	for i := range 4 {
		switch i {
		case 0: // a name that git could take for a pattern
			w.must(os.WriteFile(filepath.Join(w.Dir, ":x"), []byte("planted"), 0o644))
		case 1:
			swap("src/real/below", "src/fake/below")
		default:
			swap("src/real", "src/fake")
		}
		if i != 2 {
			w.write("src/x", fmt.Sprint(i))
			files["src/x"] = fmt.Sprint(i)
		}
		w.fill()
		w.want(files)
	}
}

// TestBothWays changes a file to and fro without a change of its size, as fast as it can.
func TestBothWays(t *testing.T) {
	w := newWorld(t, map[string]string{"src/x": "0"})
	w.trust()
	for i := range 20 {
		text := fmt.Sprint(i % 10)
		w.write("src/x", text)
		w.fill()
		w.want(map[string]string{"src/x": text})
		w.must(os.WriteFile(filepath.Join(w.Dir, "src/x"), []byte("!"), 0o644))
	}
}

// TestWhole compares a room of random bytes with the project.
func TestWhole(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 50 {
		w.write(fmt.Sprintf("src/%d", i), string(bytes.Repeat([]byte{byte(i), 0, '\r', '\n', 0xff}, i*100)))
	}
	w.trust()
	w.fill()
	for name, text := range w.room() {
		if want, _ := os.ReadFile(w.at(name)); string(want) != text {
			t.Errorf("%s differs", name)
		}
	}
}

// TestPrune bounds the repository: what belongs to no tree that is in use goes, and the rest is whole.
func TestPrune(t *testing.T) {
	age, most := pruneAfter, mostObjects
	pruneAfter, mostObjects = "now", -1
	defer func() { pruneAfter, mostObjects = age, most }()
	w := newWorld(t, map[string]string{"src/a": "1", "Makefile": "all:", "old": "stays"})
	w.trust()
	objects := func() (count int) {
		_ = filepath.WalkDir(filepath.Join(w.Git, "objects"), func(_ string, e fs.DirEntry, _ error) error {
			if e != nil && e.Type().IsRegular() {
				count++
			}
			return nil
		})
		return count
	}
	for i := range 20 {
		w.write("src/a", fmt.Sprint("change ", i))
		w.write("Makefile", fmt.Sprint("bad: ", i))
		w.fill()
	}
	if n := objects(); n > 40 {
		t.Errorf("%d objects are left after 20 changes", n)
	}
	w.must(w.Reset())
	w.must(os.RemoveAll(filepath.Join(w.Git, "project"))) // its index is no root of the trusted tree
	w.must(os.Remove(w.at("old")))
	w.fill()
	got := w.room()
	if got["src/a"] != "change 19" || got["Makefile"] != "all:" || got["old"] != "stays" {
		t.Errorf("the room has %v", got)
	}
}

// TestNames has files whose names git could take for flags, and one that it does not take.
func TestNames(t *testing.T) {
	w := newWorld(t, map[string]string{"src/a": "1", "--index-info": "x", "-z": "x", "src/--add": "x"})
	w.trust()
	for i := range 2 {
		w.write("-z", fmt.Sprint(i))
		w.write("src/--add", fmt.Sprint(i))
		w.write("src/a", fmt.Sprint(i))
		if left := w.fill(); len(left) != 1 || left[0].Path != "-z" {
			t.Errorf("%v does not count", left)
		}
		if got := w.room(); got["-z"] != "x" || got["src/--add"] != fmt.Sprint(i) || got["--index-info"] != "x" {
			t.Errorf("the room has %v", got)
		}
	}
	w.must(os.Remove(w.at("src/--add")))
	w.must(os.Remove(w.at("--index-info")))
	w.fill()
	if got := w.room(); got["src/--add"] != "" || got["--index-info"] != "x" {
		t.Errorf("the room has %v", got)
	}
}

// TestDamaged has a snapshot that was killed between its index and its list: the next one takes all files anew.
func TestDamaged(t *testing.T) {
	w := newWorld(t, map[string]string{"src/a": "1", "src/b": "2"})
	w.trust()
	for _, damage := range []func() error{
		func() error { return os.Remove(filepath.Join(w.Git, "project.list")) },
		func() error { return os.Truncate(filepath.Join(w.Git, "project.list"), 20) },
		func() error { return os.WriteFile(filepath.Join(w.Git, "project"), []byte("DIRC"), 0o600) },
		func() error { return os.WriteFile(filepath.Join(w.Git, "files"), []byte(w.trusted+"\x00src/a"), 0o600) },
	} {
		w.must(damage())
		w.must(os.Remove(w.at("src/b")))
		w.write("src/c", "3")
		w.fill()
		if got := w.room(); got["src/a"] != "1" || got["src/b"] != "" || got["src/c"] != "3" {
			t.Errorf("the room has %v", got)
		}
		w.write("src/b", "2")
		w.fill()
	}
}

// The files of a tree are those that git lists, in its order, also where they were kept.
func TestFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "", "a-b": "", "a.b": "", "d/x": "", "d/y/z": "", "d0": "", "e": ""})
	put := func(names ...string) { // also in the place of a folder or a file
		top, _, _ := strings.Cut(names[0], "/")
		w.must(os.RemoveAll(w.at(top)))
		for _, name := range names {
			w.write(name, "")
		}
	}
	steps := []func(){
		func() {},
		func() { w.must(os.Remove(w.at("d0"))) },
		func() { w.write("e", "changed") },
		func() { put("a/0", "a/-") },
		func() { put("d") },
		func() { put("a") },
		func() { put("d/x/y", "0") },
	}
	for i, step := range steps {
		step()
		now, err := w.Snapshot(t.Context(), w.tree(), "", nil)
		w.must(err)
		out, err := w.git(t.Context(), w.Git, filled, nil, "ls-tree", "-r", "-z", "--name-only", now.Tree)
		w.must(err)
		for range 2 {
			files, err := w.Files(t.Context(), now.Tree)
			w.must(err)
			if !slices.Equal(files, proc.GitTexts(out)) {
				t.Errorf("step %d: %q, want %q", i, files, proc.GitTexts(out))
			}
		}
	}
}

// TestLinksOfAgent checks which links are said to lead to a file that the agent has written.
func TestLinksOfAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"report": "1", "src/d/test": "1", "src/a": "1", "src/changed": "1", "lib/sub/a": "1", "lib/b": "1",
	})
	w.must(os.Symlink("../lib/sub", w.at("src/k")))
	w.trust()
	w.write("src/changed", "2")
	w.write("src/new", "2")
	w.write("lib/b", "2") // which does not count
	w.must(os.RemoveAll(w.at("src/d")))
	w.write("src/d", "2") // neither, since the test stays
	for name, to := range map[string]string{
		"1": "changed", "2": "new", "3": "../src/new", "n1": "a", "n2": "../report", "n3": "../lib/b", "n4": "d",
		"n5": "k/../new", "n6": ".", "n7": "missing", "n8": "/src/new", "n9": "1",
	} {
		w.must(os.Symlink(to, w.at("src/"+name)))
	}
	now, err := w.Snapshot(w.Context(), w.tree(), w.trusted, nil)
	w.must(err)
	var leads []string
	_, err = w.Prove(w.Context(), w.trusted, now.Tree, Rule{Name: "x", Why: func(e Edit) string {
		name := path.Base(e.Path)
		if len(name) < 3 && e.mode == linkMode && !e.Stray {
			leads = append(leads, name)
		}
		if !strings.HasPrefix(e.Path, "src/") || e.Path == "src/d/test" {
			return "not yours"
		}
		return ""
	}})
	w.must(err)
	slices.Sort(leads)
	if want := []string{"1", "2", "3"}; !slices.Equal(leads, want) {
		t.Errorf("these lead to the agent's files: %q, want %q", leads, want)
	}
}

// TestTimes checks that what is as it was at trust has the time that it had then, whatever has happened to it, and the
// agent's files later ones, which stay.
func TestTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"report": "1", "src/a": "1", "src/b": "1", "src/z/c": "1", "z": "1"})
	w.must(os.Chtimes(w.at("src/b"), time.Unix(1e9, 0), time.Unix(1e9, 0)))
	w.must(os.Chtimes(w.at("z"), time.Now(), time.Now().AddDate(1, 0, 0)))
	w.trust()
	trusted := map[string]time.Time{}
	note := func() {
		for name := range w.room() {
			info, err := os.Lstat(w.at(name))
			w.must(err)
			trusted[name] = info.ModTime()
			if info.ModTime().After(time.Now()) {
				trusted[name] = time.Time{} // the room has that of trust
			}
		}
	}
	w.fill()
	note()
	in := func(name string) string { return filepath.Join(w.Dir, filepath.FromSlash(name)) }
	touch := func(name string, at time.Time) { w.must(os.Chtimes(in(name), at, at)) }
	ancient, future := time.Unix(1e9, 0), time.Now().AddDate(70, 0, 0)
	agents := map[string]time.Time{} // as they were
	look := func(when string, changed ...string) {
		t.Helper()
		w.fill()
		of := map[string]time.Time{}
		for name := range w.room() {
			info, err := os.Lstat(in(name))
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

	w.must(os.WriteFile(in("report"), []byte("lies"), 0o644))
	look("a check wrote a trusted file")

	touch("report", future)
	touch("src/a", ancient)
	look("a check set times", "src/a")

	touch("report", future)
	touch("src/a", ancient)
	w.must(os.WriteFile(in("src/z/left"), nil, 0o644)) // so the folder has changed
	look("a check set times, and left a file", "src/a", "src/z/new")

	w.must(os.Mkdir(in("copy"), 0o755))
	w.must(os.WriteFile(in("copy/c"), []byte("1"), 0o644))
	w.must(os.WriteFile(in("copy/new"), []byte("2"), 0o644))
	touch("copy/c", future)
	touch("copy/new", ancient)
	w.must(os.RemoveAll(in("src/z")))
	w.must(os.Rename(in("copy"), in("src/z")))
	look("a check replaced a folder", "src/z/new")

	w.must(os.Remove(in("report")))
	w.must(os.Link(in("src/b"), in("report"))) // which says the same
	w.must(os.WriteFile(in("src/z/left"), nil, 0o644))
	work("src/b", "2")
	look("a check made a hard link", "src/a", "src/z/new", "src/b")
	w.write("src/b", "1")
	look("the agent has put a file back", "src/b")
	w.must(os.WriteFile(in("src/z/left"), nil, 0o644))
	look("the agent has put a file back, and a check left one", "src/b", "src/z/new")

	w.must(w.Reset())
	delete(agents, "src/b")
	look("the room was made anew", "src/a", "src/z/new")

	w.must(os.WriteFile(w.at(".gitignore"), []byte("made"), 0o644))
	w.trust()
	clear(agents)
	w.must(os.WriteFile(in("made"), nil, 0o644))
	w.fill()
	if _, has := w.room()["made"]; has {
		t.Error("what was made of what was trusted before stays")
	}
	note()
	work("src/a", "1")
	look("trusted anew, then put back", "src/a")
}

// TestClockSetBack has a room made anew whose files are newer than the time.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a": "1", ".gitignore": "made"})
	w.trust()
	w.fill()
	w.must(os.WriteFile(filepath.Join(w.Dir, "made"), nil, 0o644))
	w.fill()
	if w.room()["made"] != "" || len(w.room()) != 3 {
		t.Errorf("what git ignores does not stay: %v", w.room())
	}
	var last lastFill
	w.read("filled.json", &last)
	last.At = last.At.Add(time.Hour)
	w.Room.write("filled.json", last)
	w.fill()
	if _, has := w.room()["made"]; has {
		t.Error("what was made at a later time stays")
	}
}
