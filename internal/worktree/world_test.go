package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/gittest"
)

// loops is the folder that is never merged.
const loops = ".claude/data/ralph-loops"

// world is a repository in a test, with a project in it.
type world struct {
	testing.TB
	top, project string
	home         string
	repo         *Repo
	lanes        string // the folder of worktrees
}

// TestMain removes what tests leave that kill a process, or do not close a Repo.
func TestMain(m *testing.M) {
	gittest.Isolate()
	dir, err := os.MkdirTemp("", "worktree-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// newWorld makes a repository with one commit. The project is its root, or a folder below it. Names are odd, since
// people have such.
func newWorld(t testing.TB, below string) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(dir, "my [project] 🎉")
	w := &world{TB: t, top: top, project: filepath.Join(top, below), home: filepath.Join(dir, "home"),
		lanes: filepath.Join(dir, "cache of lanes")}
	w.write(w.project, "a.txt", "one\ntwo\nthree\n")
	w.write(w.project, loops+"/shop/feature_list.json", "[1]\n")
	w.write(w.project, "sub/b \"quoted\" é.txt", "b\n")
	for _, dir := range []string{w.home, w.lanes} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.git(top, "init", "-q", "-b", "main", top)
	w.git(top, "config", "user.name", "A Person")
	w.git(top, "config", "user.email", "person@example.com")
	w.git(top, "add", "-A")
	w.git(top, "commit", "-q", "-m", "First")
	return w
}

// open opens the repository as a run with lanes does.
func (w *world) open() *Repo {
	w.Helper()
	w.repo = w.openWith(w.options())
	return w.repo
}

// options are those of a run with lanes.
func (w *world) options() Options {
	return Options{Project: w.project, Env: w.env(), Except: []string{loops}, List: list, PrivateDir: w.own(), Keep: true}
}

// own is the repository of the run.
func (w *world) own() string { return filepath.Join(filepath.Dir(w.top), "lanes.git") }

// gitOfRun runs git in the repository of the run.
func (w *world) gitOfRun(args ...string) string {
	w.Helper()
	return w.git(w.own(), append([]string{"--git-dir=" + w.own()}, args...)...)
}

// openHere opens the repository as a stop that commits does.
func (w *world) openHere() *Repo {
	w.Helper()
	w.repo = w.openWith(Options{Project: w.project, Env: w.env(), Except: []string{loops}})
	return w.repo
}

func (w *world) openWith(o Options) *Repo {
	w.Helper()
	r, err := Open(w.Context(), o)
	w.ok(err)
	w.Cleanup(r.Close)
	return r
}

// env is an environment without a configuration of the machine, and with that of a user of its own.
func (w *world) env() []string {
	return append(os.Environ(), "HOME="+w.home, "XDG_CONFIG_HOME="+filepath.Join(w.home, ".config"), "USERPROFILE="+w.home,
		"GIT_CONFIG_GLOBAL="+filepath.Join(w.home, ".gitconfig"))
}

// git runs git as a person or an agent does, and returns what it prints.
func (w *world) git(dir string, args ...string) string {
	w.Helper()
	out, err := w.try(dir, args...)
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (w *world) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(w.env(), "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// write writes a file below a folder.
func (w *world) write(dir, name, text string) {
	w.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// read returns the text of a file, or "none".
func (w *world) read(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return "none"
	}
	return string(text)
}

// want compares a text.
func (w *world) want(what, got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("%s is %q, want %q", what, got, want)
	}
}

// ok fails the test on an error.
func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// refused wants an error with a text.
func (w *world) refused(err error, text string) {
	w.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		w.Errorf("the error is %v, want one with %q", err, text)
	}
}

// head returns the commit of the loop's branch.
func (w *world) head() string {
	w.Helper()
	head, err := w.repo.Head(w.Context())
	w.ok(err)
	return head
}

// lane makes a lane, or opens it.
func (w *world) lane(name string) *Tree {
	w.Helper()
	t, err := w.repo.Add(w.Context(), filepath.Join(w.lanes, name), "ralph/shop/1/"+name, w.head())
	w.ok(err)
	return t
}

// commit commits what is in a lane.
func (w *world) commit(t *Tree) string {
	w.Helper()
	commit, _, err := t.Commit(w.Context(), "Work of an agent")
	w.ok(err)
	return commit
}

// merge merges a lane and moves the loop's branch.
func (w *world) merge(t *Tree, feature string) Merged {
	w.Helper()
	m, err := w.repo.Merge(w.Context(), w.head(), Work{Commit: w.commit(t), Base: t.Base(), Feature: feature})
	w.ok(err)
	if len(m.Conflicts) > 0 {
		return m
	}
	w.ok(w.repo.Forward(w.Context(), w.head(), m.Commit))
	return m
}

// clean wants a project without changes.
func (w *world) clean() {
	w.Helper()
	w.want("git status", w.git(w.top, "status", "--porcelain"), "")
	w.ok(w.repo.Ready(w.Context()))
}

// TestLanes takes two lanes through their life: made, worked, merged, set to the next base, removed.
func TestLanes(t *testing.T) {
	t.Parallel()
	for _, below := range []string{"", "packages/shop é"} {
		w := newWorld(t, below)
		r := w.open()
		w.ok(r.Ready(t.Context()))
		tag, err := r.Backup(t.Context(), "20261123")
		w.ok(err)
		first := w.head()
		one, two := w.lane("lane-1"), w.lane("lane-2")
		for _, lane := range []*Tree{one, two} {
			w.want("a file of a lane", w.read(lane.Project(), "a.txt"), "one\ntwo\nthree\n")
			w.want("git status in a lane", w.git(lane.Project(), "status", "--porcelain"), "")
		}
		w.write(one.Project(), "new/odd \"name\"\n🎉.txt", "new\n")
		w.write(one.Project(), loops+"/shop/feature_list.json", "[2]\n")
		w.git(one.Project(), "add", "-A")
		w.git(one.Project(), "commit", "-q", "-m", "A commit of the agent\n\nRalph-Feature: other")
		w.write(one.Project(), "a.txt", "ONE\ntwo\nthree\n")
		w.write(two.Project(), "a.txt", "one\ntwo\nTHREE\n")
		commit := w.commit(one)
		m, err := r.Merge(t.Context(), w.head(), Work{Commit: commit, Base: one.Base(), Feature: "login",
			Message: "A commit of the agent\n\nRalph-Feature: other\n\nWork of an agent",
			More:    []string{"Ralph-Agent: claude"}})
		w.ok(err)
		w.ok(r.publish(t.Context(), m.Commit))
		w.want("what the merge changes", w.git(w.project, "diff-tree", "-r", "-z", "--relative", "--name-only", first,
			m.Commit), "a.txt\x00new/odd \"name\"\n🎉.txt\x00")
		w.want("the file before the branch goes forward", w.read(w.project, "a.txt"), "one\ntwo\nthree\n")
		w.ok(r.Forward(t.Context(), w.head(), m.Commit))
		w.want("the file after it", w.read(w.project, "a.txt"), "ONE\ntwo\nthree\n")
		w.want("the list", w.read(w.project, loops+"/shop/feature_list.json"), "[1]\n")
		w.clean()
		w.want("the message", w.git(w.top, "log", "-1", "--format=%an: %B"), "A Person: A commit of the agent\n\n"+
			"Work of an agent\n\nRalph-Feature: login\nRalph-Agent: claude")
		w.merge(two, "a\nfeature: \"x\"")
		w.want("the file with both", w.read(w.project, "a.txt"), "ONE\ntwo\nTHREE\n")
		w.clean()
		w.want("the trailer of an odd id", w.git(w.top, "log", "-1", "--format=%(trailers)"),
			`Ralph-Feature: "a\nfeature: \"x\""`)
		w.write(two.Project(), "a.txt", "not merged")
		w.refused(two.Remove(t.Context(), w.head()), "not committed")
		w.commit(two)
		w.refused(two.Remove(t.Context(), w.head()), "not merged")
		for _, lane := range []*Tree{one, two} {
			w.ok(lane.Reset(t.Context(), w.head()))
			w.ok(lane.Remove(t.Context(), w.head()))
		}
		w.want("branches", w.git(w.top, "branch", "--format=%(refname)"), "refs/heads/main")
		w.want("worktrees", w.git(w.top, "worktree", "list", "--porcelain"), "worktree "+filepath.ToSlash(w.top)+
			"\nHEAD "+w.head()+"\nbranch refs/heads/main")
		w.want("the tag", w.git(w.top, "rev-parse", tag), first)
	}
}
