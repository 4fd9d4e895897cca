//go:build unix

package main

import (
	"os/exec"
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
