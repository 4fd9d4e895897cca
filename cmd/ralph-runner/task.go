package main

import (
	"cmp"
	"context"
	"io"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/newloop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
)

// makeTask makes a loop without a list.
func (k *runner) makeTask() (*loopdir.Loop, error) {
	m := newloop.New(k.Verbs, program, io.Discard)
	m.Name = "task-" + record.NewID()
	m.Task = k.task
	m.Checks = k.checks
	m.Limits.MaxIterations = k.options.MaxIterations
	m.Fits = func() error { return k.repoFits(m) }
	if err := m.Make(); err != nil {
		return nil, err
	}
	return k.Find([]string{m.Name})
}

// makeLoop makes a loop for the list of m. With --dry-run it only says so, and ends the call.
func (k *runner) makeLoop(m *newloop.Maker) error {
	if !k.dryRun {
		err := m.Make()
		if err == nil {
			m.Tell()
			err = m.TryChecks()
		}
		return err
	}
	if err := m.Settle(); err != nil {
		return err
	}
	if err := m.Plan(); err != nil {
		return err
	}
	m.ShowPlan()
	return &cli.Exit{}
}

// repoFits refuses a new loop in whose repository the run could not begin.
func (k *runner) repoFits(m *newloop.Maker) error {
	o := k.options
	if k.cmd.Flags().Changed("branch") {
		o.Branch = cmp.Or(k.branch, "ralph/"+m.Name)
	}
	var needs []string
	if list, _ := features.SplitTag(m.List); list != "" && list != config.ListNone {
		needs = append(needs, list)
	}
	err := run.Fits(context.Background(), k.Env, m.Project, o, needs...)
	if err != nil {
		err = &cli.Exit{Code: failed, Err: err}
	}
	return err
}
