//go:build unix

package tree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Stamp tells when the file at path changed last, by its status change time, and a
// link that is there; in a form that is only good for comparing. A program can put a
// file back as it was, with its other times; not that one.
func Stamp(path string) string {
	var link, file unix.Stat_t
	if unix.Lstat(path, &link) != nil || unix.Stat(path, &file) != nil {
		return ""
	}
	return fmt.Sprint(link.Ctim, file.Ctim) // no inodes: some file systems make them up
}
