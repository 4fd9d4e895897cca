package loopdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// scriptPrefix is how the names of kept files begin, in the state folder.
const scriptPrefix = "script-"

// KeepScripts keeps copies of files, by name, and removes what was kept under other names. A nil
// text leaves a copy as it is. The caller holds the lock.
func (s *Store) KeepScripts(texts map[string][]byte) (err error) {
	entries, err := os.ReadDir(s.state.Name())
	for _, entry := range entries {
		name, is := strings.CutPrefix(entry.Name(), scriptPrefix)
		if _, wanted := texts[name]; is && !wanted {
			err = errors.Join(err, s.state.Remove(entry.Name()))
		}
	}
	for name, text := range texts {
		if text != nil {
			err = errors.Join(err, replace(s.state, scriptPrefix+name, text, 0o700, true, nil))
		}
	}
	return err
}

// ScriptPath returns the path of a kept copy.
func (s *Store) ScriptPath(name string) string {
	return filepath.Join(s.Loop.StatePath(), scriptPrefix+name)
}
