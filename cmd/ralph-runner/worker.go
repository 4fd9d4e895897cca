package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/fleet"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
)

// engineVar has the credential for an engine.
const engineVar = "RALPH_ENGINE"

// worker is what the command line of a worker says.
type worker struct {
	verbs
	engine, agent, dir string
	usual              string // the folder, unless another worker has it, or --dir names one
	lanes              int
	asked              agent.Asked
}

func (v verbs) worker() *cli.Command {
	k := &worker{verbs: v}
	cmd := &cli.Command{
		Name: "worker", Short: "Lend lanes of this machine to a run on another one",
		Long: `Takes features of a run elsewhere, works them with an agent of this machine, and hands the
work in. The run checks and merges it there. What a worker says proves nothing.

On the run's machine, 'ralph-runner engine token NAME' prints the line to type here. It has
a credential in the variable RALPH_ENGINE. Ctrl-C gives back what is worked on.`,
		Example: "  RALPH_ENGINE=... ralph-runner worker --lanes 2 --permission-mode acceptEdits",
		Run:     k.work,
	}
	f := &cmd.Flags
	f.StringVar(&k.engine, "engine", "", "the engine, if the credential does not say it: `URL`")
	f.IntVar(&k.lanes, "lanes", 1, "how many features are worked here at a time, `N`")
	f.StringVar(&k.agent, "agent", "", "the agent, by its `NAME`; else the one that the run asks for")
	f.StringVar(&k.dir, "dir", "", "where the worktrees are, `DIR`; else a folder of its own in your cache folder")
	f.StringVar(&k.asked.Permission, "permission-mode", "", "the mode of the agent's permissions, `MODE`, passed on")
	f.BoolVar(&k.asked.SkipPermissions, "dangerously-skip-permissions", false, "passed on to the agent")
	return cmd
}

func (k *worker) work(w io.Writer, _ []string) error {
	if err := k.PersonOnly(); err != nil {
		return err
	}
	creds := k.Env.Get(engineVar)
	switch {
	case k.lanes < 1 || k.lanes > decide.MaxLanes:
		return cli.Usagef("--lanes must be at least 1, and at most %d", decide.MaxLanes)
	case creds == "":
		return cli.Usagef("no credential in %s; type on the run's machine: %s engine token NAME, and here what that prints",
			engineVar, program)
	}
	lock, err := k.takeDir()
	if err != nil {
		return err
	}
	defer lock.Close()
	agents, err := roster.New(k.Env, k.dir, nil)
	if err != nil {
		return err
	}
	ctx, kill, by := catch(context.Background())
	var one sync.Mutex
	say := func(text string) {
		one.Lock()
		defer one.Unlock()
		fmt.Fprintln(w, plain.Line(text, 500))
	}
	k.tidyOthers(say)
	err = (&fleet.Worker{
		Env: k.Env, Dir: k.dir, Lanes: k.lanes, Asked: k.asked, Kill: kill,
		Engine: engine.Options{URL: k.engine, Creds: creds},
		Agent:  func(name string) (agent.Row, error) { return agents.Find(cmp.Or(k.agent, name)) },
		Say:    say,
	}).Serve(ctx)
	if err == nil && by() != nil {
		return exit{code: interrupted}
	}
	return err
}

// takeDir makes the folder for the worktrees, and keeps other workers out of it until the lock is closed. Without --dir
// it is the first one that is free.
func (k *worker) takeDir() (lock *os.File, err error) {
	if k.dir != "" {
		k.dir, err = filepath.Abs(k.dir)
		if err != nil {
			return nil, err
		}
		lock, err = lockDir(k.dir, loopdir.KilledTime)
		if errors.Is(err, loopdir.ErrLocked) {
			err = fmt.Errorf("another worker has the folder %s: name another one with --dir, or raise --lanes of that one",
				k.dir)
		}
		return lock, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no folder for the worktrees: %w; name one with --dir", err)
	}
	k.usual = filepath.Join(cache, "ralph", "worker")
	k.dir = k.usual
	for n := 2; n <= mostWorkers; n++ {
		lock, err = lockDir(k.dir, 0)
		if !errors.Is(err, loopdir.ErrLocked) {
			break
		}
		k.dir = fmt.Sprintf("%s-%d", k.usual, n)
	}
	return lock, err
}

// tidyOthers removes what old runs have left in the folders of other workers of this user that do not run.
func (k *worker) tidyOthers(say func(string)) {
	for n := 2; n <= mostWorkers && k.usual != ""; n++ {
		dir := fmt.Sprintf("%s-%d", k.usual, n)
		if _, err := os.Stat(dir); dir == k.dir || err != nil {
			continue
		}
		if lock, err := lockDir(dir, 0); err == nil {
			fleet.Tidy(dir, say)
			lock.Close()
		}
	}
}

// mostWorkers is how many folders of workers are looked at.
const mostWorkers = 1000

// lockDir makes a folder, and locks it. It waits so long for another worker that has it.
func lockDir(dir string, wait time.Duration) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return loopdir.LockFile(filepath.Join(dir, ".lock"), wait)
}
