package tree

import (
	"context"
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
	found, err := t.walk(ctx)
	if err != nil {
		return []string{}
	}
	defer found.root.Close()
	return t.writtenSince(found, since, nil)
}

// writtenSince returns those of the files that were written at or after since, as Modified does. If other is not nil,
// they are of these.
func (t Tree) writtenSince(found *files, since time.Time, other map[string]bool) []string {
	written := []string{}
	for _, f := range found.list {
		if len(written) == maxModified {
			break
		}
		if f.Written.Before(since) || other != nil && !other[f.Path] {
			continue
		}
		if name, is := t.below(f); is {
			written = append(written, filepath.ToSlash(name))
		}
	}
	slices.Sort(written)
	return written
}
