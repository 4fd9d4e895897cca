package main

import (
	"io"
	"os"
	"strconv"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

func guardCommand() *cli.Command {
	return &cli.Command{
		Name:   "guard",
		Args:   "SIZE LINE [PROGRAM] [ARG]...",
		Short:  "Run a check; the hook starts this, so that no check outlives it",
		Hidden: true,
		Raw:    true,
		Run: func(_ io.Writer, args []string) error {
			size, err := strconv.Atoi(args[0])
			if err == nil {
				os.Exit(proc.Guard(max(0, size), args[1], args[2:]))
			}
			return err
		},
	}
}
