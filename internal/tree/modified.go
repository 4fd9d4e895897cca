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

// Modified returns the slash-separated paths, below dir, of the files that Files
// lists and that were written since a time, sorted. The folder except, absolute,
// is left out. What is deleted is not told.
func Modified(ctx context.Context, dir, top, except string, since time.Time) []string {
	modified := []string{}
	names, _ := Files(ctx, dir, top) // as far as they can be listed
	for _, name := range names {
		path := filepath.Join(dir, name)
		if len(modified) == maxModified || excepted(path, []string{except}) {
			continue
		}
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && !info.ModTime().Before(since) {
			modified = append(modified, filepath.ToSlash(name))
		}
	}
	slices.Sort(modified)
	return slices.Compact(modified)
}
