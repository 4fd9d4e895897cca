//go:build unix

package tree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Stamp tells which file is at path and when something of it changed last, through
// links too, in a form that is only good for comparing. A program can put a file
// back as it was, with its times; not the time of that change.
func Stamp(path string) string {
	var link, file unix.Stat_t
	if unix.Lstat(path, &link) != nil || unix.Stat(path, &file) != nil {
		return ""
	}
	return fmt.Sprint(link.Dev, link.Ino, link.Ctim, file.Dev, file.Ino, file.Ctim)
}
