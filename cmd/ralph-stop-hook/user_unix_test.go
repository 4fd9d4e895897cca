//go:build unix

package main

import (
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// asUser makes cmd run as another user. Root needs that for a test of missing rights,
// because root may do anything.
func asUser(cmd *exec.Cmd, uid string) {
	if id, err := strconv.ParseUint(uid, 10, 32); err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id), Gid: uint32(id)}}
	}
}

// peak returns the largest amount of memory, in MB, that an ended process or a process
// that it waited for had.
func peak(cmd *exec.Cmd) int {
	most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	if runtime.GOOS == "darwin" {
		most >>= 10 // there it is in bytes, getrusage(2)
	}
	return int(most)
}
