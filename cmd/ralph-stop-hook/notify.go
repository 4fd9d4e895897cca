package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

func (v verbs) notify() *cli.Command {
	var test bool
	const short = "Try a loop's notifiers: run each now, with the exit reason \"test\""
	cmd := v.Loop("notify", short, func(w io.Writer, l *loop.Loop) error {
		if !test {
			return cli.Usagef("notify only tests; say 'ralph-stop-hook notify --test'")
		}
		p, err := l.Look()
		if err != nil {
			return err
		}
		for _, note := range say.ConfigNotes(p) {
			fmt.Fprintln(w, note)
		}
		failed := 0
		all := p.Try(context.Background(), func(line string, err error) {
			fmt.Fprintln(w, line)
			if err != nil {
				failed++
			}
		})
		switch {
		case all == 0:
			return fmt.Errorf("the loop has no notifiers; name some in ralph.json (\"on_complete\"), then: %s",
				l.Call("trust"))
		case failed > 0:
			return fmt.Errorf("%s failed", plain.Count(failed, "notifier"))
		}
		return nil
	})
	cmd.Flags.BoolVar(&test, "test", false, "run every notifier of the loop")
	return cmd
}

// send is what the hook starts for notices that it must not or cannot tell itself.
func (v verbs) send() *cli.Command {
	var iteration int
	const short = "Run a loop's notifiers; the hook starts this, apart from itself"
	cmd := v.Loop("send", short, func(_ io.Writer, l *loop.Loop) error {
		if iteration > 0 {
			return l.SendIteration(context.Background(), iteration)
		}
		return l.Tell(context.Background())
	})
	cmd.Hidden, cmd.Args = true, ""
	cmd.Flags.IntVar(&iteration, "iteration", 0, "tell of iteration `N` instead")
	return cmd
}
