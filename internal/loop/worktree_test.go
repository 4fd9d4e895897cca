package loop_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

func init() { gittest.Isolate() }

// TestMain lets this test be the guard of the checks that it runs.
func TestMain(m *testing.M) {
	if proc.JobOf(os.Args[0]) == proc.GuardJob {
		os.Exit(proc.Guard(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// git runs git in a folder.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// write writes a file, and the folders that it is in.
func write(t *testing.T, text string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// repository makes a repository with a loop of two features in the folder sub of it, and a work tree beside it. It
// returns the open loop and the work tree's root.
func repository(t *testing.T, sub, config string, tracked bool) (*loop.Loop, string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(top, sub)
	folder := filepath.Join(project, loopdir.Below, "demo")
	write(t, config, folder, loopdir.ConfigFile)
	write(t, `[{"id": "a"}, {"id": "b", "passes": false}]`, folder, loopdir.ListFile)
	write(t, "one\n", project, "src", "a.txt")
	write(t, "#!/bin/sh\nexec true\n", project, "check.sh")
	if err := os.Chmod(filepath.Join(project, "check.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, "built/\n", top, ".gitignore")
	write(t, "x", top, "built", "x")
	if !tracked {
		write(t, "built/\nralph-loops/\n", top, ".gitignore")
	}
	git(t, top, "init", "-q", "-b", "main")
	git(t, top, "add", "-A")
	git(t, top, "commit", "-q", "-m", "one")
	tree := filepath.Join(t.TempDir(), "tree")
	git(t, top, "worktree", "add", "-q", "-b", "lane", tree)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := loop.Env{
		Catch: context.WithCancel, Self: self,
		Program: "host", Agent: "host", Cwd: project, StateDir: t.TempDir(), CacheDir: t.TempDir(),
		LoopDir: folder, Vars: os.Environ(),
	}
	step(t, env, loop.Event{Report: decide.Report{FreshSession: true, NoSession: true, OthersWork: true}})
	at, err := env.Where().Recorded(folder)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loop.Open(env, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, tree
}

// look reads the loop, and the loop over the work tree.
func look(t *testing.T, l *loop.Loop, tree string) (p, beside *loop.Picture) {
	t.Helper()
	p, err := l.Look()
	if err != nil {
		t.Fatal(err)
	}
	beside, err = p.InWorkTree(tree)
	if err != nil {
		t.Fatal(err)
	}
	return p, beside
}

// trust trusts the loop as it is.
func trust(t *testing.T, l *loop.Loop, tree string) {
	t.Helper()
	p, _ := look(t, l, tree)
	text, err := os.ReadFile(filepath.Join(l.At.Dir, loopdir.ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	record, err := l.NewTrust(text, p.Snapshot.List, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Store.Locked(time.Second, func() error { return l.SetTrust(record) }); err != nil {
		t.Fatal(err)
	}
}

// TestBesideContents checks that a check that ran in another work tree proves something of the project once both are at
// one commit, and only then.
func TestBesideContents(t *testing.T) {
	for _, tc := range []struct {
		name, sub string
		tracked   bool
	}{
		{"root", "", false}, {"root, with tracked loops", "", true}, {"subfolder", "pkg/web", false},
		{"subfolder, with tracked loops", "pkg/web", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l, tree := repository(t, tc.sub, `{"checks": [{"name": "there", "file_exists": "src/a.txt"}]}`, tc.tracked)
			trust(t, l, tree)
			p, beside := look(t, l, tree)
			if is, was := beside.Contents(t.Context()), p.Contents(t.Context()); is != was || is == "" {
				t.Fatalf("at one commit the hashes are %q and %q", is, was)
			}
			write(t, "two\n", tree, tc.sub, "src", "a.txt")
			git(t, tree, "commit", "-q", "-am", "two")
			write(t, "[]", tree, tc.sub, loopdir.Below, "demo", loopdir.ListFile) // the lane's own copy
			p, beside = look(t, l, tree)
			proven := beside.Contents(t.Context())
			if proven == p.Contents(t.Context()) || proven == "" {
				t.Error("other contents have the same hash")
			}
			git(t, l.At.Project, "merge", "-q", "--ff-only", "lane")
			p, _ = look(t, l, tree)
			if p.Contents(t.Context()) != proven {
				t.Error("after the branch went forward, the hashes differ")
			}
		})
	}
}

// TestBesideChecks runs checks in another work tree, and claims what they prove.
func TestBesideChecks(t *testing.T) {
	const check = `{"name": "two", "file_contains": {"file": "src/a.txt", "pattern": "two"}, "when": "claim"}`
	l, tree := repository(t, "", `{"checks": [`+check+`]}`, false)
	p, beside := look(t, l, tree)
	runs := func(p *loop.Picture) []decide.Run {
		return []decide.Run{{Check: p.Snapshot.Checks[0], Feature: "a"}}
	}
	passes := func(p *loop.Picture) bool {
		t.Helper()
		results, err := p.RunChecks(t.Context(), runs(p), false, nil)
		if err != nil || len(results) != 1 || results[0].NotRun {
			t.Fatalf("%+v, %v", results, err)
		}
		return results[0].Passed
	}
	if passes(p) || passes(beside) {
		t.Fatal("the check passes before anybody did anything")
	}
	write(t, "two\n", tree, "src", "a.txt")
	git(t, tree, "commit", "-q", "-am", "two")
	if passes(p) || !passes(beside) {
		t.Fatal("the check does not look at its own work tree")
	}
	results, err := beside.RunChecks(t.Context(), runs(beside), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	git(t, l.At.Project, "merge", "-q", "--ff-only", "lane")
	if err := l.SetClaims(t.Context(), []string{"a"}, true, results); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(p.ListPath())
	if want := `[{"passes": true,"id": "a"}, {"id": "b", "passes": false}]`; string(text) != want {
		t.Errorf("the list is %s, want %s", text, want)
	}
	p, _ = look(t, l, tree)
	if proven := p.Snapshot.Proven(); proven != 1 {
		t.Errorf("after the claim %d features are proven, want 1", proven)
	}
	if err := l.SetClaims(t.Context(), []string{"a"}, false, nil); err != nil {
		t.Fatal(err)
	}
	p, _ = look(t, l, tree)
	if p.Snapshot.List.Passed() != 0 || len(p.Snapshot.Receipts) != 0 {
		t.Error("a claim that was taken back leaves something")
	}
	write(t, `[{"id": "a", "passes": true}, {"id": "b", "passes": false}]`, tree, loopdir.Below, "demo", loopdir.ListFile)
	_, beside = look(t, l, tree)
	if beside.WorkTreeList().Passed() != 1 || beside.Snapshot.List.Passed() != 0 {
		t.Error("the worker's copy of the list is not its own")
	}
}

// TestBesideTrusted checks that a trusted check of another work tree runs in a copy of that: protected files are as
// they were trusted, all others as they are there. The record and the programs on PATH are not those of the work tree.
func TestBesideTrusted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the check is a script for sh")
	}
	l, tree := repository(t, "", `{"checks": [{"name": "script", "command": ["./check.sh"], "when": "claim"}],
		"protect": ["check.sh"]}`, false)
	write(t, "#!/bin/sh\nexec grep -q two src/a.txt\n", l.At.Project, "check.sh")
	l.Env.Vars = append(l.Env.Vars, "PATH="+l.At.Project+string(filepath.ListSeparator)+os.Getenv("PATH"))
	trust(t, l, tree)
	for _, tc := range []struct {
		name, text          string
		inProject, inWorker bool
	}{
		{"the worker's script passes, and the trusted one does not", "one\n", false, false},
		{"the worker has done it", "two\n", false, true},
	} {
		write(t, tc.text, tree, "src", "a.txt")
		p, beside := look(t, l, tree) // its check.sh is that of the commit, which passes whatever there is
		if !strings.Contains(p.Config.SearchPath, l.At.Project) ||
			strings.Contains(beside.Config.SearchPath, l.At.Project) {
			t.Errorf("PATH has the project: %q", beside.Config.SearchPath)
		}
		for _, one := range []struct {
			p          *loop.Picture
			passes     bool
			notCounted string
		}{{p, tc.inProject, ""}, {beside, tc.inWorker, "check.sh"}} {
			run := decide.Run{Check: one.p.Snapshot.Checks[0], Feature: "a"}
			results, err := one.p.RunChecks(t.Context(), []decide.Run{run}, false, nil)
			if err != nil || results[0].NotRun || results[0].Passed != one.passes {
				t.Errorf("%s: %+v, %v, want %v", tc.name, results, err, one.passes)
			}
			names := ""
			for _, change := range one.p.NotCounted(t.Context()) {
				names += change.Path
			}
			if names != one.notCounted {
				t.Errorf("%s: %q do not count, want %q", tc.name, names, one.notCounted)
			}
		}
	}
}

// TestBesideRefused checks where checks cannot run in another work tree.
func TestBesideRefused(t *testing.T) {
	l, tree := repository(t, "", "{}", false)
	for command, want := range map[string]string{
		"make -C " + filepath.ToSlash(l.At.Project): "names the project by its whole path",
		"cd '" + l.At.Project + "' && make":         "names the project by its whole path",
		"cd " + l.At.Project + "2 && make":          "",
		"make":                                      "",
	} {
		if runtime.GOOS == "windows" && strings.HasPrefix(command, "make -C") {
			continue
		}
		p, err := l.Look()
		if err != nil {
			t.Fatal(err)
		}
		p.Config.Checks = append(p.Config.Checks, config.Check{Command: config.Command{Shell: command}})
		_, err = p.InWorkTree(tree)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
	if err := os.Rename(filepath.Join(l.At.Project, ".git"), filepath.Join(l.At.Project, "git")); err != nil {
		t.Fatal(err)
	}
	p, err := l.Look()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.InWorkTree(tree); err == nil || !strings.Contains(err.Error(), "in no git repository") {
		t.Errorf("without a repository: %v", err)
	}
}

// TestSetClaimsInTurn writes the same words for several features at a time as for one after the other, which is what
// the commits of lanes do.
func TestSetClaimsInTurn(t *testing.T) {
	for _, ids := range [][]string{{"a", "b"}, {"b", "a"}} {
		l, tree := repository(t, "", "{}", false)
		const list = `[{"id": "a", "status": "open"}, {"id": "b", "status": "in_progress"}]`
		write(t, list, l.At.Project, loopdir.Below, "demo", loopdir.ListFile)
		p, _ := look(t, l, tree)
		want := []byte(list)
		for _, id := range ids {
			want = p.Snapshot.List.PassIn(want, id)
		}
		if err := l.SetClaims(t.Context(), ids, true, nil); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(p.ListPath()); string(text) != string(want) || string(want) == list {
			t.Errorf("the list is %s, want %s", text, want)
		}
	}
}
