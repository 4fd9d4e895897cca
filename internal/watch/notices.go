package watch

import (
	"context"
	"path/filepath"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"
)

// notices are the system's notices of changes in folders.
type notices struct {
	watcher *fsnotify.Watcher // nil: the system gives none
	lacking bool              // a folder could not be followed
}

// cheap reports whether the system follows a folder without an open file for each of its files.
const cheap = runtime.GOOS == "linux" || runtime.GOOS == "windows"

func newNotices(use bool) *notices {
	n := &notices{}
	if use {
		n.watcher, _ = fsnotify.NewWatcher() // without it, all files are looked at more often
	}
	return n
}

func (n *notices) close() {
	if n.watcher != nil {
		n.watcher.Close()
	}
}

// complete reports whether every change is told.
func (n *notices) complete() bool { return n.watcher != nil && !n.lacking && cheap }

// follow follows folders. One that was made anew is followed anew, so it is called again and again.
func (n *notices) follow(dirs map[string]bool) {
	if n.watcher == nil {
		return
	}
	n.lacking = false
	for dir := range dirs {
		if n.watcher.Add(dir) != nil {
			n.lacking = true
		}
	}
	for _, dir := range n.watcher.WatchList() {
		if !dirs[dir] {
			_ = n.watcher.Remove(dir)
		}
	}
}

// changes returns the channel of the notices; nil, which blocks for ever, if there are none.
func (n *notices) changes() <-chan fsnotify.Event {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Events
}

// errors returns the channel of what went wrong with the notices: some may be lost then.
func (n *notices) errors() <-chan error {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Errors
}

// collect adds the files that change within a time to those that have changed.
func (n *notices) collect(ctx context.Context, within time.Duration, paths map[string]bool) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case event, open := <-n.changes():
			if !open {
				return
			}
			paths[filepath.Clean(event.Name)] = true
		}
	}
}
