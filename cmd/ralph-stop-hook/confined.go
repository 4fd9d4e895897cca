package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

func confinedCommand() *cli.Command {
	return &cli.Command{
		Name:   "confined",
		Args:   "FOLDERS LINE [PROGRAM] [ARG]...",
		Short:  "Become a program that writes only to some folders; the hook starts this, for checks",
		Hidden: true,
		Raw:    true,
		Run: func(_ io.Writer, args []string) error {
			var folders []string
			if err := json.Unmarshal([]byte(args[0]), &folders); err != nil {
				return err
			}
			argv := args[2:]
			if args[1] != "" {
				argv = []string{"/bin/sh", "-c", args[1]}
			}
			env := os.Environ()
			path, err := proc.LookPath(argv[0], proc.Value(env, "PATH"))
			if err != nil {
				return err
			}
			return confine.Exec(folders, path, argv, env)
		},
	}
}
