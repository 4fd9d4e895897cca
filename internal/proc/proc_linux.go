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

// stat returns the fields of /proc/PID/stat from the third on: state, parent, ...; see
// proc_pid_stat(5). The second field is the program's name in parentheses. It may have
// spaces and parentheses itself, so the fields are counted from the last parenthesis.
func stat(pid int) [][]byte {
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // empty if there is no such process
	return bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
}

// Start returns the start time of the process pid as a text that can only be compared. It
// is empty if the system does not tell.
func Start(pid int) string {
	fields := stat(pid)
	if len(fields) > 0 && (fields[0][0] == 'Z' || fields[0][0] == 'X') {
		return "dead" // a zombie: it has ended, and its parent has not waited for it
	}
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19]) + "@" + namespace()
}

// Stopped reports whether a process is stopped, as by SIGSTOP or Ctrl-Z.
func Stopped(p Process) bool {
	fields := stat(p.PID)
	return p.Start != "" && len(fields) > 0 && fields[0][0] == 'T' && Start(p.PID) == p.Start
}

// namespace names the pid namespace of this process. A container has its own, in which the
// same pid means another process.
var namespace = sync.OnceValue(func() string {
	ns, _ := os.Readlink("/proc/self/ns/pid") // without /proc, the same empty text for every process
	return ns
})

// Known reports whether start can be compared with a result of Start in this process. It is
// a result of Start in another process, which may run in another pid namespace.
func Known(start string) bool { return start != "" && strings.HasSuffix(start, "@"+namespace()) }

// adopt makes this process the reaper of its descendants: it becomes the parent of each
// one whose own parent ends, even of those in another session.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

const (
	// killTime is how long killAdopted tries at most. Processes may fork while it kills them, and on a busy machine
	// each look at all processes takes long.
	killTime = 5 * time.Second
	// guardDelay is waitDelay with a guard, which kills its program and all that this left meanwhile.
	guardDelay = killTime
)

// killAdopted kills all descendants of this process. It kills the children again and again,
// because the children of a killed child become children of this process.
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
