package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machines has how the kernel names a processor. They are all little-endian.
var machines = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Where the kernel's struct seccomp_data has what a filter looks at.
const (
	atNumber, atArch, atFirst, atSecond = 0, 4, 16, 24

	x32 = 0x40000000 // begins the numbers of a second set of calls, on amd64
)

// Calls and values for which x/sys has no name.
const (
	tioclinux       = 0x541C     // pastes on a console
	fsIocFssetxattr = 0x401c5820 // sets attributes of a file

	// datagrams is set in the types of sockets without a connection: unix.SOCK_DGRAM, and unix.SOCK_RAW, which means
	// the same for Unix sockets.
	datagrams = 2
)

var (
	// xattrs set what could be an access list. Programs do without, as on a file system that has none.
	xattrs = []uint32{
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	}
	// ioctls give input to a terminal, or change flags of a file.
	ioctls = []uint32{unix.TIOCSTI, tioclinux, unix.FS_IOC_SETFLAGS, fsIocFssetxattr}
)

// filter refuses what Landlock allows: the sockets of the user's services, such as systemd's and
// Docker's, which run programs for anybody; input to a terminal; and limits on other processes,
// such as the hook, which would end at a limit.
func filter() error {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	end := func(how uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: how} }
	// unless skips the next instructions if a condition does not hold.
	unless := func(test uint16, value uint32, skip int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | test, K: value, Jf: uint8(skip)}
	}
	allow := end(unix.SECCOMP_RET_ALLOW)
	refuse := end(unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES))
	program := []unix.SockFilter{
		// A call of 32 bits has other numbers.
		load(atArch), {Code: unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ, K: machines[runtime.GOARCH], Jt: 1}, refuse,
		load(atNumber), unless(unix.BPF_JGE, x32, 1), refuse,
	}
	// on says what becomes of a call. The instructions come to an end on each way.
	on := func(number uint32, then ...unix.SockFilter) {
		program = append(append(program, unless(unix.BPF_JEQ, number, len(then))), then...)
	}
	on(unix.SYS_IO_URING_SETUP, refuse) // it makes sockets without a call
	on(unix.SYS_FILE_SETATTR, refuse)
	on(unix.SYS_PRLIMIT64, load(atFirst), unless(unix.BPF_JEQ, 0, 1), allow, refuse) // its own limits
	on(unix.SYS_SOCKET, load(atFirst), unless(unix.BPF_JEQ, unix.AF_UNIX, 1), refuse, allow)
	on(unix.SYS_SOCKETPAIR, load(atFirst), unless(unix.BPF_JEQ, unix.AF_UNIX, 3),
		load(atSecond), unless(unix.BPF_JSET, datagrams, 1), refuse, allow) // they can be sent elsewhere than to the pair
	bad := []unix.SockFilter{load(atSecond)}
	for _, one := range ioctls {
		bad = append(bad, unless(unix.BPF_JEQ, one, 1), refuse)
	}
	on(unix.SYS_IOCTL, append(bad, allow)...)
	for _, number := range xattrs {
		on(number, end(unix.SECCOMP_RET_ERRNO|uint32(unix.EOPNOTSUPP)))
	}
	program = append(program, allow)
	all := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&all)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	return nil
}
