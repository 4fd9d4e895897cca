// Package proc runs subprocesses. Run gives each one a process group of its own, a deadline
// that also ends its children, and a bound on its output. Detach starts a program that
// outlives this process.
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
	"runtime"
	"slices"
	"strconv"
	"time"
)

// Cmd is a subprocess to run.
type Cmd struct {
	Argv    []string
	Shell   string // a line for the system's shell, instead of Argv
	Dir     string
	Env     []string // the whole environment; its PATH finds Argv[0]; nil: that of this process
	Stdin   []byte
	Input   *os.File      // if set, standard input, from where it is read next; not with Guard
	Timeout time.Duration // required
	Output  int           // how many bytes of the output to keep; the last ones are kept
	Stdout  io.Writer     // if set, it gets standard output, and only standard error is kept
	Stderr  io.Writer     // if set, it gets standard error, which is not kept
	// Whole says that the output counts to its end: Run waits longer for it, and an output that does not end is an error.
	Whole bool
	// Guard is the path of a program that does GuardJob. If it is set, such a process runs
	// the program and kills it when this process is gone.
	Guard string
	// Leaves says that what the program has started may live on when the program has ended by itself.
	Leaves bool
	// Grace is how long the program may take to end, once its time is up or ctx is done: it is
	// asked first, with SIGTERM to its group, and killed then. It needs Guard. Windows has no
	// such signal, so there the program is killed at once. A closed Now ends the grace.
	Grace time.Duration
	Now   <-chan struct{}
	// Session starts the guard in a session of its own, without a terminal.
	Session bool
	// Started, if it is set, is called when the guard runs. The program starts only after it has returned, and not if it
	// returns an error.
	Started func(pid int) error
}

// Result is how a subprocess ended.
type Result struct {
	Err      error // nil if it ran and exited with status 0
	ExitCode int   // -1 if it did not exit by itself
	TimedOut bool
	NotRun   bool // it could not be started, and Err says why
	// Interrupted says that SIGINT ended it: a terminal's Ctrl-C reaches a process that has no group of its own yet.
	Interrupted bool
	Output      []byte // the last bytes of standard output and error
}

// ErrTimeout is wrapped in the Err of a subprocess that did not end before its deadline.
var ErrTimeout = errors.New("timed out")

const (
	// waitDelay is how long Run waits for the end of the output after the child has ended. A
	// grandchild that left the group may hold the output open.
	waitDelay = 200 * time.Millisecond
	// wholeDelay is the same if the output counts to its end. On a very busy machine 5 s were too few to read it.
	wholeDelay = 12 * time.Second
)

// Run runs a subprocess to its end or to its deadline. It kills the whole group at the
// deadline or when ctx is done.
func Run(ctx context.Context, c Cmd) Result {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
	defer cancel()

	if c.Guard != "" {
		c.Argv = slices.Concat([]string{c.Guard, strconv.Itoa(len(c.Stdin)), c.Shell}, c.Argv)
		c.Shell = "" // the guard starts the shell: quoting would change the line on some systems
	}
	cmd := command(ctx, c.Env, c.Argv, c.Shell)
	if c.Guard != "" {
		cmd.Args[0] = GuardJob.Argv0(c.Guard)
	}
	cmd.Dir = c.Dir
	cmd.Env = inFolder(c.Env, c.Dir)
	cmd.WaitDelay = waitDelay
	if c.Whole {
		cmd.WaitDelay = wholeDelay
	}
	switch {
	case c.Input != nil:
		cmd.Stdin = c.Input
	case c.Stdin != nil:
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	kept := &Tail{Limit: c.Output}
	cmd.Stdout, cmd.Stderr = kept, kept
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	g := group(cmd)
	if c.Session {
		ownSession(cmd)
	}
	kill, begin := cmd.Cancel, func(error) {}
	if c.Guard != "" {
		line, hold, err := os.Pipe()
		if err != nil {
			return Result{Err: err, ExitCode: -1, NotRun: true}
		}
		defer hold.Close()
		defer line.Close()
		cmd.Stdin, cmd.Cancel, cmd.WaitDelay = line, hold.Close, guardDelay
		sent := make(chan struct{})
		if canAsk && c.Grace > 0 {
			cmd.Cancel, cmd.WaitDelay = func() error { <-sent; return c.ask(hold) }, c.Grace+guardDelay
		}
		first := []byte{0}
		if c.Leaves {
			first[0] = leaves
		}
		begin = func(refused error) {
			defer func() { _ = recover() }()
			defer close(sent)
			if refused != nil {
				hold.Close()
				return
			}
			_, _ = hold.Write(append(first, c.Stdin...)) // returns when the guard has read it, or has ended
		}
	}
	var refused error
	err := cmd.Start()
	if err == nil {
		g.started()
		if c.Started != nil {
			refused = c.Started(cmd.Process.Pid)
		}
		go begin(refused) // the guard starts nothing before that
		err = cmd.Wait()
		g.done()
		if c.Guard != "" && (!c.Leaves || ctx.Err() != nil || cmd.ProcessState.ExitCode() < 0) {
			_ = kill() // the rest of the group, in case the guard itself was killed
		}
	}
	r := Result{Err: err, ExitCode: -1, NotRun: cmd.Process == nil, Output: kept.Bytes()}
	if refused != nil {
		r.NotRun, r.Err = true, refused
		return r
	}
	if cmd.ProcessState != nil {
		r.ExitCode = cmd.ProcessState.ExitCode()
		status := exitStatus(cmd.ProcessState)
		r.Interrupted = r.ExitCode < 0 && status == statusInterrupted
		if slices.Contains(statusEnded, status) {
			select {
			case <-ctx.Done():
			case <-time.After(endedWait):
			}
		}
	}
	switch {
	case errors.Is(err, exec.ErrWaitDelay) && !c.Whole:
		r.Err = nil // it exited with status 0 and left a child behind, which is allowed
	case c.Leaves && r.ExitCode == 0:
		r.Err = nil // it did its work just before ctx was done; to do that twice would be wrong
	case errors.Is(context.Cause(ctx), ErrTimeout):
		r.TimedOut, r.Err = true, fmt.Errorf("%w after %v", ErrTimeout, c.Timeout)
	case ctx.Err() != nil:
		r.Err = context.Cause(ctx)
	}
	if ctx.Err() != nil && c.Guard != "" && r.ExitCode == statusKilled {
		r.ExitCode = -1 // the guard killed its program, and could still say so
	}
	return r
}

// statusEnded are the exit statuses of programs that SIGHUP, SIGINT and SIGTERM have ended. A client ends our children
// before it ends us: a child that it ended has not failed, and our ctx is done within endedWait.
var statusEnded = []int{128 + 1, statusInterrupted, 128 + 15}

const endedWait = time.Second

const (
	statusKilled      = 128 + 9 // of a guard whose program was killed
	statusInterrupted = 128 + 2 // of a program that SIGINT has ended, as shells say it
)

// ask lets the guard ask its program to end, and kill it after the grace.
func (c Cmd) ask(hold *os.File) error {
	_, err := hold.Write([]byte{0})
	go func() {
		select {
		case <-time.After(c.Grace):
		case <-c.Now:
		}
		_ = hold.Close()
	}()
	return err
}

// inFolder returns an environment for a program that starts in dir. PWD is that folder. On
// Windows the shell finds no program there that PATH does not find. An environment that
// is not given is left as it is.
func inFolder(env []string, dir string) []string {
	path, err := filepath.Abs(dir)
	switch {
	case env == nil:
		return nil
	case runtime.GOOS == "windows":
		return append(slices.Clone(env), "NoDefaultCurrentDirectoryInExePath=1")
	case dir == "" || err != nil:
		return env
	}
	return append(slices.Clone(env), "PWD="+path)
}

// command returns a program with its arguments or, if line is not empty, a line for
// the system's shell. The environment's PATH says where the program is. A name with a
// slash is a path from the command's own folder, so it is not looked up here.
func command(ctx context.Context, env, argv []string, line string) *exec.Cmd {
	if line != "" {
		argv = shell
	}
	path, err := argv[0], error(nil)
	if JobOf(path) != "" {
		path, err = os.Executable()
	}
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
