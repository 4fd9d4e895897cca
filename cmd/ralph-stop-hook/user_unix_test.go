//go:build unix

package main

import (
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// asUser runs cmd as another user, which root needs in order to be refused
// anything.
func asUser(cmd *exec.Cmd, uid string) {
	if id, err := strconv.ParseUint(uid, 10, 32); err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	}
}

// peak is the most memory, in MB, that a process which has ended had, or one that it
// has waited for.
func peak(cmd *exec.Cmd) int {
	most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	if runtime.GOOS == "darwin" {
		most >>= 10 // there it is in bytes, getrusage(2)
	}
	return int(most)
}
