//go:build unix

package loopdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// rename writes a temporary file .NAME<digits> beside its target, flushes it, calls confirm
// and renames the file. Without WithRoot, renameio might choose $TMPDIR.
func rename(root *os.Root, name string, data []byte, perm os.FileMode, confirm func(string) error) error {
	mode := []renameio.Option{renameio.WithRoot(root), renameio.WithPermissions(perm),
		renameio.WithExistingPermissions()}
	if perm == 0o600 {
		mode = []renameio.Option{renameio.WithRoot(root), renameio.WithStaticPermissions(perm)}
	}
	f, err := renameio.NewPendingFile(name, mode...)
	for err == nil && !Temporary(filepath.Base(f.Name()), name) { // nobody would sweep it: one in 90,000 is too short
		_ = f.Cleanup()
		f, err = renameio.NewPendingFile(name, mode...)
	}
	if err != nil {
		return err
	}
	if perm != 0o600 {
		keepAttributes(root, name, f.File)
	}
	_, err = f.Write(data)
	if err == nil && confirm != nil {
		err = f.Sync()
		if err == nil {
			err = swapIf(root, filepath.Base(f.Name()), name, confirm)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			_ = f.Cleanup()
			return err
		}
		err = nil
	}
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		_ = f.Cleanup() // the first error is the one to report
	}
	return err
}

// renameCopy is rename without waiting for the disk.
func renameCopy(root *os.Root, name string, data []byte) error {
	temp := tempName(name)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// fresh is how long the time of a file may stay the same while it is written. Linux counts in steps of at most 10 ms.
const fresh = 20 * time.Millisecond

// swapIf puts a temporary file in the place of its target if that is the confirmed one, and puts the target back if it
// is not, as of that moment. Between the two an editor would read our text, and might lose its own. So it is short:
// a file is read once more only if somebody may have written into it.
func swapIf(root *os.Root, temp, name string, confirm func(string) error) error {
	folder, err := root.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close()
	ours, err := root.Lstat(temp)
	if err != nil {
		return err
	}
	was, missing := root.Lstat(name)
	if err := confirm(name); err != nil {
		return err
	}
	if err := swap(folder, temp, name, missing == nil); err != nil || missing != nil {
		return err
	}
	is, err := root.Lstat(temp)
	switch {
	case err != nil:
	case !os.SameFile(was, is):
		err = ErrChanged
	case was.Size() != is.Size() || !was.ModTime().Equal(is.ModTime()) || time.Since(is.ModTime()) < fresh:
		err = confirm(temp)
	}
	if err != nil {
		putBack(root, folder, temp, name, ours)
	}
	return err
}

// putBack gives what is now in the temporary file its name again, in the place of ours. If somebody has replaced ours
// meanwhile, that is the newest text, and is put back in turn.
func putBack(root *os.Root, folder *os.File, temp, name string, ours fs.FileInfo) {
	for range maxSwaps {
		next, err := root.Lstat(temp)
		if err != nil || swap(folder, temp, name, true) != nil {
			return
		}
		out, err := root.Lstat(temp)
		if err != nil || os.SameFile(out, ours) {
			return
		}
		ours = next
	}
}

// maxSwaps is how often a file may be replaced while it is put back.
const maxSwaps = 4

// keepAttributes gives the file f, which is to replace the file name, what belongs to that:
// owner, group and extended attributes. A hook that runs as root in a container would else
// take the project's files from their owner. What the system refuses stays as it is for a
// new file: an edit that is lost is worse.
func keepAttributes(root *os.Root, name string, f *os.File) {
	old, info, err := openFile(root, name, os.O_RDONLY)
	if err != nil {
		return // there is none, or nobody may look at it
	}
	defer old.Close()
	created, err := f.Stat()
	if err != nil {
		return
	}
	was, is := info.Sys().(*syscall.Stat_t), created.Sys().(*syscall.Stat_t)
	if was.Uid != is.Uid || was.Gid != is.Gid {
		if f.Chown(int(was.Uid), int(was.Gid)) != nil {
			_ = f.Chown(-1, int(was.Gid))
		}
	}
	keepExtended(old, f)
}

// canKeepOwner reports whether a file that we replace can belong to whom it belongs to now.
func canKeepOwner(info fs.FileInfo) bool {
	return os.Geteuid() == 0 || owner(info) == uint32(os.Geteuid())
}
