package boot

import (
	"context"
	"encoding/json"
	"os"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/confine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// A guard is started for every session and every check. It is done here, before the packages are initialised that this
// one does not import: those of ralph-runner, such as the NATS server, take longer than all that a guard does. Go
// initialises packages in the order of their import paths, as soon as what they import is initialised; see the section
// "Program initialization" of the language's specification.
func init() {
	if proc.JobOf(os.Args[0]) == proc.GuardJob {
		os.Exit(proc.Guard(os.Args[1:]))
	}
}

// Job does what else a program has started itself for. is is false for an ordinary call. name and args
// are those of the program.
func Job(name string, args []string) (status int, is bool, err error) {
	switch proc.JobOf(os.Args[0]) {
	case proc.ConfineJob:
		err = runConfined(args)
	case proc.SendJob:
		err = sendNotices(name, args)
	default:
		return 0, false, nil
	}
	if err != nil {
		status = 1
	}
	return status, true, err
}

// runConfined becomes a program, or a line for the shell, that writes only to some folders:
// FOLDERS LINE [PROGRAM] [ARG]... It returns only after an error.
func runConfined(args []string) error {
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
}

// sendNotices does the job of a sender: it tells the notifiers what the program must not or cannot tell itself.
func sendNotices(name string, args []string) error {
	env := Env(name)
	l, err := loop.OpenRecorded(env, env.LoopDir)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.Send(context.Background(), args)
}
