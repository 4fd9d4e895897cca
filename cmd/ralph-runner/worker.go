package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/fleet"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
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
	health             string
	asJSON             bool
	usual              string // the folder, unless another worker has it, or --dir names one
	lanes              int
	agentOptions       agent.Options
}

func (v verbs) worker() *cobra.Command {
	k := &worker{verbs: v}
	cmd := &cobra.Command{
		Use: "worker", Short: "Work on the features of a run on another machine",
		Long: `Take features from a run on another machine, work on them with an agent here, and hand in the
work. On that machine, 'ralph-runner engine token WORKER' prints the line to type here.`,
		Example: "  RALPH_ENGINE=... ralph-runner worker --lanes 2 --permission-mode acceptEdits",
		RunE:    cli.Run(k.work),
	}
	f := cmd.Flags()
	f.StringVar(&k.engine, "engine", "", "connect to the engine at `URL`, if the credential has none")
	f.IntVar(&k.lanes, "lanes", 1, "work on `N` features at a time")
	f.StringVar(&k.agent, "agent", "", "run the agent `NAME` instead of the run's agent")
	f.StringVar(&k.dir, "dir", "", "keep the lanes in `DIR`, not in your cache folder")
	f.StringVar(&k.health, "health", "", "answer /livez, /readyz and /metrics at `HOST:PORT`")
	f.BoolVar(&k.asJSON, "json", false, "print a line of JSON for each event")
	permissionFlags(f, &k.agentOptions)
	return cmd
}

func (k *worker) work(w io.Writer, _ []string) error {
	if err := k.PersonOnly(); err != nil {
		return err
	}
	creds := k.Env.Get(engineVar)
	switch {
	case k.lanes < 1 || k.lanes > jobs.MaxClaims:
		return cli.Usagef("--lanes must be from 1 to %d; for more, start another worker with its own credential",
			jobs.MaxClaims)
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
	ctx, kill := catch()
	worker := &fleet.Worker{
		Env: k.Env, Dir: k.dir, Lanes: k.lanes, AgentOptions: k.agentOptions, Kill: kill, Version: cli.VersionText(version),
		Engine: jobs.Options{URL: k.engine, Creds: creds},
		Agent: func(name string) (agent.Row, error) {
			if k.agent == "" && !slices.Contains(agents.Names(), name) {
				return agent.Row{}, fmt.Errorf("the run asks for the agent %q, which this machine's "+
					"configuration does not have; add it there, or name one with --agent", plain.Line(name, 80))
			}
			return agents.Find(cmp.Or(k.agent, name))
		},
		Say: k.sayer(w),
	}
	k.tidyOthers(func(text string) { worker.Say(fleet.Event{Text: text}) })
	if k.health != "" {
		probes, err := net.Listen("tcp", k.health)
		if err != nil {
			return fmt.Errorf("--health: %w", err)
		}
		server := &http.Server{Handler: worker.Health.Handler(k.lanes), ReadHeaderTimeout: 10 * time.Second}
		defer server.Close()
		worker.Say(fleet.Event{Text: fmt.Sprintf("probes and metrics are at http://%s", probes.Addr())})
		go server.Serve(probes)
	}
	err = worker.Serve(ctx)
	if err == nil && ctx.Err() != nil {
		return &cli.Exit{Code: interrupted}
	}
	return err
}

// sayer returns what tells people, or programs, what happens.
func (k *worker) sayer(w io.Writer) func(fleet.Event) {
	var one sync.Mutex
	return func(e fleet.Event) {
		one.Lock()
		defer one.Unlock()
		e.Feature, e.Text = plain.Line(e.Feature, 80), plain.Line(e.Text, 500)
		switch {
		case k.asJSON:
			text, _ := jsontext.Line(struct {
				Schema int       `json:"schema"`
				Time   time.Time `json:"time"`
				fleet.Event
			}{jsontext.Schema, time.Now().UTC(), e})
			_, _ = w.Write(text)
		case e.Lane > 0:
			fmt.Fprintf(w, "lane %d · %s\n", e.Lane, strings.TrimSpace(e.Feature+" "+e.Text))
		default:
			fmt.Fprintln(w, e.Text)
		}
	}
}

// takeDir makes the folder for the lanes, and keeps other workers out of it until the lock is closed. Without --dir
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
		return nil, fmt.Errorf("no folder for the lanes: %w; name one with --dir", err)
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
