package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock refuses. Nothing may make a device: with one, root could write to a disk.
const (
	content  = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	makeNode = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	granted  = content | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// least is the version of Landlock that keeps signals in. Before it, a program could end the hook.
const least = 6

// abi returns the version of Landlock. A test plays another one.
var abi = func() int {
	v, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return int(v) // negative if there is no Landlock
}

// Available returns an error if this system cannot confine a program.
func Available() error {
	if _, is := machines[runtime.GOARCH]; !is {
		return errors.New(`"confine" is for amd64 and arm64`)
	}
	switch v := abi(); {
	case v <= 0:
		return errors.New(`"confine" needs Landlock, and this system has it not; it is a part of Linux 6.12 and later`)
	case v < least:
		return errors.New(`"confine" needs Linux 6.12 or later: before, a check could end other processes of yours; ` +
			`take the key out, or run the loop in a container`)
	}
	return nil
}

// Exec makes this process the program at path, which can write below the folders and
// nowhere else. The folders must have no links in their paths. Exec returns only after an error.
func Exec(folders []string, path string, argv, env []string) error {
	if err := Available(); err != nil {
		return err
	}
	// What confines is a property of this thread; by exec it becomes the process.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot set no_new_privs: %w", err)
	}
	if err := restrict(folders); err != nil {
		return fmt.Errorf("no Landlock: %w", err)
	}
	if err := filter(); err != nil {
		return fmt.Errorf("no seccomp filter: %w", err)
	}
	return &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, argv, env)}
}

// restrict confines this thread with Landlock.
func restrict(folders []string) error {
	handled := unix.LandlockRulesetAttr{
		Handled_access_fs: granted | makeNode | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
		Scoped:            unix.LANDLOCK_SCOPE_SIGNAL | unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET,
	}
	const size = 24 // the fields up to Scoped; kernels take more only if they know it
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&handled)), size, 0)
	if errno != 0 {
		return errno
	}
	for _, folder := range folders {
		how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
		fd, err := unix.Openat2(unix.AT_FDCWD, folder, how)
		if err == nil {
			err = allow(int(rules), fd, granted)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	for _, path := range devices {
		// A container may lack one.
		if fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0); err == nil {
			if err := allow(int(rules), fd, content|unix.LANDLOCK_ACCESS_FS_IOCTL_DEV); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func allow(rules, fd int, access uint64) error {
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= content | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV // a file takes no other right
	}
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
