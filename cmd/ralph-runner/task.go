package main

import (
	"io"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/newloop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// makeTask makes a loop without a list.
func (k *runner) makeTask() (*loopdir.Loop, error) {
	m := newloop.New(k.Verbs, program, io.Discard)
	m.Name = "task-" + record.NewID()
	m.Task = k.task
	m.Checks = k.checks
	m.Limits.MaxIterations = k.options.MaxIterations
	if err := m.Make(); err != nil {
		return nil, err
	}
	return k.Find([]string{m.Name})
}

// makeLoop makes a loop for the list of m. With --dry-run it only says so, and ends the call.
func (k *runner) makeLoop(m *newloop.Maker) error {
	if !k.dryRun {
		defer m.Tell()
		return m.Make()
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
