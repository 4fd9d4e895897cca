package main

import (
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// guardCommand is what checks run under.
func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "guard SIZE PROGRAM [ARG]...",
		Short:  "Run a check; the hook starts this, so that no check outlives it",
		Hidden: true,
		Args:   cobra.MinimumNArgs(2),
		// What the program is told is none of ours.
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			size, err := strconv.Atoi(args[0])
			if err == nil {
				os.Exit(proc.Guard(max(0, size), args[1:]))
			}
			return err
		},
	}
}
