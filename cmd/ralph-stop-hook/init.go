package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/newloop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// initialiser is one run of init. It plans everything that can be refused, shows the plan if asked
// to, and then writes.
type initialiser struct {
	*newloop.Maker
	v      verbs
	scope  string // --settings
	client string // --client
	dryRun bool
	hook   settingsEdit
}

// newInit returns an init of a loop for a list.
func (v verbs) newInit(byList string, out io.Writer) *initialiser {
	return &initialiser{Maker: newloop.New(v.Verbs, byList, out), v: v, scope: "project", client: client.Usual}
}

func (v verbs) init() *cobra.Command {
	i := v.newInit(program+" init --features", nil)
	var cmd *cobra.Command
	cmd = &cobra.Command{
		Use:     "init [NAME]",
		Short:   "Create a loop and install the hook",
		Example: `  ralph-stop-hook init checkout --features docs/prd.json --check 'npm test' --max-iterations 30`,
		RunE: cli.Run(func(w io.Writer, args []string) error {
			i.Out = w
			bare := len(args) == 0
			cmd.Flags().Visit(func(given *pflag.Flag) {
				bare = bare && slices.Contains([]string{"settings", "client", "dry-run"}, given.Name)
			})
			if bare {
				i.Name = i.atWork()
			}
			if len(args) > 0 {
				i.Name = args[0]
				if i.Name == "" {
					return cli.Usagef("the name is empty")
				}
				file, err := os.Stat(i.Name)
				if err == nil && file.Mode().IsRegular() && filepath.Ext(i.Name) != "" && i.List == "" {
					return cli.Usagef("%s is a file; for its list: %s init --features %s", plain.Line(i.Name, 200), program,
						plain.Arg(i.Name))
				}
			}
			return i.run()
		}),
	}
	f := cmd.Flags()
	i.HasFlag = f.Changed
	f.StringVar(&i.List, "features", "", config.Usage("list"))
	f.BoolVar(&i.Example, "example", false, "write an example list if the project has none")
	i.Task.Flags(f)
	newloop.LimitFlags(f, &i.Limits)
	f.StringArrayVar(&i.Checks, "check", nil, config.Usage("checks"))
	f.StringArrayVar(&i.Work, "work", nil, config.Usage("work"))
	f.StringArrayVar(&i.OnComplete, "on-complete", nil, config.Usage("on_complete"))
	f.StringVar(&i.client, "client", client.Usual,
		"install the hook for `NAME`: claude, codex, gemini or qwen")
	f.StringVar(&i.scope, "settings", "project", "install the hook in `WHICH` settings: project, local, user or none")
	f.BoolVar(&i.dryRun, "dry-run", false, "only show what would be written")
	f.BoolVar(&i.Force, "force", false, "start this loop from scratch; keep its list")
	return cmd
}

// atWork returns the name of the current loop, "" if there is none or it is over. A bare init installs the hook for
// that one, as 'status' and 'doctor' recommend. A second loop would be in its way.
func (i *initialiser) atWork() string {
	at, err := i.v.Find(nil)
	if err != nil {
		return ""
	}
	l, err := loop.Open(i.v.Env, at)
	if err != nil {
		return ""
	}
	defer l.Close()
	state, err := l.Store.State()
	if err != nil || state.Status != decide.InProgress {
		return ""
	}
	return at.Name
}

func (i *initialiser) run() error {
	if err := i.plan(); err != nil {
		return err
	}
	if i.dryRun {
		i.ShowPlan()
		i.hook.report(i)
		for _, line := range verb.Diff(string(i.hook.Old), string(i.hook.Text)) {
			if strings.HasPrefix(line, "+") {
				fmt.Fprintf(i.Out, "    %s\n", plain.Text(strings.TrimRight(line, "\n"), 500))
			}
		}
		return nil
	}
	if err := i.write(); err != nil {
		return err
	}
	at := &loopdir.Loop{Dir: i.Dir, Name: i.Name, Project: i.Project}
	if i.LastStatus != "" { // its record outlives its folder
		fmt.Fprintf(i.Out, "\nAn earlier loop of this name has ended (%s). To continue it, or to start anew:\n  %s\n"+
			"  %s --force\n", i.LastStatus, i.v.Env.Call("resume", i.Name), i.v.Env.Call("init", i.Name))
		return nil
	}
	if err := i.v.OnLoop(i.v.OfferTrust)(i.Out, []string{i.Name}); err != nil {
		return err
	}
	session, run := say.Start(i.v.Env, at), say.StartRun(i.v.Env, i.Name)
	why, fix := say.HookProblem(i.v.Env, at)
	if why != "" && i.scope == "none" { // as was asked for
		fmt.Fprintf(i.Out, "\nStart it with fresh sessions:\n  %s\nor, when the hook is in your settings:\n  %s\n",
			run, session)
		return nil
	}
	if why != "" {
		fmt.Fprintf(i.Out, "\nwarning: %s\nFirst:\n  %s\n", why, fix)
	}
	fmt.Fprintf(i.Out, "\nStart it with:\n  %s\nor with fresh sessions:\n  %s\n", session, run)
	return nil
}

// plan decides what will be written. It refuses everything that can be refused before anything is
// written.
func (i *initialiser) plan() error {
	if err := i.Task.Read(i.HasFlag); err != nil {
		return err
	}
	for _, step := range []func() error{i.Settle, i.planHook, i.hook.merge, i.outside, i.preflight, i.Plan} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// write writes the hook and the loop, and tells what a person should know of both. The hook is first, so that it is
// part of what is trusted, and no change of the agent's.
func (i *initialiser) write() error {
	if err := i.hook.write(); err != nil {
		return err
	}
	err := i.Write()
	i.hook.report(i)
	if err != nil {
		return err
	}
	i.Tell()
	err = i.TryChecks()
	if err != nil || len(i.Typed) == 0 {
		return err
	}
	m := newloop.New(i.v.Verbs, i.ByList, i.Out)
	m.Checks = i.Typed
	add := func(_ io.Writer, l *loop.Loop) error {
		if err := m.AddChecks(l); err != nil {
			return err
		}
		state, err := l.Store.State()
		if err == nil && state.Status.GoesOn() {
			i.LastStatus = "" // the check has reopened it
		}
		return err
	}
	return i.v.OnLoop(add)(i.Out, []string{i.Name})
}
