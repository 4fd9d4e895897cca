//go:build unix

package loopdir

import (
	"os"

	"github.com/google/renameio/v2"
)

// rename writes a temporary file .NAME<digits> beside its target, flushes it, calls confirm
// and renames the file. Without WithRoot, renameio might choose $TMPDIR.
func rename(root *os.Root, name string, data []byte, perm os.FileMode, confirm func() error) error {
	mode := []renameio.Option{renameio.WithRoot(root), renameio.WithPermissions(perm),
		renameio.WithExistingPermissions()}
	if perm == 0o600 {
		mode = []renameio.Option{renameio.WithRoot(root), renameio.WithStaticPermissions(perm)}
	}
	f, err := renameio.NewPendingFile(name, mode...)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil && confirm != nil {
		if err = f.Sync(); err == nil {
			err = confirm()
		}
	}
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		_ = f.Cleanup() // the first error is the one to report
	}
	return err
}
