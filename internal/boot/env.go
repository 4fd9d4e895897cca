// Package boot has what the mains of all programs over loops begin with.
package boot

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Env reads the surroundings of the process. Nothing below main reads the environment. What the
// system does not tell stays empty. name is the program's name, as a person types it.
func Env(name string) loop.Env {
	usual := client.Find(client.Usual)
	e := loop.Env{
		Program: name, Agent: usual.Name, Vars: os.Environ(), OfHost: usual.IsVar, IsSecret: usual.IsSecret,
		Catch: Catch, Clients: clients, Settings: client.InProject,
	}
	e.Cwd, _ = os.Getwd()
	if home, err := os.UserHomeDir(); err == nil {
		e.Home = filepath.Clean(home)
	}
	e.Self, _ = os.Executable()
	e.ConfigDir = configDir(e.Home)
	e.CacheDir, _ = os.UserCacheDir()
	e.StateDir, e.StateErr = loopdir.StateDir(e.Get)
	e.LoopDir, e.OnComplete = e.Get("RALPH_LOOP_DIR"), e.Get("RALPH_ON_COMPLETE")
	e.ByAgent = client.ByAgent(e.Get) || e.Get(loop.CheckVar) != "" || e.Get(loop.RunVar) != ""
	return e
}

// CommandEnv is Env for what a person types, which is about the folder in which it was typed.
func CommandEnv(name string) loop.Env {
	e := Env(name)
	if e.Cwd == "" {
		e.StateErr = errors.New("the working folder is not known; go to it again with cd, and repeat the command")
	}
	return e
}

// clients returns the words that begin and resume a session of a client.
func clients(name string) (ask, resume []string) {
	c := client.Find(name)
	return c.Ask, c.Resume
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

// Endings are the signals by which a person, a terminal or the host ends a process.
var Endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT}

// Catch returns a context that ends when this process is told to end, so that its
// subprocesses end with it. From then on SIGPIPE does not end this process: it completes its work
// even if nobody reads the output. Its subprocesses still get SIGPIPE.
func Catch(ctx context.Context) (context.Context, context.CancelFunc) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return signal.NotifyContext(ctx, Endings...)
}
