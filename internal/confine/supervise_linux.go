package confine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Neither Landlock nor a filter of calls knows of which file a program changes the mode or the owner. So the process
// that has started it does that in its place, if the file is in one of the folders.

// modes are the calls that change modes and owners on all processors.
var modes = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT,
}

// supervisor is the descriptor by which the confined process has its supervisor: see Supervise.
const supervisor = 3

// Supervise has this process be the supervisor of a command that calls Exec. It comes before the command starts.
func Supervise(cmd *exec.Cmd) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(pair[1]), "supervisor")}
	go func() {
		defer func() { _ = recover() }() // the calls fail then
		serve(pair[0])
	}()
	return nil
}

// hand gives a supervisor the listener of a filter, and the folders.
func hand(listener int, folders []string) error {
	text, err := json.Marshal(folders)
	if err != nil {
		return err
	}
	unix.CloseOnExec(supervisor)
	if err := unix.Sendmsg(supervisor, text, unix.UnixRights(listener), nil, 0); err != nil {
		return fmt.Errorf("no supervisor: %w", err)
	}
	return nil
}

// asked is the kernel's struct seccomp_notif.
type asked struct {
	id         uint64
	pid, flags uint32
	number     uint32
	arch       uint32
	at         uint64
	args       [6]uint64
}

// answer is its struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// maxFolderText is how long the folders may be, in bytes.
const maxFolderText = 256 << 10

// serve answers the calls of a confined process, and of all that it starts.
func serve(from int) {
	text, rights := make([]byte, maxFolderText), make([]byte, unix.CmsgSpace(4))
	n, oob, _, _, err := unix.Recvmsg(from, text, rights, unix.MSG_CMSG_CLOEXEC)
	unix.Close(from)
	if err != nil {
		return
	}
	var folders []string
	messages, err := unix.ParseSocketControlMessage(rights[:oob])
	if err != nil || len(messages) != 1 || json.Unmarshal(text[:n], &folders) != nil {
		return
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return
	}
	defer unix.Close(fds[0])
	control := func(request uintptr, with unsafe.Pointer) unix.Errno {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fds[0]), request, uintptr(with))
		return errno
	}
	for {
		poll := []unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}}
		_, err := unix.Poll(poll, -1)
		if err != nil && err != unix.EINTR || poll[0].Revents&unix.POLLHUP != 0 {
			return
		}
		var one asked
		if control(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&one)) != 0 {
			continue // it was interrupted, or is gone
		}
		err = one.do(folders, func() bool {
			return control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&one.id)) == 0
		})
		got := answer{id: one.id}
		if err != nil {
			errno := unix.EPERM
			errors.As(err, &errno)
			got.errno = -int32(errno)
		}
		control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&got))
	}
}

// do does what a process has asked for. waits reports whether that process still waits for the answer.
func (a *asked) do(folders []string, waits func() bool) error {
	has := machines[runtime.GOARCH]
	dir, name, rest, flags := int32(unix.AT_FDCWD), a.args[0], a.args[1:], uint64(0)
	switch a.number {
	case unix.SYS_FCHMOD, unix.SYS_FCHOWN:
		dir, name, flags = int32(a.args[0]), 0, unix.AT_EMPTY_PATH
	case has.lchown:
		flags = unix.AT_SYMLINK_NOFOLLOW
	case unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT:
		dir, name, rest = int32(a.args[0]), a.args[1], a.args[2:]
	}
	owner := slices.Contains([]uint32{unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, has.chown, has.lchown}, a.number)
	switch a.number {
	case unix.SYS_FCHMODAT2:
		flags = a.args[3]
	case unix.SYS_FCHOWNAT:
		flags = a.args[4]
	}
	file, err := a.open(dir, name, flags)
	if err != nil {
		return err
	}
	defer unix.Close(file)
	here := fmt.Sprintf("/proc/self/fd/%d", file)
	path, err := os.Readlink(here)
	inside := func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
	switch {
	case err != nil:
		return err
	case !slices.ContainsFunc(folders, inside):
		return unix.EPERM
	case !waits(): // all of the above may have been of another process
		return unix.ESRCH
	case owner:
		return unix.Fchownat(file, "", int(int32(rest[0])), int(int32(rest[1])), unix.AT_EMPTY_PATH)
	}
	return unix.Fchmodat(unix.AT_FDCWD, here, uint32(rest[0]), 0)
}

// open opens the file that a call names by a folder and by the address of a path.
func (a *asked) open(dir int32, name, flags uint64) (file int, err error) {
	base := fmt.Sprintf("/proc/%d/cwd", a.pid)
	descriptor := func(number string) string { return fmt.Sprintf("/proc/%d/fd/%s", a.pid, number) }
	if dir != unix.AT_FDCWD {
		base = descriptor(fmt.Sprint(dir))
	}
	text := ""
	if name != 0 {
		text, err = a.text(name)
		if err != nil {
			return -1, err
		}
	}
	const path = unix.O_PATH | unix.O_CLOEXEC
	if number, is := strings.CutPrefix(text, "/proc/self/fd/"); is { // as C libraries do
		base, text, flags = descriptor(filepath.Base(number)), "", unix.AT_EMPTY_PATH
	}
	if text == "" {
		if flags&unix.AT_EMPTY_PATH == 0 {
			return -1, unix.ENOENT
		}
		return unix.Open(base, path, 0)
	}
	folder, err := unix.Open(base, path, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(folder)
	how := &unix.OpenHow{Flags: path, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		how.Flags |= unix.O_NOFOLLOW
	}
	return unix.Openat2(folder, text, how)
}

// text reads a path from the memory of the process.
func (a *asked) text(at uint64) (string, error) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", a.pid))
	if err != nil {
		return "", err
	}
	defer memory.Close()
	buffer := make([]byte, unix.PathMax)
	n, _ := memory.ReadAt(buffer, int64(at)) // the memory may end behind the text
	text, _, ends := bytes.Cut(buffer[:n], []byte{0})
	switch {
	case n == 0:
		return "", unix.EFAULT
	case !ends:
		return "", unix.ENAMETOOLONG
	}
	return string(text), nil
}
