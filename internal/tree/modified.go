package tree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// maxModified bounds what Modified returns.
const maxModified = 1000

// Modified returns the slash-separated paths, below Dir, of the files that Files
// lists and that were written since a time, sorted. Deleted files are not told.
func (t Tree) Modified(ctx context.Context, since time.Time) []string {
	modified := []string{}
	names, _ := t.Files(ctx) // as far as they can be listed
	for _, name := range names {
		path := filepath.Join(t.Dir, name)
		if len(modified) == maxModified || t.excepted(path) {
			continue
		}
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && !info.ModTime().Before(since) {
			modified = append(modified, filepath.ToSlash(name))
		}
	}
	slices.Sort(modified)
	return slices.Compact(modified)
}
