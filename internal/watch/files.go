package watch

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// stamp tells two versions of some files apart, without reading them. It compares sizes and times for equality
// alone, so a clock that is set back hides no change.
type stamp []fileStamp

type fileStamp struct {
	size int64 // -1: there is no such file
	time int64 // in ns
}

// files returns the paths of what changes with a loop, behind "" for its list. The files of the record are only ever
// replaced, which changes their folder. When a person merges a run's work, git logs that.
func files(at *loopdir.Loop) []string {
	paths := slices.DeleteFunc(at.WatchedFiles(), func(path string) bool { return filepath.Dir(path) == at.StatePath() })
	return append([]string{"", at.StatePath(), filepath.Join(at.Project, ".git", "logs", "HEAD")}, paths...)
}

func stampOf(paths []string) (s stamp) {
	for _, path := range paths {
		one := fileStamp{size: -1}
		if path != "" {
			if info, err := os.Lstat(path); err == nil {
				one = fileStamp{info.Size(), info.ModTime().UnixNano()}
			}
		}
		s = append(s, one)
	}
	return s
}

// lastOf returns when one of some files was written last, or a time that is later.
func lastOf(last time.Time, paths []string) time.Time {
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last.UTC()
}
