package proc

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Start returns the start time of the process pid as a text that can only be compared. It
// is empty if the system does not tell.
func Start(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return ""
	}
	at := info.Proc.P_starttime
	return strconv.FormatInt(at.Sec, 10) + "." + strconv.FormatInt(int64(at.Usec), 10)
}
