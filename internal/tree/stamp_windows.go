package tree

import (
	"fmt"
	"os"
)

// Stamp returns the size and the time of the last write of the file at path as a text that
// can only be compared, or "" if there is no such file. On Windows a program can set that
// time back.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}
