package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
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
		"GOMEMLIMIT=x", "GODEBUG=fips140=x", "GODEBUG=sbrk=1,efence=1,invalidptr=1", "GOMAXPROCS=100000", "GOGC=x",
		"GOTRACEBACK=x", "G=", "",
	} {
		hook := exec.Command(binary, "hook")
		hook.Env, hook.Stdin = []string{"A=", variable}, strings.NewReader("{}")
		if out, err := hook.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %.500s", variable, err, out)
		}
	}
	signalEarly(t, binary)
}

// signalEarly ends hooks by a signal while they start. Go's runtime would end some with status 2.
func signalEarly(t *testing.T, binary string) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			hook := exec.Command(binary, "hook")
			hook.Stdin = strings.NewReader("{}")
			if err := hook.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(2*i+2) * 100 * time.Microsecond)
			_ = hook.Process.Signal(syscall.SIGSEGV)
			_ = hook.Wait()
			if code := hook.ProcessState.ExitCode(); code == 2 {
				t.Errorf("a signal after %d µs gave exit status 2", 200*i+200)
			}
		})
	}
	all.Wait()
}
