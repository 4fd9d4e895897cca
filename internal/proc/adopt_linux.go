package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of what its children leave behind, also in
// a session of its own.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killTime bounds how long those are hunted that multiply meanwhile.
const killTime = time.Second

// killAdopted kills this process's children, and their children as they become its
// own, until there are none.
func killAdopted() {
	self := strconv.Itoa(os.Getpid())
	for end := time.Now().Add(killTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		for pid > 0 {
			pid, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
		if err == syscall.ECHILD {
			return
		}
		names, _ := os.ReadDir("/proc")
		for _, name := range names {
			pid, err := strconv.Atoi(name.Name())
			if err != nil {
				continue
			}
			stat, _ := os.ReadFile("/proc/" + name.Name() + "/stat")
			// Behind the name come the state and the parent (proc_pid_stat(5)).
			if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 1 && string(fields[1]) == self {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
