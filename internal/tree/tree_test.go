package tree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

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
	if a, _ := (Tree{Dir: filepath.Join(t.TempDir(), "gone")}).Fingerprint(t.Context(), time.Time{}, nil); a == "" {
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
	look := func() string {
		print, _ := tree.Fingerprint(t.Context(), time.Time{}, nil)
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
		p.write("big.bin", "\x00\x01")
		p.run("add", "big.bin")
		last = look()
		p.write("big.bin", "\x00\x02")
		changes("an edit of a binary file", true)
		hostileConfiguration(p, filepath.Join(top, "pwned"), changes)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "new file"), past, past); err != nil {
		t.Fatal(err)
	}
	changes("the time of a file git does not track", true)
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

// TestContents checks which changes of a project change the hash of its contents and which
// do not.
func TestContents(t *testing.T) {
	for _, kind := range []string{"git", "no git"} {
		t.Run(kind, func(t *testing.T) { contents(t, kind == "git") })
	}
	dir := t.TempDir()
	if got := (Tree{Dir: dir, Except: dir}).Contents(t.Context()); got != "" {
		t.Errorf("a loop folder that is the project: %q", got)
	}
	if got := (Tree{Dir: filepath.Join(t.TempDir(), "none")}).Contents(t.Context()); got != "" {
		t.Errorf("a folder that is not there: %q", got)
	}
}

func contents(t *testing.T, git bool) {
	p := project{t: t, dir: t.TempDir(), git: git}
	path := func(name string) string { return filepath.Join(p.dir, name) }
	tree := Tree{Env: os.Environ(), Dir: p.dir, Except: path("loops"), List: path("list.json")}
	if git {
		tree.Top = p.dir
		p.run("init", "-q")
		p.write(".gitignore", "*.log\n")
	}
	if err := os.Mkdir(path("loops"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("a b é.go", "one")
	last := ""
	look := func(what string, other bool) {
		t.Helper()
		now := tree.Contents(t.Context())
		if now == "" || (now != last) != other {
			t.Errorf("after %s: %q, before %q", what, now, last)
		}
		last = now
	}
	look("the start", true)
	look("nothing", false)
	if git {
		p.run("add", "-A")
		p.run("commit", "-qm", "one")
		look("a commit", false)
		p.write("x.log", "ignored")
		look("an ignored file", false)
		p.write("loops/.gitignore", "*")
		look("a rule that is left out", false)
	}
	p.write("loops/state", "x")
	p.write("list.json", "x")
	look("files that are left out", false)
	if err := os.Chtimes(path("a b é.go"), time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	look("a touch", false)
	p.write("a b é.go", "two")
	look("an edit of the same size", true)
	p.write("new", "")
	look("a new file", true)
	p.write(".gitignore", "*.log\n*.txt\n")
	look("a rule", true)
	if err := os.Remove(path("a b é.go")); err != nil {
		t.Fatal(err)
	}
	look("a deletion", true)
	if err := os.Mkdir(path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	look("an empty folder", true)
	if runtime.GOOS != "windows" {
		outside := filepath.Join(t.TempDir(), "x")
		for name, to := range map[string]string{"link": "new", "out": outside, "circle": "circle"} {
			if err := os.Symlink(to, path(name)); err != nil {
				t.Fatal(err)
			}
			look("a link", true)
		}
		if err := os.WriteFile(outside, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		look("what a link leads to", true)
		if err := os.Chmod(path("new"), 0o755); err != nil {
			t.Fatal(err)
		}
		look("a mode", true)
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
