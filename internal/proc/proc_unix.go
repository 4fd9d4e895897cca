//go:build unix

package proc

import (
	"os"
	"os/exec"
	"syscall"
)

var shell = []string{"/bin/sh", "-c"}

func shellLine(cmd *exec.Cmd, line string) { cmd.Args = append(cmd.Args, line) }

// detached is a session of its own: a terminal that is closed does not end it.
var detached = &syscall.SysProcAttr{Setsid: true}

type grouped struct{}

// group puts cmd into a process group of its own and kills all of it when its
// context is done: a deadline alone would leave grandchildren running.
func group(cmd *exec.Cmd) grouped {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return grouped{}
}

// killGroup kills this process, with all of its group if that is its own.
func killGroup() {
	if syscall.Getpgrp() == syscall.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(1)
}

func (grouped) started() {}
func (grouped) done()    {}

// Alive tells whether the process pid, which said of itself Start, still runs. One
// that cannot be looked at from here counts as alive; see Known.
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
