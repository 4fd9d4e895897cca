// Ralph-stop-hook keeps Claude Code working through a feature list: it is
// configured as a Stop hook, and at each stop either lets the turn end or
// blocks with the next feature's prompt.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/claude"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// program is this program's name, as a person types it.
const program = "ralph-stop-hook"

func main() {
	// What ends Go's runtime ends it by a signal, not with status 2, which blocks. On Linux the entry
	// point sees to that even before.
	debug.SetTraceback("crash")
	os.Exit(run(os.Args[1:]))
}

// readEnv reads the process's surroundings. Nothing below main reads the environment. What the
// system does not tell stays empty.
func readEnv() loop.Env {
	e := loop.Env{
		Program: program, Agent: "claude", Vars: proc.Environ(), OfHost: claude.IsVar, IsSecret: claude.IsSecret,
		Catch: catchSignals,
	}
	e.Cwd, _ = os.Getwd()
	if home, err := os.UserHomeDir(); err == nil {
		e.Home = filepath.Clean(home)
	}
	e.Self, _ = os.Executable()
	e.ConfigDir = configDir(e.Home)
	e.StateDir, e.StateErr = loopdir.StateDir(e.Get)
	e.LoopDir, e.OnComplete = e.Get("RALPH_LOOP_DIR"), e.Get("RALPH_ON_COMPLETE")
	e.ByAgent = claude.Vars(e.Get).ByAgent() || e.Get(loop.CheckVar) != ""
	return e
}

// configDir returns the system's folder for users' configuration. Go does without a
// relative XDG_CONFIG_HOME, where other programs go by HOME.
func configDir(home string) string {
	dir, err := os.UserConfigDir()
	if err != nil && filepath.IsAbs(home) {
		dir = filepath.Join(home, ".config")
	}
	return dir
}

// endings are the signals by which a person, a terminal or the host ends a process.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT}

// catchSignals returns a context that ends when this process is told to end, so that its
// subprocesses end with it. From then on SIGPIPE does not end this process: it completes its work
// even if nobody reads the output. Its subprocesses still get SIGPIPE.
func catchSignals(ctx context.Context) (context.Context, context.CancelFunc) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return signal.NotifyContext(ctx, endings...)
}
