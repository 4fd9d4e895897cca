package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// run is the program. The hook comes first and builds no commands. A bug must not end
// the process with status 2, which Claude Code takes for a block.
func run(args []string) (status int) {
	defer func() {
		if p := recover(); p != nil {
			printError(fmt.Errorf("internal error: %v", p))
			status = 1
		}
	}()
	if status, started, err := boot.Job(program, args); started {
		printError(err)
		return status
	}
	if len(args) == 0 && !term.IsTerminal(int(os.Stdin.Fd())) {
		return hookMode(nil)
	}
	help := len(args) == 2 && (args[1] == "-h" || args[1] == "--help")
	if len(args) > 0 && args[0] == "hook" && !help {
		return hookMode(args[1:])
	}
	if len(args) == 1 && args[0] == "--version" { // as most programs have it
		args = []string{"version"}
	}
	out := &cli.Output{Writer: os.Stdout}
	err := out.Failed(newApp(boot.CommandEnv(program)).Execute(out, args))
	if err == nil {
		return 0
	}
	var exit *cli.Exit
	if errors.As(err, &exit) {
		printError(exit.Err)
		return exit.Code
	}
	wrong := errors.As(err, new(*cli.UsageError))
	if wrong {
		if _, is := readEvent(); is {
			// The settings entry is misspelt. An exit status of 1 would show as a problem, so the
			// error is an answer to the host.
			fmt.Print(string(client.Answer{Message: say.Trouble(err)}.Encode()))
			return 0
		}
	}
	printError(err)
	if wrong {
		return misused
	}
	return 1
}

// misused is the exit status of a wrong command line: EX_USAGE of sysexits.h.
const misused = 64

// printError shows err as the last line of a failed call.
func printError(err error) {
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, program+": error: %s\n", plain.Line(err.Error(), 2000))
}

// readEvent reads an event from standard input, if there is one, and waits at most a second.
func readEvent() (event client.Event, is bool) {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return event, false
	}
	read := make(chan client.Event, 1)
	go func() {
		defer close(read)
		defer func() { _ = recover() }() // a bug must not end the process: it is no hook's event
		if event, err := client.ReadEvent(os.Stdin, nil); err == nil {
			read <- event
		}
	}()
	select {
	case event, is = <-read:
	case <-time.After(time.Second):
	}
	return event, is
}

// verbs makes the verbs of this program.
type verbs struct{ verb.Verbs }

// newApp makes all commands, in the order in which help lists them: one file a verb.
func newApp(env loop.Env) *cli.App {
	v := verbs{verb.Verbs{Env: env, Host: statusLine(env)}}
	v.Env.Everywhere = func() bool { return v.install(client.Find(client.Usual), env.Cwd).Everywhere() }
	if !assumeEntry {
		v.Env.HookProblem = boot.HookProblem(env)
	}
	app := &cli.App{Loops: v.Names, Command: &cobra.Command{
		Use: program, Long: helpText,
	}}
	app.Add("Start", v.start(), v.init())
	app.Add("Control", v.Pause(), v.Resume(), v.Cancel(), v.Note(), v.use())
	app.Add("Inspect", v.Status(), v.Log(), v.Verify(), v.List())
	app.Add("Set up", v.Trust(), v.Notify(), v.doctor(), v.uninstall(), hookCommand(), cli.Completion(app.Command),
		cli.Version(program, version))
	return app
}

// statusLine adds what Claude Code says when it calls `status --line`.
func statusLine(env loop.Env) func(*loopdir.Where) {
	return func(w *loopdir.Where) {
		event, _ := readEvent() // a person who calls it says nothing
		w.Session, w.ProjectDir = event.SessionID, env.Get(client.ProjectDir)
		if event.Cwd != "" {
			w.Cwd = event.Cwd
		}
	}
}

const helpText = "Keep Claude Code working through a feature list until every feature passes."
