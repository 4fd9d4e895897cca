package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stat returns what the system tells of the process pid, without its name: state,
// parent, ... (proc_pid_stat(5), from the third field on). The name, in
// parentheses, may hold spaces and parentheses.
func stat(pid int) [][]byte {
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // empty where there is none
	return bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
}

// Start returns when the process pid started, in a form that is only good for
// comparing; empty where the system does not tell.
func Start(pid int) string {
	fields := stat(pid)
	if len(fields) > 0 && (fields[0][0] == 'Z' || fields[0][0] == 'X') {
		return "dead" // but not yet waited for
	}
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19]) + "@" + namespace()
}

// namespace is where a pid means what it means: that of a container, say.
var namespace = sync.OnceValue(func() string {
	ns, _ := os.Readlink("/proc/self/ns/pid") // empty in all, where it is not told
	return ns
})

// Known tells whether start, which another process said of itself, can be
// compared with what Start says here.
func Known(start string) bool { return start != "" && strings.HasSuffix(start, "@"+namespace()) }

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
			if fields := stat(pid); len(fields) > 1 && string(fields[1]) == self {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
