package main

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ttyName unlocks the terminal of a screen, and returns its name.
func ttyName(screen *os.File) (string, error) {
	fd := int(screen.Fd())
	for _, request := range []uint{unix.TIOCPTYGRANT, unix.TIOCPTYUNLK} {
		if err := unix.IoctlSetInt(fd, request, 0); err != nil {
			return "", err
		}
	}
	name := make([]byte, 128)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name[0])))
	if errno != 0 {
		return "", errno
	}
	return unix.ByteSliceToString(name), nil
}
