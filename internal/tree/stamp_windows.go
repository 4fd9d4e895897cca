package tree

import (
	"fmt"
	"os"
)

// Stamp tells when the file at path was written last, in a form that is only good
// for comparing. Here a program can put that back.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}
