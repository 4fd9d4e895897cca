//go:build !linux && !darwin

package tree

import (
	"io/fs"
	"os"
)

// folderFlag is 0: Windows has no pipes in folders.
const folderFlag = 0

// entryIn returns what is in an open folder, without its path.
func entryIn(_ *os.File, entry fs.DirEntry) (e Entry, err error) {
	info, err := entry.Info()
	if err != nil {
		return e, err
	}
	return entryOf(info), nil
}
