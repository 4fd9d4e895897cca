package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// run is the program. The hook path comes first and builds no commands.
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
	help := len(args) == 2 && (args[1] == "-h" || args[1] == "--help")
	if len(args) > 0 && args[0] == "hook" && !help {
		return hookMode(args[1:])
	}
	if len(args) == 1 && args[0] == "--version" { // as every program knows it
		args = []string{"version"}
	}
	out := &output{Writer: os.Stdout}
	err := newCommands().execute(out, args)
	if err == nil && out.err != nil {
		err = fmt.Errorf("not all was printed: %w", out.err)
	}
	if err == nil {
		return 0
	}
	if errors.As(err, new(*usageError)) {
		if _, silent := readEvent(); silent == nil {
			// A mistyped settings entry: an error's exit status would show as a
			// problem or even block, so it is said as the host wants it.
			fmt.Print(string(hookio.Answer{Message: wordsTrouble(err)}.Encode()))
			return 0
		}
	}
	printError(err)
	return 1
}

// output is where verbs print. It remembers that something did not get there.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (n int, err error) {
	if n, err = o.Writer.Write(p); err != nil {
		o.err = err
	}
	return n, err
}

// readEvent reads what the host says, in whatever comes within a second.
func readEvent() (hookio.Event, error) {
	late := errors.New("nothing on standard input")
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return hookio.Event{}, late
	}
	type result struct {
		event hookio.Event
		err   error
	}
	read := make(chan result, 1)
	go func() {
		defer func() {
			if recover() != nil {
				read <- result{err: late}
			}
		}()
		event, err := hookio.Read(os.Stdin)
		read <- result{event, err}
	}()
	select {
	case r := <-read:
		return r.event, r.err
	case <-time.After(time.Second):
		return hookio.Event{}, late
	}
}

// newCommands makes all commands, in the order in which help lists them: one file per verb.
func newCommands() commands {
	return commands{
		{short: "Keep Claude Code working through a feature list", long: helpText},
		initCommand(), statusCommand(), nextCommand(), listCommand(), listCheckCommand(), listConvertCommand(), logCommand(),
		pauseCommand(), cancelCommand(), resumeCommand(), extendCommand(), attachCommand(), detachCommand(),
		trustCommand(), untrustCommand(), verifyCommand(), notifyCommand(),
		evaluateCommand(), evaluateListCommand(), evaluateAddCommand(), evaluateClearCommand(),
		doctorCommand(), uninstallCommand(),
		hookCommand(), completionCommand(), versionCommand(),
		sendCommand(), guardCommand(), completeCommand(),
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
func loopVerb(name, short string, do func(w io.Writer, s *loopdir.Store) error) *command {
	return &command{name: name, args: "[NAME]", short: short, run: onLoop(do)}
}

// onLoop makes a verb's run of what is to be done with the loop that its arguments name.
func onLoop(do func(w io.Writer, s *loopdir.Store) error) func(io.Writer, []string) error {
	return func(w io.Writer, args []string) error {
		l, err := findLoop(args)
		if err != nil {
			return err
		}
		s, err := l.Open()
		if err != nil {
			return err
		}
		defer s.Close()
		return do(w, s)
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
