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

// TestFingerprint goes through what an agent may do and what must not count,
// in a repository and without one.
func TestFingerprint(t *testing.T) {
	for _, kind := range []string{"git", "git without a commit", "git below the top", "no git"} {
		t.Run(kind, func(t *testing.T) {
			top := t.TempDir()
			dir := top
			if kind == "git below the top" {
				dir = filepath.Join(top, "sub dir")
			}
			loop := filepath.Join(dir, ".claude", "data", "ralph-loops")
			write := func(name, text string) {
				t.Helper()
				name = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			run := func(args ...string) {
				t.Helper()
				if kind == "no git" {
					return
				}
				cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			write("main.go", "package main\n")
			write(".claude/data/ralph-loops/x/progress.txt", "Iteration: 1\n")
			run("init", "-q", top)
			if kind != "git without a commit" {
				run("add", ".")
				run("commit", "-qm", "one")
			}
			repo := top
			if kind == "no git" {
				repo = ""
			}
			print := func() string {
				return Tree{Env: os.Environ(), Dir: dir, Top: repo, Except: loop}.Fingerprint(t.Context())
			}
			last := print()
			changes := func(what string, want bool) {
				t.Helper()
				now := print()
				if now != print() {
					t.Fatalf("%s: two looks at the same tree differ", what)
				}
				if (now != last) != want {
					t.Errorf("%s: changed is %v, want %v", what, now != last, want)
				}
				last = now
			}
			changes("nothing", false)
			write(".claude/data/ralph-loops/x/progress.txt", "Iteration: 2, and a note\n")
			changes("the loop's own files", false)
			write("main.go", "package main // edited\n")
			changes("an edit", true)
			write("new file", "a")
			changes("a new file", true)
			write("new file", "ab")
			changes("a new file that grows", true)
			if kind != "no git" {
				run("add", "main.go")
				changes("staging", true)
				run("commit", "-qm", "two")
				changes("a commit", true)
				write("big.bin", "\x00\x01")
				run("add", "big.bin")
				last = print()
				write("big.bin", "\x00\x02")
				changes("an edit of a binary file", true)
				// A hostile configuration must not be run.
				run("config", "core.fsmonitor", "touch "+filepath.Join(top, "pwned"))
				run("config", "diff.external", "touch "+filepath.Join(top, "pwned"))
				run("config", "filter.own.clean", "touch "+filepath.Join(top, "pwned")+"; cat")
				run("config", "core.worktree", t.TempDir())
				write(".gitattributes", "* filter=own\n")
				write("main.go", "package main // editeD\n")
				changes("a filter", true)
				changes("configuration that names programs, and another work tree", false)
				if _, err := os.Stat(filepath.Join(top, "pwned")); err == nil {
					t.Error("git ran a program of the repository's configuration")
				}
			}
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(dir, "new file"), past, past); err != nil {
				t.Fatal(err)
			}
			changes("the time of a file git does not track", true)
		})
	}
	if a := (Tree{Dir: filepath.Join(t.TempDir(), "gone")}).Fingerprint(t.Context()); a == "" {
		t.Error("a missing folder has no fingerprint")
	}
}

// TestContents goes through what makes contents others, and what does not.
func TestContents(t *testing.T) {
	for _, kind := range []string{"git", "no git"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			run := func(args ...string) {
				t.Helper()
				cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
			}
			write := func(name, text string) {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			top := ""
			if kind == "git" {
				top = dir
				run("init", "-q")
				write(".gitignore", "*.log\n")
			}
			if err := os.Mkdir(filepath.Join(dir, "loops"), 0o755); err != nil {
				t.Fatal(err)
			}
			write("a b é.go", "one")
			last, rules := "", ""
			look := func(what string, other bool) {
				t.Helper()
				tree := Tree{
					Env: os.Environ(), Dir: dir, Top: top,
					Except: filepath.Join(dir, "loops"), List: filepath.Join(dir, "list.json"),
				}
				now, ignored := tree.Contents(t.Context())
				if (ignored != rules) != (what == "the start" || what == "a rule") {
					t.Errorf("after %s the rules are %q, before %q", what, ignored, rules)
				}
				rules = ignored
				if now == "" || (now != last) != other {
					t.Errorf("after %s: %q, before %q", what, now, last)
				}
				last = now
			}
			look("the start", true)
			look("nothing", false)
			if kind == "git" {
				run("add", "-A")
				run("commit", "-qm", "one")
				look("a commit", false)
				write("x.log", "ignored")
				look("an ignored file", false)
				write("loops/.gitignore", "*")
				look("a rule that is left out", false)
			}
			write("loops/state", "x")
			write("list.json", "x")
			look("what is left out", false)
			if err := os.Chtimes(filepath.Join(dir, "a b é.go"), time.Now(), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			look("a touch", false)
			write("a b é.go", "two")
			look("an edit of the same size", true)
			write("new", "")
			look("a new file", true)
			write(".gitignore", "*.log\n*.txt\n")
			look("a rule", true)
			if err := os.Remove(filepath.Join(dir, "a b é.go")); err != nil {
				t.Fatal(err)
			}
			look("a deletion", true)
			if runtime.GOOS != "windows" {
				if err := os.Symlink("new", filepath.Join(dir, "link")); err != nil {
					t.Fatal(err)
				}
				look("a link", true)
				if err := os.Chmod(filepath.Join(dir, "new"), 0o755); err != nil {
					t.Fatal(err)
				}
				look("a mode", true)
			}
		})
	}
	if got, _ := (Tree{Dir: filepath.Join(t.TempDir(), "none")}).Contents(t.Context()); got != "" {
		t.Errorf("a folder that is not there: %q", got)
	}
}

// TestStamp swaps a file and puts it back, with its times.
func TestStamp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there a program can put the time back")
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
		"renamed":   func() error { return errors.Join(os.Rename(path, aside), os.Rename(aside, path)) },
		"rewritten": func() error { return errors.Join(os.WriteFile(path, []byte("x"), 0o644), os.Chtimes(path, at, at)) },
	}
	for how, swap := range swap {
		before := Stamp(path)
		time.Sleep(50 * time.Millisecond) // file systems' clocks tick
		if now := Stamp(path); now != before {
			t.Errorf("untouched, and %q is %q", before, now)
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
