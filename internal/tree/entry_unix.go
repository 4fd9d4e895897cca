//go:build linux || darwin

package tree

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// folderFlag has nothing else be opened in the place of a folder, such as a pipe, for which opening would wait.
const folderFlag = unix.O_DIRECTORY

// entryIn returns what is in an open folder, without its path. To look it up from there takes half the time that it
// takes by its whole path.
func entryIn(folder *os.File, entry fs.DirEntry) (e Entry, err error) {
	var found unix.Stat_t
	for {
		err = unix.Fstatat(int(folder.Fd()), entry.Name(), &found, unix.AT_SYMLINK_NOFOLLOW)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return e, &fs.PathError{Op: "lstat", Path: folder.Name() + "/" + entry.Name(), Err: err}
	}
	e = Entry{
		Mode:    fs.FileMode(found.Mode&0o777) | kinds[uint32(found.Mode)&unix.S_IFMT],
		Size:    found.Size,
		Written: time.Unix(found.Mtim.Unix()),
		Changed: time.Unix(found.Ctim.Unix()),
		inode:   found.Ino,
	}
	if found.Mode&unix.S_ISUID != 0 {
		e.Mode |= fs.ModeSetuid
	}
	if found.Mode&unix.S_ISGID != 0 {
		e.Mode |= fs.ModeSetgid
	}
	if found.Mode&unix.S_ISVTX != 0 {
		e.Mode |= fs.ModeSticky
	}
	return e, nil
}

// kinds are those of files that are not regular.
var kinds = map[uint32]fs.FileMode{
	unix.S_IFDIR:  fs.ModeDir,
	unix.S_IFLNK:  fs.ModeSymlink,
	unix.S_IFIFO:  fs.ModeNamedPipe,
	unix.S_IFSOCK: fs.ModeSocket,
	unix.S_IFBLK:  fs.ModeDevice,
	unix.S_IFCHR:  fs.ModeDevice | fs.ModeCharDevice,
}
