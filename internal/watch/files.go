package watch

import (
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// stamp tells two versions of a loop's files apart, without reading them. It compares sizes and times for equality
// alone, so a clock that is set back hides no change.
type stamp [nFiles]fileStamp

type fileStamp struct {
	size int64 // -1: there is no such file
	time int64 // in ns
}

// The files of a loop that its view depends on. The list may be anywhere in the project.
var (
	ofLoop  = []string{loopdir.ProgressFile, loopdir.ConfigFile, loopdir.IterationLog, loopdir.ChecksLog}
	ofState = []string{"state.json", "trust.json", "cancelled", "receipts.json", "run.json", "source.json"}
)

const nFiles = 4 + 6 + 1

// files returns the paths of a loop's files. list is "" if it has none.
func files(at *loopdir.Loop, list string) (paths [nFiles]string) {
	i := 0
	add := func(dir string, names []string) {
		for _, name := range names {
			paths[i] = filepath.Join(dir, name)
			i++
		}
	}
	add(at.Dir, ofLoop)
	add(at.StatePath(), ofState)
	paths[i] = list
	return paths
}

func stampOf(at *loopdir.Loop, list string) (s stamp) {
	for i, path := range files(at, list) {
		s[i].size = -1
		if path == "" {
			continue
		}
		if info, err := os.Lstat(path); err == nil {
			s[i] = fileStamp{info.Size(), info.ModTime().UnixNano()}
		}
	}
	return s
}

// changed returns when a loop's record or its log was written last.
func changed(at *loopdir.Loop) (last time.Time) {
	for _, path := range files(at, "") {
		if info, err := os.Lstat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last.UTC()
}
