package proc

import (
	"bytes"
	"context"
	"io"
	"os"
)

// Guard runs a program, or a line for the system's shell, to its end and returns its
// exit status, -1 where it has none. Nothing that the program has started is left
// then, where the system tells what that is. Standard input has size bytes for the
// program, and is the line to the process that started the guard: when that is gone,
// however it went, all is killed, and this process's group too.
func Guard(size int, line string, argv []string) int {
	in := make([]byte, size)
	if _, err := io.ReadFull(os.Stdin, in); err != nil {
		return notStarted // nobody waits for it any more
	}
	adopt()
	go func() {
		defer killGroup()
		_, _ = io.Copy(io.Discard, os.Stdin) // the end of it is all that matters
		killAdopted()
	}()
	cmd := command(context.Background(), nil, argv, line)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if size > 0 {
		cmd.Stdin = bytes.NewReader(in)
	}
	err := cmd.Run()
	killAdopted()
	switch {
	case cmd.Process == nil:
		_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
		return notStarted
	case cmd.ProcessState == nil:
		return -1 // killed and waited for by the one above, who ends us
	}
	return cmd.ProcessState.ExitCode()
}

// notStarted is the exit status of a guard whose program could not be started,
// as shells have it.
const notStarted = 127
