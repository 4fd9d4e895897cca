//go:build faults && linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// call is a system call of the program, and the errors that it can end with.
type call struct {
	name   string
	errors []string
}

// calls are those that the program itself makes. Those of Go's runtime (memory,
// threads, signals, epoll) end a Go program before any line of ours runs; they are
// killed at, but not failed.
var calls = []call{
	{"openat", []string{"EIO", "ENOSPC", "EACCES"}},
	{"read", []string{"EIO"}},
	{"pread64", []string{"EIO"}},
	{"write", []string{"EIO", "ENOSPC"}},
	{"fsync", []string{"EIO", "ENOSPC"}},
	{"close", nil}, // strace fails a call by not making it, and a close that fails has closed
	{"renameat", []string{"EIO", "ENOSPC", "EACCES"}},
	{"unlinkat", []string{"EIO", "EACCES"}},
	{"mkdirat", []string{"EIO", "ENOSPC", "EACCES"}},
	{"symlinkat", []string{"EIO", "ENOSPC", "EACCES"}},
	{"readlinkat", []string{"EIO", "EACCES"}},
	{"newfstatat", []string{"EIO", "EACCES"}},
	{"fstat", []string{"EIO"}},
	{"fchmod", []string{"EIO"}},
	{"fchmodat", []string{"EIO"}},
	{"getdents64", []string{"EIO"}},
	{"flock", []string{"EIO"}},
	{"faccessat", nil},
	{"faccessat2", nil},
	{"getcwd", []string{"EACCES"}},
	{"fcntl", nil},
	{"pipe2", nil},
	{"clone", nil},
	{"waitid", nil},
	{"wait4", nil},
	{"kill", nil},
	{"pidfd_open", nil},
	{"pidfd_send_signal", nil},
	{"epoll_ctl", nil},
	{"exit_group", nil},
}

// runtimeCalls are Go's own, at which a run is killed too.
var runtimeCalls = []string{
	"mmap", "rt_sigaction", "rt_sigprocmask", "futex", "epoll_create1", "eventfd2", "prctl", "sigaltstack",
	"sched_getaffinity", "geteuid", "madvise", "prlimit64",
}

func needStrace(t testing.TB) {
	if err := exec.Command("strace", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skipf("needs strace and the right to trace: %v", err)
	}
}

// reach is how far a run came.
type reach int

const (
	missed  reach = iota // it ended before the fault
	reached              // the fault was made
	foreign              // it was made at a call of Go's runtime, which gives up then
)

// under runs the scenario with a fault that strace makes at one call.
func (t *trial) under(name, what string) (r result, how reach, err error) {
	trace := t.root + ".trace"
	defer os.Remove(trace)
	t.wrap = []string{"strace", "-qq", "-y", "-o", trace, "-e", "trace=" + name, "-e", "inject=" + name + ":" + what}
	r, err = t.act(t.world)
	t.wrap = nil
	text, unread := os.ReadFile(trace)
	if unread != nil {
		return r, missed, fmt.Errorf("strace: %w: %s", unread, r.stderr)
	}
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("(INJECTED)")) {
			how = reached
			if bytes.Contains(line, []byte("<anon_inode:[eventfd]>")) {
				return r, foreign, nil
			}
		}
	}
	if r.killed() {
		return r, reached, err
	}
	return r, how, err
}
