//go:build unix

package main

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// again is a project with a loop of two features, of which a run with lanes merges the first one into its own branch.
type again struct {
	*testing.T
	dir, project string
}

// command runs a command line of the shell in the project, and returns what it prints. It must exit with a status.
func (a *again) command(want int, line string) string {
	a.Helper()
	home := filepath.Join(a.dir, "home")
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = a.project
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, "state"), "XDG_CONFIG_HOME=",
		"XDG_CACHE_HOME="+filepath.Join(home, "cache"), "GIT_CONFIG_GLOBAL="+os.DevNull, "CLAUDECODE=",
		"PROJECT="+a.project, "PATH="+filepath.Join(a.dir, "bin")+":"+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		a.Fatalf("%s ends with %d, want %d:\n%s", line, got, want, out)
	}
	return string(out)
}

func (a *again) write(name, text string) {
	a.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		a.Fatal(err)
	}
}

// all returns everything that a start could change: refs, worktrees, and each file with its bytes. A lock is there for
// good, and says who held it last.
func (a *again) all() map[string]string {
	a.Helper()
	all := map[string]string{"git": a.command(0, "git for-each-ref; git worktree list; git symbolic-ref HEAD; git status")}
	for _, root := range []string{"home", "project"} {
		err := filepath.WalkDir(filepath.Join(a.dir, root), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Name() == ".git":
				return fs.SkipDir
			case d.IsDir():
				all[path] = "a folder"
				return nil
			}
			data, err := os.ReadFile(path)
			if !regexp.MustCompile(`^\d+ \S*\n$`).Match(data) {
				all[path] = string(data)
			}
			return err
		})
		if err != nil {
			a.Fatal(err)
		}
	}
	return all
}

// refused starts a run that must be refused, and must change nothing.
func (a *again) refused(code int, line string) {
	a.Helper()
	before := a.all()
	a.command(code, line)
	after := a.all()
	for name := range before {
		if after[name] == before[name] {
			delete(after, name)
		} else if after[name] == "" {
			after[name] = "it is gone"
		}
	}
	for name, text := range after {
		a.Errorf("%s is refused, and changes %s from\n%s\nto\n%s", line, name, before[name], text)
	}
}

// kept demands that a branch has a commit and, unless it is merged, that status names a branch or a commit with it.
func (a *again) kept(commit, when string) {
	a.Helper()
	branches := a.command(0, "git for-each-ref --format='%(refname:short) %(objectname)' refs/heads --contains "+commit)
	status := a.command(0, "ralph-runner status demo")
	for _, name := range strings.Fields(branches) {
		if strings.Contains(status, name) {
			return
		}
	}
	a.Errorf("%s: the work %s is on %q, and status does not name that:\n%s", when, commit, branches, status)
}

// TestStartAgain types the line of a run with lanes again, and others, after each ending that leaves work beside the
// person's branch. What is refused changes nothing, and no start deletes or hides the work.
func TestStartAgain(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Parallel()
	hook := build(t, "../ralph-stop-hook")
	const done = `echo b >b.txt; sed -i.old 's/"b", "passes": false/"b", "passes": true/' feature_list.json; rm *.old`
	endings := map[string]struct {
		code   int
		agent  string // what the agent of the second feature does
		limits string
	}{
		"COMPLETE":      {0, done, `"max_iterations": 9`},
		"REACHED_LIMIT": {1, "echo half >half.txt", `"max_iterations": 2`},
		"STAGNATED":     {2, "true", `"max_iterations": 9, "stagnation": 2`},
		"BLOCKED":       {3, "echo '<promise>BLOCKED: a key</promise>'", `"max_iterations": 9`},
		"PAUSED":        {3, "cd $PROJECT; ralph-runner pause demo", `"max_iterations": 9`},
		"CANCELLED":     {3, "cd $PROJECT; ralph-runner cancel demo", `"max_iterations": 9`},
	}
	for _, mode := range []string{"--no-merge", "pr", ""} {
		for status, ending := range endings {
			if mode != "--no-merge" && status != "COMPLETE" && status != "PAUSED" {
				continue // as with --no-merge
			}
			t.Run(status+" "+cmp.Or(mode, "away"), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				a := &again{t, dir, filepath.Join(dir, "project")}
				a.write("project/feature_list.json", `[{"id": "a", "passes": false},`+"\n"+
					`{"id": "b", "passes": false, "depends_on": ["a"]}]`)
				const config = "project/.claude/data/ralph-loops/demo/ralph.json"
				rules := `"list": "feature_list.json", "bind": "prompt", "limits": {` + ending.limits + `}}`
				flags := mode
				a.write(config, "{"+rules)
				if mode == "pr" {
					a.write(config, `{"pr": ["gh pr create --head \"$RALPH_BRANCH\""], `+rules)
					flags = ""
				}
				a.write("bin/gh", "#!/bin/sh\necho https://github.com/o/r/pull/7\n")
				a.write("home/b.sh", ending.agent)
				away := ""
				if mode == "" {
					away = "git -C $PROJECT switch -qc side; "
				}
				a.write("home/worker.sh", `case $(sed -n 's/^  id: //p' | head -1) in
a) `+away+`echo a >a.txt; sed -i.old 's/"a", "passes": false/"a", "passes": true/' feature_list.json; rm *.old ;;
b) . $HOME/b.sh ;;
c) echo c >c.txt; sed -i.old 's/"c", "passes": false/"c", "passes": true/' feature_list.json; rm *.old ;;
esac`)
				a.write("home/.config/ralph-stop-hook/config.json",
					`{"agents": {"worker": {"command": ["sh", "-c", "exec sh $HOME/worker.sh"]}}}`)
				if err := os.Symlink(hook, filepath.Join(dir, "bin", "ralph-stop-hook")); err != nil {
					t.Fatal(err)
				}
				a.command(0, "git init -qb main && git config user.name me && git config user.email me@example.com && "+
					"git add -A && git commit -qm Begin && ralph-runner trust demo --yes")

				const run = "ralph-runner demo --agent worker"
				line := run + " --workers 1 " + flags
				out := a.command(ending.code, line)
				found := regexp.MustCompile(`git merge --autostash ([0-9a-f]{40})`).FindStringSubmatch(out)
				if found == nil || !strings.Contains(out, "Ralph loop "+status) {
					t.Fatalf("the run leaves no work beside main, or is not %s:\n%s", status, out)
				}
				work := found[1]
				a.kept(work, "after the first run")
				half := a.command(0, "git for-each-ref --format='%(objectname)' refs/heads/ralph/*-lane-1")
				if want := status == "REACHED_LIMIT"; (half != "") != want {
					t.Fatalf("a branch with half a feature: %q, want %v", half, want)
				}
				withoutLanes := 4
				if mode == "pr" {
					withoutLanes = 64
				}
				a.refused(4, line)
				a.refused(4, run+" --workers 2")
				a.refused(withoutLanes, run)
				a.refused(withoutLanes, run+" --branch")
				a.write(config, "{"+rules)
				if status == "COMPLETE" {
					a.refused(4, "ralph-runner resume demo")
				}
				a.kept(work, "after refusals")

				// Another feature, or a higher limit, brings the loop back. Each run keeps the work or begins with it.
				a.write("project/feature_list.json", `[{"id": "a", "passes": true},`+"\n"+
					`{"id": "b", "passes": true}, {"id": "c", "passes": false}]`)
				a.command(0, "ralph-runner trust demo --yes && ralph-stop-hook resume demo +20")
				a.command(0, run)
				a.kept(work, "after a run without lanes")
				a.command(4, line)
				a.command(0, `sed -i.old 's/"c", "passes": true/"c", "passes": false/' feature_list.json && rm *.old *.txt;
					git commit -qam Again; ralph-stop-hook resume demo`)
				a.command(0, run+" --workers 1 --no-merge")
				a.kept(work, "after a run with lanes")

				if half != "" {
					a.kept(half, "half a feature, after all runs")
				}

				// A person who takes it, or deletes it, is asked for it no more. The run's branch comes before that of a lane:
				// it has the list of main, too.
				ends := "merge -q --autostash"
				if status == "CANCELLED" {
					ends = "branch -D"
				}
				a.command(0, "git switch -q main; git "+ends+
					" $(git for-each-ref --format='%(refname:short)' refs/heads/ralph | sort -t- -k2)")
				if text := a.command(0, "ralph-runner status demo"); strings.Contains(text, "git merge") {
					t.Errorf("the work is merged or deleted, and status says:\n%s", text)
				}
			})
		}
	}
}
