package proc

import "strconv"

// Parent returns the parent of a process, 0 if the system does not tell.
func Parent(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
