//go:build !linux

package proc

// Here nothing tells of a process that has left the group: only the group, or on
// Windows the job, is killed.
func adopt()       {}
func killAdopted() {}
