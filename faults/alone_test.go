//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// alone runs a test again in a mount namespace of its own, so that what it mounts
// goes with it, however it goes. It is true inside.
func alone(t *testing.T, h *harness) bool {
	if os.Getenv("FAULTS_ALONE") == t.Name() {
		return true
	}
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("mounting takes root")
	}
	rows := t.TempDir() + "/rows"
	args := []string{"-m", "--propagation", "private", os.Args[0], "-test.run", "^" + t.Name() + "$",
		"-test.timeout", "20m", "-test.parallel", "4", "-seed", fmt.Sprint(*seed)}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = append(os.Environ(), "FAULTS_ALONE="+t.Name(), "FAULTS_ROWS="+rows)
	out, err := cmd.CombinedOutput()
	data, missing := os.ReadFile(rows)
	if missing != nil {
		t.Skipf("unshare: %v: %s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "SKIP") {
		t.Skip(string(out))
	}
	if err := json.Unmarshal(data, &h.figures); err != nil {
		t.Error(err)
	}
	return false
}
