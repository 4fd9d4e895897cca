//go:build unix

package loopdir

import (
	"os"

	"github.com/google/renameio/v2"
)

// Replace sets the content of the file name in root, whole or not at all. nil
// means that it is on stable storage; after an error the file is the old or
// the new one. A file that exists keeps its mode; a new one gets perm.
func Replace(root *os.Root, name string, data []byte, perm os.FileMode) error {
	// WithRoot keeps the temporary file beside its target, under .NAME<digits>.
	opts := []renameio.Option{renameio.WithRoot(root), renameio.WithPermissions(perm)}
	if err := regular(root, name); err == nil {
		opts = append(opts, renameio.WithExistingPermissions())
	} else if !os.IsNotExist(err) {
		return err
	}
	f, err := renameio.NewPendingFile(name, opts...)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		_ = f.Cleanup() // the write's error is the one to tell
		return err
	}
	return syncDir(root)
}
