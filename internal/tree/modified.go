package tree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// maxModified is the largest number of paths that Modified returns.
const maxModified = 1000

// Modified returns the sorted paths of the files that were written at or after since. The
// paths are relative to Dir and separated by slashes. It looks at the files that Files
// lists, so it does not report deleted files.
func (t Tree) Modified(ctx context.Context, since time.Time) []string {
	modified := []string{}
	names, _ := t.Files(ctx) // after an error, the files that were listed before it
	for _, name := range names {
		path := filepath.Join(t.Dir, name)
		if len(modified) == maxModified {
			break
		}
		if info, err := os.Lstat(path); err == nil && !info.ModTime().Before(since) {
			modified = append(modified, filepath.ToSlash(name))
		}
	}
	slices.Sort(modified)
	return modified
}
