//go:build unix

package hostile

import (
	"time"

	"golang.org/x/sys/unix"
)

// used returns the time of the processor that this process has used.
func used() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
