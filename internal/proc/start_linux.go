package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Start returns when the process pid started, in a form that is only good for
// comparing; empty where the system does not tell.
func Start(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name, in parentheses, may hold spaces and parentheses. Behind it the
	// start time is the 20th field (the 22nd of the line, proc_pid_stat(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) > 0 && (fields[0][0] == 'Z' || fields[0][0] == 'X') {
		return "dead" // but not yet waited for
	}
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19]) + "@" + namespace()
}

// namespace is where a pid means what it means: that of a container, say.
func namespace() string {
	ns, _ := os.Readlink("/proc/self/ns/pid") // empty in all, where it is not told
	return ns
}

// Known tells whether start, which another process said of itself, can be
// compared with what Start says here.
func Known(start string) bool { return start != "" && strings.HasSuffix(start, "@"+namespace()) }
