// Ralph-stop-hook keeps Claude Code working through a feature list: it is
// configured as a Stop hook, and at each stop either lets the turn end or
// blocks with the next feature's prompt.
package main

import (
	"os"
	"runtime/debug"
)

// program is this program's name, as a person types it.
const program = "ralph-stop-hook"

func main() {
	// A crash of Go's runtime ends the process by a signal, not with status 2, which blocks.
	debug.SetTraceback("crash")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a stop is over before it pays to collect much
	}
	os.Exit(run(os.Args[1:]))
}

// version is a release's version, set by the linker: -ldflags "-X main.version=1.2.3".
// Without it the version of `go install` is shown, or what Go makes of the commit.
var version string
