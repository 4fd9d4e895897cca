package watch

import (
	"os"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// stamp tells two versions of a loop's files apart, without reading them. It compares sizes and times for equality
// alone, so a clock that is set back hides no change.
type stamp []fileStamp

type fileStamp struct {
	size int64 // -1: there is no such file
	time int64 // in ns
}

// files returns the paths of a loop's files, its list first. list is "" if it has none.
func files(at *loopdir.Loop, list string) []string { return append([]string{list}, at.Shown()...) }

func stampOf(at *loopdir.Loop, list string) (s stamp) {
	for _, path := range files(at, list) {
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
