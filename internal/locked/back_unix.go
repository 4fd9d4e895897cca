//go:build unix && !linux

package locked

import (
	"os"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK // in case it has become a FIFO

func writeBack(*os.File) {}
