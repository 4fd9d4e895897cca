//go:build unix

package loopdir

import (
	"os"

	"github.com/google/renameio/v2"
)

// rename writes a temporary file beside its target, under .NAME<digits>,
// flushes it and renames it. Without WithRoot, renameio would go by $TMPDIR.
func rename(root *os.Root, name string, data []byte, perm os.FileMode) error {
	f, err := renameio.NewPendingFile(name, renameio.WithRoot(root), renameio.WithPermissions(perm), renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		_ = f.Cleanup() // the write's error is the one to tell
	}
	return err
}
