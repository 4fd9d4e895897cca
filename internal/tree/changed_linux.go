package tree

import (
	"io/fs"
	"syscall"
	"time"
)

// changed returns the status change time of a file, which no program can set.
func changed(info fs.FileInfo) time.Time { return time.Unix(info.Sys().(*syscall.Stat_t).Ctim.Unix()) }

// inode returns the number of a file.
func inode(info fs.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
