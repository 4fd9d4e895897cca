package worktree

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// TestForwardCalls kills Forward, or a git command of it, at each system call that changes files; a short run takes
// some of the calls. After Recover the merge is there, or nothing of it is, and nothing of ours is left. The control
// looks before Recover: some kills must leave something.
func TestForwardCalls(t *testing.T) {
	t.Parallel()
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("needs strace and the right to trace: %v", err)
	}
	killed, left := 0, 0
	for call, few := range map[string]int{"renameat": 3, "unlinkat": 9, "mkdirat": 3, "linkat": 3} {
		every := 1
		if testing.Short() {
			every = few
		}
		for n := 1; ; n += every {
			w, old, new := newForward(t)
			cmd := forwardProcess(w, "forward", 0, old, new)
			flags := []string{
				"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e",
				fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n),
			}
			cmd.Args = append(flags, cmd.Args...)
			cmd.Path, _ = exec.LookPath("strace")
			out, err := cmd.CombinedOutput()
			left += len(w.left())
			w.recovers(old, new)
			if t.Failed() {
				t.Fatalf("killed at %s %d: %v\n%s", call, n, err, out)
			}
			if err == nil {
				break
			}
			killed++
		}
	}
	t.Logf("%d kills left %d files", killed, left)
	if killed < 5 || !testing.Short() && killed < 20 || left == 0 {
		t.Errorf("control: %d kills left %d files", killed, left)
	}
}
