package record

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The signals with which a session says that all is done. Each is only a claim.
const (
	Marker   = "marker"    // a line of the final answer says so; decide.ReadPromise reads it
	ExitCode = "exit_code" // the agent ended with status 0
	File     = "file"      // a file exists: "file:PATH"
)

// CheckSignals refuses an unknown signal.
func CheckSignals(names []string) error {
	for _, name := range names {
		path, isFile := strings.CutPrefix(name, File+":")
		switch {
		case name == Marker, name == ExitCode, isFile && filepath.IsLocal(path):
		case isFile:
			return fmt.Errorf("the signal %q; want file: and a path below the project's root", plain.Line(name, 100))
		default:
			return fmt.Errorf("unknown signal %q; there are %s, %s and %s:PATH", plain.Line(name, 100), Marker, ExitCode,
				File)
		}
	}
	return nil
}
