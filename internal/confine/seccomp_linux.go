package confine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// audit says for which processors there is a filter. They are all little-endian.
var audit = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Where the kernel's struct seccomp_data has what a filter looks at.
const (
	atNumber, atArch, atFirst, atSecond = 0, 4, 16, 24

	x32 = 0x40000000 // begins the numbers of a second set of calls, on amd64
)

// filter refuses what Landlock allows: the sockets of the user's services, such as systemd's and
// Docker's, which run programs for anybody; input to a terminal; and limits on other processes,
// such as the hook, which would end at a limit.
func filter() error {
	const load, equal, atLeast, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K,
		unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{
		{Code: load, K: atArch},
		{Code: equal, K: audit[runtime.GOARCH], Jf: 14}, // 32-bit programs have other numbers
		{Code: load, K: atNumber},
		{Code: atLeast, K: x32, Jt: 12},
		{Code: equal, K: unix.SYS_IO_URING_SETUP, Jt: 11}, // it makes sockets without a call
		{Code: equal, K: unix.SYS_PRLIMIT64, Jf: 2},
		{Code: load, K: atFirst},
		{Code: equal, K: 0, Jt: 7, Jf: 8}, // its own limits
		{Code: equal, K: unix.SYS_SOCKET, Jf: 2},
		{Code: load, K: atFirst},
		{Code: equal, K: unix.AF_UNIX, Jt: 5, Jf: 4},
		{Code: equal, K: unix.SYS_IOCTL, Jf: 3},
		{Code: load, K: atSecond},
		{Code: equal, K: unix.TIOCSTI, Jt: 2},
		{Code: equal, K: tioclinux, Jt: 1},
		{Code: end, K: unix.SECCOMP_RET_ALLOW},
		{Code: end, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)},
	}
	all := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&all)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	return nil
}

const tioclinux = 0x541C // pastes on a console; x/sys has no name for it
