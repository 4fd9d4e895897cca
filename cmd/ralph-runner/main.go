// Ralph-runner works a loop with fresh sessions of an agent: one process for each feature, until every feature is
// proven.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// program is this program's name, as a person types it.
const program = "ralph-runner"

// usual is the verb that a person need not type.
const usual = "run"

// The exit statuses beside those of endings, which docs/runner.md lists.
const (
	failed      = 4   // the run could not work, or a verb failed
	misused     = 64  // the command line is wrong; EX_USAGE of sysexits.h
	interrupted = 130 // a person stopped the run; shells have this after Ctrl-C
)

func main() { os.Exit(execute(os.Args[1:])) }

func execute(args []string) int {
	if status, started, err := boot.Job(program, args); started {
		printError(err)
		return status
	}
	out := &cli.Output{Writer: os.Stdout}
	app := newApp(boot.CommandEnv(program))
	err := out.Failed(app.Execute(out, withUsual(app, args)))
	var status *cli.Exit
	switch {
	case errors.As(err, &status):
		printError(status.Err)
		return status.Code
	case errors.As(err, new(*cli.UsageError)):
		printError(err)
		return misused
	}
	printError(err)
	if err != nil {
		return failed
	}
	return 0
}

func printError(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, program+": error: %s\n%s", plain.Line(err.Error(), 2000), errorPlace(err))
	}
}

// withUsual adds the verb that a person need not type.
func withUsual(app *cli.App, words []string) []string {
	asks := len(words) > 1 && words[0] == cobra.ShellCompRequestCmd // a shell asks what may be the last word
	switch {
	case asks && (len(words) > 2 || strings.HasPrefix(words[1], "-")):
		return append(words[:1:1], withUsual(app, words[1:])...)
	case asks:
		return words
	case len(words) == 0:
		return []string{usual}
	case words[0] == "--version":
		return []string{"version"}
	case slices.Contains([]string{"help", "--help", "-h"}, words[0]):
		return words
	}
	if verb, _, _ := app.Find(words[:1]); verb != app.Command {
		return words
	}
	return append([]string{usual}, words...)
}

type verbs struct{ verb.Verbs }

// newApp makes all commands, in the order in which help lists them.
func newApp(env loop.Env) *cli.App {
	v := verbs{verb.Verbs{Env: env}}
	v.Env.HookProblem = boot.HookProblem(env)
	app := &cli.App{Loops: v.Names, Command: &cobra.Command{
		Use: program + " [NAME|LIST] [flags]", Long: helpText, Example: helpExamples,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}}
	app.Add("Start", v.run(), v.resume(), v.review(), v.delegate())
	app.Add("Inspect", v.watch(), v.serve(), v.report())
	workers := &cobra.Command{Use: "engine", Short: "Give workers access, and see which feature each has"}
	workers.AddCommand(v.engineToken(), v.engineStatus())
	app.Add("Set up", v.agents(), v.mcp(), workers, v.worker(), cli.Completion(app.Command), cli.Version(program, version))
	// The other program has the help of these.
	for _, c := range []*cobra.Command{v.List(), v.Status(), v.Use(), v.Log(), v.Pause(), v.Cancel(), v.Note(), v.Trust(),
		v.Verify(), v.Notify()} {
		c.Hidden = true
		app.AddCommand(c)
	}
	return app
}

// version is a release's version, set by the linker: -ldflags "-X main.version=1.2.3".
var version string

const helpExamples = `  ralph-runner                                    run the current loop with claude
  ralph-runner prd.json --check 'npm test'        create a loop from a list, and run it
  ralph-runner --prompt "Fix the build" --check make
  ralph-runner --chain 'planner:3 -> builder:20'  run several agents, one after the other`

const helpText = `Run a loop: a fresh session of an agent works on one feature at a time, until every feature is
proven. 'ralph-runner run --help' lists the flags. ralph-stop-hook's commands for loops, such as
status and pause, work here, too.

The exit status is 0 if the loop is complete, 1 at a limit, 2 if it stagnated, 3 if it
needs a person, 4 if it failed or was interrupted, and 130 if a person stopped it.`
