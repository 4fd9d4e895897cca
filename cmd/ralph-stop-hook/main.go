// Ralph-stop-hook keeps Claude Code working through a feature list: it is
// configured as a Stop hook, and at each stop either lets the turn end or
// blocks with the next feature's prompt.
package main

import (
	"os"
	"runtime/debug"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
)

// program is this program's name, as a person types it.
const program = "ralph-stop-hook"

func main() {
	// What ends Go's runtime ends it by a signal, not with status 2, which blocks. On Linux the entry
	// point sees to that even before.
	debug.SetTraceback("crash")
	os.Exit(run(os.Args[1:]))
}

// readEnv reads the process's surroundings.
func readEnv() loop.Env { return boot.Env(program) }
