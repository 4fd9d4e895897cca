package tree

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
)

func init() { gittest.Isolate() }

// project is a project in a test, in a repository or without one.
type project struct {
	t   *testing.T
	dir string
	git bool
}

// write writes a file of the project.
func (p project) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// run runs git in the project. Without a repository it does nothing.
func (p project) run(args ...string) {
	p.t.Helper()
	if !p.git {
		return
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestFingerprint checks which changes of a project change its fingerprint and which do
// not, in a repository and without one.
func TestFingerprint(t *testing.T) {
	for _, kind := range []string{"git", "git without a commit", "git below the top", "no git"} {
		t.Run(kind, func(t *testing.T) { fingerprint(t, kind) })
	}
	gone := Tree{Dir: filepath.Join(t.TempDir(), "gone")}
	if print, _, _ := gone.Fingerprint(t.Context(), time.Time{}, nil, nil); print == "" {
		t.Error("a missing folder has no fingerprint")
	}
}

func fingerprint(t *testing.T, kind string) {
	top := t.TempDir()
	dir, repo := top, top
	if kind == "git below the top" {
		dir = filepath.Join(top, "sub dir")
	}
	if kind == "no git" {
		repo = ""
	}
	p := project{t: t, dir: dir, git: kind != "no git"}
	tree := Tree{Env: os.Environ(), Dir: dir, Top: repo, Except: filepath.Join(dir, ".claude", "data", "ralph-loops")}
	p.write("main.go", "package main\n")
	p.write(".claude/data/ralph-loops/x/progress.txt", "Iteration: 1\n")
	p.run("init", "-q", top)
	if kind != "git without a commit" {
		p.run("add", ".")
		p.run("commit", "-qm", "one")
	}
	var index []byte
	look := func() string {
		t.Helper()
		whole, _, _ := tree.Fingerprint(t.Context(), time.Time{}, nil, nil)
		print, _, now := tree.Fingerprint(t.Context(), time.Time{}, nil, index)
		if print != whole {
			t.Errorf("with an index the fingerprint is %s, without one %s", print, whole)
		}
		if now != nil {
			index = now
		}
		return print
	}
	last := look()
	changes := func(what string, want bool) {
		t.Helper()
		now := look()
		if now != look() {
			t.Fatalf("%s: two looks at the same tree differ", what)
		}
		if (now != last) != want {
			t.Errorf("%s: changed is %v, want %v", what, now != last, want)
		}
		last = now
	}
	changes("nothing", false)
	p.write(".claude/data/ralph-loops/x/progress.txt", "Iteration: 2, and a note\n")
	changes("the loop's own files", false)
	p.write("main.go", "package main // edited\n")
	changes("an edit", true)
	p.write("new file", "a")
	changes("a new file", true)
	p.write("new file", "ab")
	changes("a new file that grows", true)
	if p.git {
		p.run("add", "main.go")
		changes("staging", true)
		p.run("commit", "-qm", "two")
		changes("a commit", true)
		p.run("commit", "-q", "--allow-empty", "-m", "again")
		p.run("commit", "-q", "--amend", "--allow-empty", "-m", "other words")
		changes("a commit that changes nothing", false)
		p.write("big.bin", "\x00\x01")
		p.run("add", "big.bin")
		last = look()
		p.write("big.bin", "\x00\x02")
		changes("an edit of a binary file", true)
		hostileConfiguration(p, filepath.Join(top, "pwned"), changes)
	}
	p.write("new file", "ac")
	changes("an edit of the same size", true)
	p.write("new file", "ac")
	changes("the same bytes again", false)
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "new file"), past, past); err != nil {
		t.Fatal(err)
	}
	changes("the time of a file git does not track", false)
	if runtime.GOOS == "windows" {
		return
	}
	for i, to := range []string{"new file", "new file", "nowhere"} {
		link := filepath.Join(dir, "link")
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		changes("a link to "+to, i != 1)
	}
	for i, mode := range []os.FileMode{0o600, 0o700, 0o755} {
		if err := os.Chmod(filepath.Join(dir, "new file"), mode); err != nil {
			t.Fatal(err)
		}
		changes(mode.String(), i == 1)
	}
	p.write("new file", "ad")
	if err := os.Chtimes(filepath.Join(dir, "new file"), past, past); err != nil {
		t.Fatal(err)
	}
	changes("an edit that keeps size and time", true)
}

// hostileConfiguration gives the repository a configuration whose programs would create
// the file pwned. No look at the tree may run them.
func hostileConfiguration(p project, pwned string, changes func(what string, want bool)) {
	p.run("config", "core.fsmonitor", "touch "+pwned)
	p.run("config", "diff.external", "touch "+pwned)
	p.run("config", "filter.own.clean", "touch "+pwned+"; cat")
	p.run("config", "core.worktree", p.t.TempDir())
	p.write(".gitattributes", "* filter=own\n")
	p.write("main.go", "package main // editeD\n")
	changes("a filter", true)
	changes("configuration that names programs, and another work tree", false)
	if _, err := os.Stat(pwned); err == nil {
		p.t.Error("git ran a program of the repository's configuration")
	}
}

// TestIndex looks at a tree with the index of an earlier look. Files that are not read in time count by size and time.
// A text that is no index, and that of another tree, are of no use.
func TestIndex(t *testing.T) {
	p := project{t: t, dir: t.TempDir()}
	p.write("old", "a")
	p.write("sub/new", "b")
	past := time.Now().Add(-time.Hour)
	tree := Tree{Dir: p.dir}
	files := func() []Entry {
		found, err := tree.walk(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found.root.Close()
		return found.list
	}
	print, other, index := tree.look(t.Context(), files(), nil)
	if len(other) != 2 || index == nil {
		t.Errorf("at first %v say something new", other)
	}
	for _, text := range []string{
		"", "x", "x\x00\x00\x00", strings.Repeat("\x00", 100), p.dir + "\x00\x00\x00a\x00",
		strings.Replace(string(index), p.dir, p.dir+"x", 1),
	} {
		if got, _, _ := tree.look(t.Context(), files(), []byte(text)); got != print {
			t.Errorf("with the index %q the print is another one", text)
		}
	}
	again, other, index := tree.look(t.Context(), files(), index)
	if again != print || len(other) > 0 || index == nil {
		t.Errorf("new files have to be read again: %q, %v, %q", again, other, index)
	}
	settled := bytes.ReplaceAll(index, []byte("~"), nil) // as if all files had been old
	long := readTime
	defer func() { readTime = long }()
	readTime = 0
	if got, other, _ := tree.look(t.Context(), files(), settled); got != print || len(other) > 0 {
		t.Errorf("files that have not changed were read: %q, %v", got, other)
	}
	if err := os.Chtimes(filepath.Join(p.dir, "old"), past, past); err != nil {
		t.Fatal(err)
	}
	late, other, index := tree.look(t.Context(), files(), settled)
	readTime = long
	if late == print || !maps.Equal(other, map[string]bool{"old": true}) {
		t.Errorf("without time to read, what was touched has not changed: %v", other)
	}
	if got, other, _ := tree.look(t.Context(), files(), index); got != late || len(other) > 0 {
		t.Errorf("what was not read in time has changed later: %v", other)
	}
}

// TestStamp replaces a file and restores its content and times. The stamp must change.
func TestStamp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows a program can set the time back")
	}
	dir := t.TempDir()
	path, aside := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	swap := map[string]func() error{
		"renamed": func() error { return errors.Join(os.Rename(path, aside), os.Rename(aside, path)) },
		"rewritten": func() error {
			return errors.Join(os.WriteFile(path, []byte("x"), 0o644),
				os.Chtimes(path, at, at))
		},
	}
	for how, swap := range swap {
		before := Stamp(path)
		time.Sleep(50 * time.Millisecond) // longer than a tick of a file system's clock
		if now := Stamp(path); now != before {
			t.Errorf("the stamp of an untouched file changed from %q to %q", before, now)
		}
		if err := swap(); err != nil {
			t.Fatal(err)
		}
		if Stamp(path) == before {
			t.Errorf("%s: not noticed", how)
		}
	}
	if Stamp(aside) != "" {
		t.Error("a file that is not there has a stamp")
	}
}
