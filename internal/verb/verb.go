// Package verb has the commands that people type for loops, and what they show of a loop, as values.
package verb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Verbs makes the verbs of one program.
type Verbs struct {
	Env loop.Env

	// Host adds what the host that calls `status --line` says: its session, its project and its
	// working folder. It is nil if no host calls it.
	Host func(*loopdir.Where)
}

// ErrNoLoop means that the project has no loop.
var ErrNoLoop = errors.New("no loop in this project; 'ralph-stop-hook init' makes one")

// Find finds the loop that a verb's arguments name; without a name, the current one. Beside an error there may be the
// loop that it is about.
func (v Verbs) Find(args []string) (*loopdir.Loop, error) {
	if len(args) > 0 {
		l, err := v.Env.Where().Named(args[0])
		if err == nil || args[0] == "" {
			return l, err
		}
		for _, gone := range v.Env.Where().WithoutFolder() {
			if gone.Name == args[0] {
				return gone, nil
			}
		}
		return l, err
	}
	l, err := loopdir.Find(v.Env.Where())
	if err == nil && l == nil {
		return v.noLoop()
	}
	return l, err
}

// noLoop says why the project has no current loop, and returns one whose folder is gone.
func (v Verbs) noLoop() (*loopdir.Loop, error) {
	if names := v.Names(); len(names) > 0 {
		return nil, fmt.Errorf("none of the loops %s is the current one; name one, or: %s",
			plain.Line(strings.Join(names, ", "), 300), v.Env.Call("use", names[0]))
	}
	if gone := v.Env.Where().WithoutFolder(); len(gone) > 0 {
		return gone[0], gone[0].Check()
	}
	others, err := v.Env.Where().Known()
	if err == nil && len(others) > 0 { // such as those of the packages below
		return nil, fmt.Errorf("%w; '%s' shows those of other folders", ErrNoLoop, v.Env.Call("status", "--all"))
	}
	return nil, ErrNoLoop
}

// OnLoop makes a command's Run from a function of the loop that its arguments name.
func (v Verbs) OnLoop(do func(w io.Writer, l *loop.Loop) error) func(io.Writer, []string) error {
	return func(w io.Writer, args []string) error {
		at, err := v.Find(args)
		if err != nil {
			return err
		}
		l, err := loop.Open(v.Env, at)
		if err != nil {
			return err
		}
		defer l.Close()
		state, err := l.Store.State()
		l.Env.ByAgent = l.Env.ByAgent || err == nil && loop.CalledByAgent(state)
		err = do(w, l)
		if err == nil && l.Unshown != nil && !at.IsMissing() {
			fmt.Fprintf(w, "warning: %s; the next stop tries again\n", plain.Line(l.Unshown.Error(), 500))
		}
		return err
	}
}

// Loop makes a verb from a function of one loop, which its argument may name.
func (v Verbs) Loop(name, short string, do func(w io.Writer, l *loop.Loop) error) *cobra.Command {
	return &cobra.Command{Use: name + " [NAME]", Short: short, RunE: cli.Run(v.OnLoop(do))}
}

// PersonOnly refuses what only a person may do when an agent calls.
func (v Verbs) PersonOnly() error {
	if !v.Env.ByAgent {
		return nil
	}
	words := []string{v.Env.Program}
	for _, arg := range os.Args[1:] {
		words = append(words, plain.Arg(arg))
	}
	return fmt.Errorf("this is for a person, not for an agent; in a terminal of your own run: %s",
		strings.Join(words, " "))
}

// PersonFor is PersonOnly for a verb of a loop.
func (v Verbs) PersonFor(l *loop.Loop) error {
	v.Env = l.Env
	return v.PersonOnly()
}

// Names returns the names of the project's loops, for completions.
func (v Verbs) Names() (names []string) {
	loops, _ := v.Env.Where().All() // without them there is less to offer
	for _, l := range loops {
		if loopdir.CheckName(l.Name) == nil {
			names = append(names, l.Name)
		}
	}
	return names
}

// background is the context of a verb: slow work ends at a signal, by Env.Catch.
func background() context.Context { return context.Background() }

func name(l *loop.Loop) string { return plain.Line(l.At.Name, 100) }
