package proc

import (
	"bytes"
	"context"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// Guard does GuardJob with the arguments of its process. It runs a program, or a line for
// the system's shell, and returns its exit status, or -1 if it has none. When the program
// has ended, Guard kills the processes that it left behind, as far as the system can name
// them, unless they may stay.
//
// Standard input is a pipe from the process that started the guard. The first byte says that
// the program may start, and whether they may: by then that process has written down that there
// is a guard. The next size bytes are the program's input. After them, the pipe stays open as
// long as that process lives.
// One more byte asks the program to end. When the pipe closes, Guard kills the program, what
// the program started, and its own group.
func Guard(args []string) int {
	size, err := strconv.Atoi(args[0])
	if err != nil || size < 0 {
		return notStarted
	}
	line, argv := args[1], args[2:]
	in := make([]byte, 1+size)
	if _, err := io.ReadFull(os.Stdin, in); err != nil {
		return notStarted // the process that started the guard is gone
	}
	adopt()
	var over atomic.Bool // nothing may stay
	over.Store(in[0] != leaves)
	go func() {
		defer killGroup()
		if n, _ := os.Stdin.Read(make([]byte, 1)); n > 0 {
			askGroup()
			_, _ = io.Copy(io.Discard, os.Stdin) // only the end of the input matters
		}
		over.Store(true)
		killAdopted()
	}()
	env := os.Environ()
	cmd := command(context.Background(), env, argv, line)
	cmd.Env = env
	cmd.Stdout = os.Stdout
	cmd.Stderr = os.Stderr
	cmd.WaitDelay = waitDelay // a child may hold the input, unread
	if size > 0 {
		cmd.Stdin = bytes.NewReader(in[1:])
	}
	err = cmd.Run()
	if over.Load() {
		killAdopted()
	}
	switch {
	case cmd.Process == nil:
		_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
		return notStarted
	case cmd.ProcessState == nil: // the goroutine above killed and reaped the program, and kills this process
		time.Sleep(guardDelay)
		return -1
	}
	return exitStatus(cmd.ProcessState)
}

// leaves is the first byte of a guard's input if processes may be left behind.
const leaves = 1

// notStarted is the exit status of a guard that could not start its program. Shells use
// the same number.
const notStarted = 127
