// Package proc runs subprocesses: each in a group of its own, with a deadline that
// holds and with bounded output. Detach is the exception: what it starts outlives
// this process.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Cmd is a subprocess to run.
type Cmd struct {
	Argv    []string
	Shell   string // instead of Argv: a line for the system's shell
	Dir     string
	Env     []string // the whole environment, which says in PATH where to find Argv[0]; nil: that of this process
	Stdin   []byte
	Timeout time.Duration // must be set
	Output  int           // how many bytes of its output to keep, the last ones
	Stdout  io.Writer     // takes standard output; then only standard error is kept
	// Guard is a command that calls Guard, without its arguments. The program runs
	// below it, and is killed with its group when this process is gone.
	Guard []string
}

// Result is how a subprocess ended.
type Result struct {
	Err      error // nil: it ran and exited 0
	ExitCode int   // -1 where it did not exit by itself
	TimedOut bool
	Output   []byte // the last bytes of standard output and error
}

// ErrTimeout is in the Err of a subprocess that ran out of time.
var ErrTimeout = errors.New("timed out")

// waitDelay is how long a grandchild that left the group may hold the output
// open after the child itself is gone, and guardDelay how long a guard has to kill
// what it guards.
const (
	waitDelay  = 200 * time.Millisecond
	guardDelay = time.Second
)

// Run runs a subprocess to its end or to its deadline. When ctx is done the
// whole group is killed.
func Run(ctx context.Context, c Cmd) Result {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
	defer cancel()

	if c.Guard != nil {
		c.Argv = slices.Concat(c.Guard, []string{strconv.Itoa(len(c.Stdin)), c.Shell}, c.Argv)
		c.Shell = "" // the guard's; an argument does not go to every shell as it is
	}
	cmd := command(ctx, c.Env, c.Argv, c.Shell)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, c.Env, waitDelay
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	kept := &tail{limit: c.Output}
	cmd.Stdout, cmd.Stderr = kept, kept
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	g := group(cmd)
	kill := cmd.Cancel
	if c.Guard != nil {
		line, hold, err := os.Pipe()
		if err != nil {
			return Result{Err: err, ExitCode: -1}
		}
		defer hold.Close()
		defer line.Close()
		cmd.Stdin, cmd.Cancel, cmd.WaitDelay = line, hold.Close, guardDelay
		go func() {
			defer func() { _ = recover() }()
			_, _ = hold.Write(c.Stdin) // to the guard's end, or ours
		}()
	}
	err := cmd.Start()
	if err == nil {
		g.started()
		err = cmd.Wait()
		g.done()
		if c.Guard != nil {
			_ = kill() // what it left in the group, if it could not see to that
		}
	}
	r := Result{Err: err, ExitCode: -1, Output: kept.bytes()}
	if cmd.ProcessState != nil {
		r.ExitCode = cmd.ProcessState.ExitCode()
	}
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		r.Err = nil // it exited 0 and left a child behind; that is its business
	case errors.Is(context.Cause(ctx), ErrTimeout):
		r.TimedOut, r.Err = true, fmt.Errorf("%w after %v", ErrTimeout, c.Timeout)
	case ctx.Err() != nil:
		r.Err = context.Cause(ctx)
	}
	return r
}

// command returns a program with its arguments or, if line is not empty, a line for
// the system's shell. The environment's PATH says where the program is. A name with a
// slash is a path from the command's own folder, so it is not looked up here.
func command(ctx context.Context, env, argv []string, line string) *exec.Cmd {
	if line != "" {
		argv = shell
	}
	path, err := argv[0], error(nil)
	if env != nil && filepath.Base(path) == path {
		path, err = LookPath(path, Value(env, "PATH"))
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0] = argv[0]
	if err != nil {
		cmd.Err = err
	}
	if line != "" {
		shellLine(cmd, line)
	}
	return cmd
}
