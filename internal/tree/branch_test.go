package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLacks has a branch of a run squashed, and the list changed since. What the list says is no work.
func TestLacks(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	p := project{t, t.TempDir(), true}
	sub := filepath.Join(p.dir, "sub")
	p.write("sub/list [1].json", "0\n")
	p.run("init", "-q", "-b", "main")
	p.run("add", "-A")
	p.run("commit", "-q", "-m", "First")
	p.run("switch", "-q", "-c", "work")
	p.write("sub/list [1].json", "1\n")
	p.write("top.txt", "work\n")
	p.run("add", "-A")
	p.run("commit", "-q", "-m", "Work")
	p.run("switch", "-q", "main")
	want := func(what string, want bool, except ...string) {
		t.Helper()
		if got := Lacks(os.Environ(), sub, "main", "refs/heads/work", except...); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("before the merge", true, "list [1].json")
	p.run("merge", "-q", "--squash", "work")
	p.write("sub/list [1].json", "2\n")
	p.run("add", "-A")
	p.run("commit", "-q", "-m", "Squashed, and another flag")
	want("after it", false, "list [1].json")
	want("after it, with another file that does not count", true, "top.txt")
	want("after it, when all counts", true, "")
	p.write("top.txt", "taken back\n")
	p.run("commit", "-q", "-am", "Taken back")
	want("when a part was taken back", true, "list [1].json")
}
