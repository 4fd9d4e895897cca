package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ttyName unlocks the terminal of a screen, and returns its name.
func ttyName(screen *os.File) (string, error) {
	fd := int(screen.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return "", err
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	return fmt.Sprintf("/dev/pts/%d", number), err
}
