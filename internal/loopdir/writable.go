package loopdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// WritableFolders returns the folders that "writable" in ralph.json names, with links
// resolved. It makes those that are missing, and refuses one that holds the state folder.
func WritableFolders(names []string, home, stateDir string) (folders []string, err error) {
	for _, name := range names {
		path := filepath.FromSlash(name)
		if below, is := strings.CutPrefix(name, "~/"); is {
			path = filepath.Join(home, filepath.FromSlash(below))
			if home == "" {
				return nil, fmt.Errorf(`"writable" names %s, and there is no home folder`, plain.Line(name, 200))
			}
		}
		if err := os.MkdirAll(path, 0o755); err != nil && !errors.Is(err, os.ErrExist) && !isFile(path) {
			return nil, fmt.Errorf(`"writable": %w`, err)
		}
		path, err = filepath.EvalSymlinks(path)
		if err != nil {
			return nil, fmt.Errorf(`"writable": %w`, err)
		}
		folders = append(folders, path)
	}
	return folders, KeepOut(folders, stateDir)
}

// KeepOut refuses folders that hold the state folder.
func KeepOut(folders []string, stateDir string) error {
	for _, folder := range folders {
		if !Protects(stateDir, folder) {
			return fmt.Errorf(`"writable" names %s, which holds the record in %s; `+
				"name less, or set RALPH_STATE_DIR to another folder",
				plain.Line(folder, 200), plain.Line(stateDir, 200))
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
