//go:build unix

package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUntrackedMeanwhile lets another process make and remove files while git looks: they are nothing that git tracks.
func TestUntrackedMeanwhile(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command(real, "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	slow := "#!/bin/sh\nrm -f before\n" + real + " \"$@\" || exit\ntouch meanwhile\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(slow), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("before")
	write("stays")
	env := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull}
	if none, known := Untracked(env, dir); !none || !known {
		t.Errorf("Untracked = %v, %v; want true, true", none, known)
	}
	if out, err := exec.Command(real, "-C", dir, "add", "stays").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	if none, known := Untracked(env, dir); none || !known {
		t.Errorf("with a tracked file, Untracked = %v, %v; want false, true", none, known)
	}
}
