package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// A worker's folder has a folder for each run: the repository repo, a folder lane-N for each lane, and the files used
// and open-N. used says when the folder was last opened for a session. open-N is there while what a session does in
// lane-N is not handed in.
const (
	usedFile      = "used"
	removalPrefix = "gone-" // begins the name of a folder that is being removed
)

// retention is how long the folder of a run stays in which no session begins. A run that goes on later sends all anew.
const retention = 7 * 24 * time.Hour

// opens makes the folder of a run, if there is none, and keeps it from Tidy.
func opens(runDir string) error {
	return errors.Join(os.MkdirAll(filepath.Join(runDir, "repo"), 0o700),
		os.WriteFile(filepath.Join(runDir, usedFile), []byte(time.Now().Format(time.DateTime)+"\n"), 0o600))
}

// Tidy removes the folders of old runs from a worker's folder, and bundles that a worker that was killed has fetched.
// The caller has the folder's lock, and no lane reads a bundle. say is told which of them
// stay because they have work that was not handed in, and what cannot be removed.
func Tidy(dir string, say func(text string)) {
	all, err := os.ReadDir(dir)
	for _, e := range all {
		path := filepath.Join(dir, e.Name())
		gone := strings.HasPrefix(e.Name(), removalPrefix) && e.IsDir()
		if gone || fetched().MatchString(e.Name()) && e.Type().IsRegular() {
			err = errors.Join(err, loopdir.RemoveAll(path))
			continue
		}
		old, open := oldRun(path)
		switch {
		case !old || !e.IsDir(): // a link is none
		case open:
			say(fmt.Sprintf("%s has work of an old run that was not handed in; it stays until you remove it", path))
		default: // a folder that is removed in part must not look like one that can be used
			gone := filepath.Join(dir, removalPrefix+e.Name())
			if failed := os.Rename(path, gone); failed != nil {
				err = errors.Join(err, failed)
				continue
			}
			err = errors.Join(err, loopdir.RemoveAll(gone))
		}
	}
	if err != nil {
		say(fmt.Sprintf("what old runs have left cannot be removed: %v", err))
	}
}

// fetched matches the names of bundles that unbundle makes.
var fetched = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^base-[0-9]+$`) })

// ours matches the names of what a worker makes in the folder of a run.
var ours = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(repo|used|(lane|open)-[0-9]+)$`)
})

// oldRun reports whether a folder is that of a run that was not opened for long, and whether it has work that
// was not handed in. A folder that has anything else was not made by a worker.
func oldRun(path string) (old, open bool) {
	info, err := os.Lstat(filepath.Join(path, usedFile))
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < retention {
		return false, false
	}
	all, err := os.ReadDir(path)
	if err != nil {
		return false, false
	}
	for _, e := range all {
		if !ours().MatchString(e.Name()) {
			return false, false
		}
		open = open || strings.HasPrefix(e.Name(), "open-")
	}
	return true, open
}
