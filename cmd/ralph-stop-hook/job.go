package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// doJob does what this program has started itself for. It reports false for an ordinary
// call.
func doJob(args []string) (status int, is bool) {
	var err error
	switch proc.JobOf(os.Args[0]) {
	case proc.GuardJob:
		return proc.Guard(args), true
	case proc.ConfineJob:
		err = confined(args)
	case proc.SendJob:
		err = sendNotices(args)
	default:
		return 0, false
	}
	if err != nil {
		printError(err)
		return 1, true
	}
	return 0, true
}

// sendNotices tells the notifiers what the hook must not or cannot tell itself: the
// endings that are left or, with an iteration's number, that iteration.
func sendNotices(args []string) error {
	env := readEnv()
	l, err := loop.OpenRecorded(env, env.LoopDir)
	if err != nil {
		return err
	}
	defer l.Close()
	if len(args) == 0 {
		return l.Tell(context.Background())
	}
	iteration, err := strconv.Atoi(args[0])
	if err != nil {
		return fmt.Errorf("the iteration %q is no number", args[0])
	}
	return l.SendIteration(context.Background(), iteration)
}
