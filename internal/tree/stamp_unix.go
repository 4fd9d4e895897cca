//go:build unix

package tree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Stamp returns the status change time (ctime) of the file at path as a text that can only
// be compared, or "" if there is no such file. If path is a link, the text has the link's
// own time too. A program can restore a file's content and its other times, but it cannot
// set this one.
func Stamp(path string) string {
	var link, file unix.Stat_t
	if unix.Lstat(path, &link) != nil || unix.Stat(path, &file) != nil {
		return ""
	}
	return fmt.Sprint(link.Ctim, file.Ctim) // without inodes: some file systems invent them at each look
}
