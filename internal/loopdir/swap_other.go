//go:build unix && !linux

package loopdir

import (
	"errors"
	"os"
)

// swap is for Linux.
func swap(*os.File, string, string, bool) error { return errors.ErrUnsupported }
