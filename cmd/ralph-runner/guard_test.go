package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// TestGuardStart shows that a guard does not initialise the NATS server first, which takes longer than the guard's
// work.
func TestGuardStart(t *testing.T) {
	const server = "init github.com/nats-io/nats-server/v2/server @"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, hold, err := os.Pipe() // a guard kills its program when its input ends
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer hold.Close()
	if _, err := hold.WriteString("\x00"); err != nil {
		t.Fatal(err)
	}
	initialised := func(argv0 string, args ...string) string {
		cmd := exec.Command(self, args...)
		cmd.Args[0] = argv0
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		cmd.Stdin = in
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}

	ordinary := initialised(self, "-test.list", "^none$")
	guard := initialised(proc.GuardJob.Argv0(self), "0", "echo guarded")
	if !strings.Contains(ordinary, server) {
		t.Errorf("the program does not initialise the server at all:\n%s", ordinary)
	}
	if strings.Contains(guard, server) || !strings.Contains(guard, "guarded") {
		t.Errorf("a guard did:\n%s", guard)
	}
}
