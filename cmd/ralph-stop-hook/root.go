package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// run is the program. The hook path comes first and builds no command tree.
// A bug must not end it with status 2, which a host takes for a block.
func run(args []string) (status int) {
	defer func() {
		if p := recover(); p != nil {
			printError(fmt.Errorf("internal error: %v", p))
			status = 1
		}
	}()
	if len(args) == 0 && !term.IsTerminal(int(os.Stdin.Fd())) {
		return hookMode(nil)
	}
	if len(args) > 0 && args[0] == "hook" && !asksHelp(args) {
		return hookMode(args[1:])
	}
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage) && hostIsCalling():
		// A mistyped settings entry: an error's exit status would show as a
		// problem or even block, so it is said as the host wants it.
		fmt.Print(string(hookio.Answer{Message: wordsTrouble(err)}.Encode()))
		return 0
	}
	printError(err)
	return 1
}

func asksHelp(args []string) bool {
	return len(args) == 2 && (args[1] == "-h" || args[1] == "--help")
}

// usageError is a call that was misspelt.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// hostIsCalling tells whether standard input holds a hook's JSON, in whatever
// comes within a second.
func hostIsCalling() bool {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return false
	}
	found := make(chan bool, 1)
	go func() {
		defer func() {
			if recover() != nil {
				found <- false
			}
		}()
		_, err := hookio.Read(os.Stdin)
		found <- err == nil
	}()
	select {
	case is := <-found:
		return is
	case <-time.After(time.Second):
		return false
	}
}

// newRoot builds the command tree: one file per verb.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:                        "ralph-stop-hook",
		Short:                      "Keep Claude Code working through a feature list",
		Long:                       helpText,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := "'ralph-stop-hook --help' lists them"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = "did you mean " + strings.Join(near, " or ") + "?"
			}
			return &usageError{fmt.Errorf("unknown command %q; %s", args[0], hint)}
		},
	}
	root.SetOut(os.Stdout)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w; see '%s --help'", err, cmd.CommandPath())}
	})
	root.AddCommand(hookCommand(), initCommand(), statusCommand(), nextCommand(), sendCommand(), guardCommand(), attachCommand(), detachCommand(), pauseCommand(), resumeCommand(), cancelCommand(), extendCommand(), logCommand(), listCommand(), notifyCommand(), trustCommand(), untrustCommand(), verifyCommand(), evaluateCommand(), versionCommand())
	return root
}

// maxArgs wants at most n arguments.
func maxArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return &usageError{fmt.Errorf("%q is one word too many; see '%s --help'", args[n], cmd.CommandPath())}
		}
		return nil
	}
}

// where is what the search for a loop starts from.
func where() loopdir.Where {
	cwd, _ := os.Getwd()        // without one, the host's project has to do
	home, _ := os.UserHomeDir() // without one, the repository's root bounds the search
	state, err := loopdir.StateDir(os.Getenv)
	return loopdir.Where{
		StateDir: state, StateErr: err, LoopDir: os.Getenv("RALPH_LOOP_DIR"), Cwd: cwd, Home: filepath.Clean(home),
	}
}

// findLoop finds the loop that a verb's arguments name; without a name, the
// loop of `current`.
func findLoop(args []string) (*loopdir.Loop, error) {
	if len(args) > 0 {
		return where().Named(args[0])
	}
	l, err := loopdir.Find(where())
	if err == nil && l == nil {
		err = errNoLoop
	}
	return l, err
}

// loopVerb makes a verb of what is to be done with one loop, which its argument may name.
func loopVerb(use, short string, do func(w io.Writer, s *loopdir.Store) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: maxArgs(1), RunE: onLoop(do)}
}

// onLoop makes a verb's run of what is to be done with the loop that its arguments name.
func onLoop(do func(w io.Writer, s *loopdir.Store) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		l, err := findLoop(args)
		if err != nil {
			return err
		}
		s, err := l.Open()
		if err != nil {
			return err
		}
		defer s.Close()
		return do(cmd.OutOrStdout(), s)
	}
}

var errNoLoop = errors.New("no loop in this project; 'ralph-stop-hook init' makes one")

// personOnly refuses what only a person may do when an agent calls.
func personOnly() error {
	if os.Getenv("CLAUDECODE") == "" {
		return nil
	}
	line := "ralph-stop-hook"
	for _, arg := range os.Args[1:] {
		line += " " + quoteArg(arg)
	}
	return fmt.Errorf("this is for a person, not for an agent; in a terminal of your own run: %s", line)
}

// locked does something under a loop's lock.
func locked(s *loopdir.Store, do func() error) error {
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// lockWait is how long a lock is waited for: a hook holds it for milliseconds.
const lockWait = 2 * time.Second
