package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestEntry gives the program, as people build it, variables at which Go's runtime ends with status
// 2, and some that are shorter than what the entry point looks at.
func TestEntry(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the entry point is the runtime's")
	}
	binary := filepath.Join(t.TempDir(), "ralph-stop-hook")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, variable := range []string{
		"GOMEMLIMIT=x", "GODEBUG=fips140=x", "GODEBUG=sbrk=1,efence=1,invalidptr=1", "GOMAXPROCS=100000", "GOGC=x", "G=", "",
	} {
		hook := exec.Command(binary, "hook")
		hook.Env, hook.Stdin = []string{"A=", variable}, strings.NewReader("{}")
		if out, err := hook.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %.500s", variable, err, out)
		}
	}
}
