//go:build unix && !linux && !darwin

package proc

import "os"

// Parent returns the parent of a process, 0 if the system does not tell. These systems have a simple way for this
// process alone.
func Parent(pid int) int {
	if pid == os.Getpid() {
		return os.Getppid()
	}
	return 0
}
