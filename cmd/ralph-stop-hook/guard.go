package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// guardCommand is what checks run under.
func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "guard -- PROGRAM [ARG]...",
		Short:  "Run a check; the hook starts this, so that no check outlives it",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			os.Exit(proc.Guard(args))
			return nil
		},
	}
}
