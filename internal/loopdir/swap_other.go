//go:build unix && !linux

package loopdir

import (
	"errors"
	"os"
)

// swap is for Linux.
func swap(*os.Root, string, string) error { return errors.ErrUnsupported }
