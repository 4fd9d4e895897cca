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
	for call, few := range map[string][2]int{ // each so many calls: in a short run, and in a whole one
		"renameat": {3, 1}, "unlinkat": {9, 1}, "mkdirat": {3, 1}, "linkat": {3, 1}, "openat": {120, 12},
	} {
		every := few[1]
		if testing.Short() {
			every = few[0]
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
