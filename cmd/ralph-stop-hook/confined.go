package main

import (
	"encoding/json"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// confined becomes a program, or a line for the shell, that writes only to some folders:
// FOLDERS LINE [PROGRAM] [ARG]... It returns only after an error.
func confined(args []string) error {
	var folders []string
	if err := json.Unmarshal([]byte(args[0]), &folders); err != nil {
		return err
	}
	argv := args[2:]
	if args[1] != "" {
		argv = []string{"/bin/sh", "-c", args[1]}
	}
	env := proc.Environ()
	path, err := proc.LookPath(argv[0], proc.Value(env, "PATH"))
	if err != nil {
		return err
	}
	return confine.Exec(folders, path, argv, env)
}
