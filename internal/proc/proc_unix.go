//go:build unix

package proc

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// TempDir is the folder for temporary files if no variable names one.
const TempDir = "/tmp"

var shell = []string{"/bin/sh", "-c"}

// shellLine adds the line for the shell to a command.
func shellLine(cmd *exec.Cmd, line string) { cmd.Args = append(cmd.Args, line) }

// detached puts a program into a session of its own, so that it lives on when the terminal
// is closed.
var detached = &syscall.SysProcAttr{Setsid: true}

// grouped is what group returns. Here it has nothing to keep.
type grouped struct{}

// group puts cmd into a process group of its own and kills the group when cmd's context is
// done. To kill only the child would leave grandchildren running.
func group(cmd *exec.Cmd) grouped {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return grouped{}
}

// ownSession makes cmd the leader of a session and of its group. A session has no terminal at first.
func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// canAsk says that a program can be asked to end.
const canAsk = true

// askGroup asks all other processes of this process's group to end.
func askGroup() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) // not ignored: programs inherit that
	if syscall.Getpgrp() == syscall.Getpid() {
		_ = syscall.Kill(0, syscall.SIGTERM)
	}
}

// exitStatus returns a program's exit status. If a signal ended it, that is 128 and the signal, as
// shells have it.
func exitStatus(s *os.ProcessState) int {
	if w, is := s.Sys().(syscall.WaitStatus); is && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// killGroup ends this process. If it leads a process group, the whole group is killed.
func killGroup() {
	if syscall.Getpgrp() == syscall.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(1)
}

func (grouped) started() {}
func (grouped) done()    {}

// Alive reports whether the process pid still runs. start is the result of Start in that
// process, or empty; it tells the process from a later one with the same pid. A process of
// another pid namespace counts as alive; see Known.
func Alive(pid int, start string) bool {
	if pid > 0 && start != "" && !Known(start) {
		return true
	}
	if pid <= 0 || syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	now := Start(pid)
	return now != "dead" && (start == "" || now == "" || now == start)
}
