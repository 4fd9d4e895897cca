package proc

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// Guard runs a program to its end and returns its exit status, -1 where it has
// none. Standard input is the line to the process that started it: when that is
// gone, however it went, the whole group of this process is killed.
func Guard(argv []string) int {
	go func() {
		defer killGroup()
		_, _ = io.Copy(io.Discard, os.Stdin) // the end of it is all that matters
	}()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) {
		return cmd.ProcessState.ExitCode()
	}
	_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
	return notStarted
}

// notStarted is the exit status of a guard whose program could not be started,
// as shells have it.
const notStarted = 127
