//go:build linux || darwin

package loopdir

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// keepExtended copies the extended attributes of a file to another one, as far as the
// system lets us. Those of the kernel's own security are made anew with each file.
func keepExtended(from, to *os.File) {
	size, err := unix.Flistxattr(int(from.Fd()), nil)
	if err != nil || size == 0 {
		return
	}
	names := make([]byte, size)
	size, err = unix.Flistxattr(int(from.Fd()), names)
	if err != nil {
		return
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		if strings.HasPrefix(name, "security.") || strings.HasPrefix(name, "trusted.") {
			continue
		}
		value := make([]byte, maxAttribute)
		if size, err := unix.Fgetxattr(int(from.Fd()), name, value); err == nil {
			_ = unix.Fsetxattr(int(to.Fd()), name, value[:size], 0)
		}
	}
}

// maxAttribute is the largest value of an extended attribute that Linux knows, in bytes.
const maxAttribute = 64 << 10
