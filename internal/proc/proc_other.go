//go:build !linux

package proc

import "time"

// guardDelay is waitDelay with a guard, which kills its group or its job meanwhile.
const guardDelay = time.Second

// Known reports whether start, a result of Start in another process, can be compared with a
// result of Start in this process.
func Known(start string) bool { return start != "" }

// Stopped reports whether a process is stopped. This system does not tell.
func Stopped(Process) bool { return false }

// This system does not tell of processes that have left the group. So only the group, or
// on Windows the job, is killed.
func adopt()       {}
func killAdopted() {}
