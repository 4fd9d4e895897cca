package proc

import (
	"os"
	"slices"
)

// maxAncestors bounds a chain of parents.
const maxAncestors = 64

// Ancestors returns the parent of this process, its parent, and so on, without the first process of the system.
func Ancestors() (pids []int) {
	for pid := Parent(os.Getpid()); pid > 1 && len(pids) < maxAncestors && !slices.Contains(pids, pid); pid = Parent(pid) {
		pids = append(pids, pid)
	}
	return pids
}
