//go:build unix

package proof

import "syscall"

// openFlags has a file opened without waiting for the other end of a pipe.
const openFlags = syscall.O_NONBLOCK
