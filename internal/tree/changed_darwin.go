package tree

import (
	"io/fs"
	"syscall"
	"time"
)

// changed returns the status change time of a file, which no program can set.
func changed(info fs.FileInfo) (at time.Time, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return at, false
	}
	return time.Unix(stat.Ctimespec.Unix()), true
}
