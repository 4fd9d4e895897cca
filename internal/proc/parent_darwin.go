package proc

import "golang.org/x/sys/unix"

// Parent returns the parent of a process, 0 if the system does not tell.
func Parent(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}
