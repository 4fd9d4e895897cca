package locked

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeBack writes changes that programs made through memory maps to the file. On most file
// systems only then does the next such change set the file's status change time.
func writeBack(f *os.File) {
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, all)
}
