package mcp

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// git runs git in the project as a person does, and returns what it prints.
func (w *world) git(args ...string) string {
	w.t.Helper()
	args = append([]string{"-c", "user.name=me", "-c", "user.email=me@example.com"}, args...)
	cmd := exec.Command("git", args...)
	cmd.Dir = w.project
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestCommit has an agent ask how the loop stands, which proves a feature and stores that. So the work is committed
// then: the next stop proves nothing new.
func TestCommit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	w := newWorld(t)
	w.write(loopdir.Below+"/demo/ralph.json", `{"commit": true, "bind": "first", "checks": [{"command": ["git", "version"],
		"when": "claim"}]}`)
	w.git("init", "-qb", "main")
	w.git("add", "-A")
	w.git("commit", "-qm", "base")
	w.trust()
	w.call("iteration_start", "{}")
	w.write("a.txt", "done")
	w.claim("a")
	w.call("hook_evaluate", "{}")
	if got := w.git("log", "-1", "--format=%s"); got != "a First" {
		t.Errorf("the last commit is %q", got)
	}
	w.write("b.txt", "half")
	if d := w.stop("real", os.Getpid(), "done"); d.Verdict != decide.Continue {
		t.Errorf("the stop is %s", d.Verdict)
	}
	if got := w.git("log", "--format=%s"); got != "a First\nbase" {
		t.Errorf("the commits are %q", got)
	}
	w.git("add", "b.txt")
	w.claim("a", "b")
	w.call("hook_evaluate", "{}")
	if got := w.state().Uncommitted; got != "b.txt is staged: commit or unstage it" {
		t.Errorf("the record says %q", got)
	}
}
