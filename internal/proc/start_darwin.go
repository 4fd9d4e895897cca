package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Start returns when the process pid started, in a form that is only good for
// comparing; empty where the system does not tell.
func Start(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(at.Sec, 10) + "." + strconv.FormatInt(int64(at.Usec), 10)
}
