//go:build unix

package loopdir

import (
	"os"

	"github.com/google/renameio/v2"
)

// rename writes a temporary file beside its target, under .NAME<digits>,
// flushes it, asks last, and renames it. Without WithRoot, renameio would go by $TMPDIR.
func rename(root *os.Root, name string, data []byte, perm os.FileMode, last func() error) error {
	mode := []renameio.Option{renameio.WithRoot(root), renameio.WithPermissions(perm), renameio.WithExistingPermissions()}
	if perm == 0o600 {
		mode = []renameio.Option{renameio.WithRoot(root), renameio.WithStaticPermissions(perm)}
	}
	f, err := renameio.NewPendingFile(name, mode...)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil && last != nil {
		if err = f.Sync(); err == nil {
			err = last()
		}
	}
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		_ = f.Cleanup() // the write's error is the one to tell
	}
	return err
}
