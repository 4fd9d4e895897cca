//go:build unix

package loopdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

var (
	errNotDir   error = syscall.ENOTDIR
	errReadOnly error = syscall.EROFS
	errNoLocks  error = syscall.ENOLCK
)

// nonblock lets open return at once for a FIFO that has no writer.
const nonblock = syscall.O_NONBLOCK

// userStateDir returns the system's folder for the state of the user's programs, or "" if
// it is unknown.
func userStateDir(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir // the XDG specification says to ignore a relative path
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support")
	}
	return filepath.Join(home, ".local", "state")
}

// checkOwner refuses a folder that somebody else could have written. The folder must belong
// to the user, to root, or to the owner of the project (a container may mount a project of
// another user). It must not be writable for everybody.
func checkOwner(info fs.FileInfo, dir, project string) error {
	if info.Mode()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		err := fmt.Errorf("%s can be written by everybody (mode %04o)", dir, info.Mode().Perm())
		return &Fix{err, "chmod o-w " + plain.Arg(dir)}
	}
	if foreign(info, project) {
		return fmt.Errorf("%s belongs to another user (uid %d)", dir, owner(info))
	}
	return nil
}

// foreign reports whether a file belongs neither to the user nor to root nor to the owner of the project.
func foreign(info fs.FileInfo, project string) bool {
	uid := owner(info)
	if uid == uint32(os.Geteuid()) || uid == 0 {
		return false
	}
	of, err := os.Stat(project)
	return err != nil || owner(of) != uid
}

// owner returns the user id of a file's owner.
func owner(info fs.FileInfo) uint32 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Uid
	}
	return uint32(os.Geteuid())
}

// private refuses a record that has a second name (hard link) or another owner. A second
// name could mean that the record is somebody else's file, or that somebody can still
// write ours.
func private(info fs.FileInfo) error {
	if !oneName(info) || owner(info) != uint32(os.Geteuid()) {
		return errors.New("it has a second name or another owner")
	}
	return nil
}

// oneName reports whether a file has no second name. An open file that was replaced has no
// name at all, which is fine too.
func oneName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Nlink <= 1
}

// flock takes the lock of flock(2), which a process can have that can only read the file.
// It returns false if another process holds it.
func flock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch err {
		case nil:
			return true, nil
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return false, nil
		default:
			return false, err
		}
	}
}

// awaitFlock is flock that waits.
func awaitFlock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}

// syncDir makes the names in an open folder durable.
func syncDir(d *os.File) error { return d.Sync() }

// Writable reports whether the user may create files in a folder.
func Writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// Free returns how many bytes can be written below a folder, or below the nearest folder above it that exists.
func Free(dir string) (bytes int64, known bool) {
	dir, _, err := nearest(dir)
	var disk unix.Statfs_t
	if err != nil || unix.Statfs(dir, &disk) != nil {
		return 0, false
	}
	return int64(disk.Bavail) * int64(disk.Bsize), true
}
