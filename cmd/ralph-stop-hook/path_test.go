package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
)

// longest is how much of this module one stop may run at most. A stop that continues a loop is what people meet: the
// shorter its path, the sooner a stranger has read it.
var longest = stopPath{functions: 370, files: 81, packages: 15}

// stopPath counts what a process has run.
type stopPath struct{ functions, files, packages int }

// TestStopPath counts the functions, files and packages of one continue, by coverage: in a folder, and in a git
// repository.
func TestStopPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the bounds are those of Linux")
	}
	binary := filepath.Join(t.TempDir(), "hook")
	out, err := exec.Command("go", "build", "-cover", "-coverpkg=.,../../internal/...", "-o", binary, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, repository := range []bool{false, true} {
		p := covered(t, binary, repository)
		t.Logf("one continue, in a git repository %v: %d functions, %d files, %d packages", repository, p.functions,
			p.files, p.packages)
		if p.functions > longest.functions || p.files > longest.files || p.packages > longest.packages {
			t.Errorf("one continue runs %+v, at most %+v", p, longest)
		}
		if p.functions < 100 {
			t.Errorf("control: only %d functions were counted", p.functions)
		}
	}
}

// covered makes a loop of three features and counts what its second stop runs.
func covered(t *testing.T, binary string, repository bool) stopPath {
	t.Helper()
	home, project, counted := t.TempDir(), t.TempDir(), t.TempDir()
	hook := func(counts, input string, args ...string) string {
		t.Helper()
		cmd := exec.Command(binary, args...)
		cmd.Dir = project
		cmd.Env = append(gittest.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "CLAUDECODE=", "GOCOVERDIR="+counts)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return string(out)
	}
	event := func(fields map[string]any) string {
		maps.Copy(fields, map[string]any{"session_id": "s1", "cwd": project, "prompt_id": "p1"})
		text, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	list := `[{"id": "a", "passes": false}, {"id": "b", "passes": false}, {"id": "c", "passes": false}]`
	if err := os.WriteFile(filepath.Join(project, "feature_list.json"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	if repository {
		git := exec.Command("git", "init", "-q", project)
		git.Env = gittest.Environ()
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	before := t.TempDir()
	hook(before, "", "init", "demo", "--settings", "none")
	prompt, err := os.ReadFile(filepath.Join(project, ".claude", "data", "ralph-loops", "demo", "RALPH_PROMPT.md"))
	if err != nil {
		t.Fatal(err)
	}
	hook(before, event(map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": string(prompt)}), "hook")
	stop := event(map[string]any{"hook_event_name": "Stop", "stop_hook_active": true})
	hook(before, stop, "hook")
	if said := hook(counted, stop, "hook"); !strings.Contains(said, "iteration 3 of 15") {
		t.Fatalf("the second stop does not continue: %s", said)
	}

	out, err := exec.Command("go", "tool", "covdata", "func", "-i="+counted).Output()
	if err != nil {
		t.Fatal(err)
	}
	p := stopPath{}
	files := map[string]bool{}
	for line := range strings.Lines(string(out)) { // FILE:LINE: FUNCTION PERCENT%
		words := strings.Fields(line)
		file, _, found := strings.Cut(words[0], ".go:")
		if found && words[len(words)-1] != "0.0%" {
			p.functions++
			files[file] = true
		}
	}
	packages := slices.Sorted(maps.Keys(files))
	p.files = len(packages)
	for i := range packages {
		packages[i] = path.Dir(packages[i])
	}
	p.packages = len(slices.Compact(packages))
	return p
}
