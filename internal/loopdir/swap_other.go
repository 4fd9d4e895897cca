//go:build unix && !linux

package loopdir

import (
	"errors"
	"os"
)

// swap is for Linux.
func swap(*os.Root, string, string) (exchanged bool, err error) { return false, errors.ErrUnsupported }
