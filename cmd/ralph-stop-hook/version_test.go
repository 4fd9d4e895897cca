package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersion links the program as a release does, and checks the version that it prints.
func TestVersion(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "released.exe")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=1.2.3-test", "-o", bin, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(bin, "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "ralph-stop-hook 1.2.3-test ") {
		t.Errorf("version printed %q (%v), want 1.2.3-test", out, err)
	}
}
