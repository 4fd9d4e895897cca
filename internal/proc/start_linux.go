package proc

import (
	"bytes"
	"os"
	"strconv"
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
	return string(fields[19])
}
