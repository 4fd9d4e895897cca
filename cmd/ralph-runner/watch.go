package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/screen"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// watch shows all loops and runs in the terminal.
func (v verbs) watch() *cobra.Command {
	lines := false
	cmd := &cobra.Command{
		Use: "watch [NAME]...", Short: "Show all loops and runs in the terminal, live", Long: watchHelp,
	}
	cmd.Flags().BoolVar(&lines, "lines", false, "print a line at each change, for a screen reader or a log")
	cmd.RunE = cli.Run(func(w io.Writer, names []string) error {
		watcher, err := watch.New(v.Env)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.ContainsFunc(watcher.Picture().Loops, hasName(name)) {
				return fmt.Errorf("there is no loop or run %q; 'ralph-runner watch' shows all", plain.Line(name, 80))
			}
		}
		o := screen.Options{Env: v.Env, Watcher: watcher, Colour: v.Env.Get("NO_COLOR") == ""}
		if len(names) > 0 {
			o.Only = func(l *watch.Loop) bool {
				return slices.ContainsFunc(names, func(name string) bool { return hasName(name)(*l) })
			}
		}
		ctx, stop := boot.Catch(context.Background())
		defer stop()
		go watcher.Run(ctx)
		terminal := cli.CanAsk() && term.IsTerminal(int(os.Stdout.Fd())) && v.Env.Get("TERM") != "dumb"
		if lines || !terminal {
			return screen.Lines(ctx, o, w)
		}
		return screen.Run(ctx, o)
	})
	return cmd
}

// hasName returns whether a loop has the name, the key, or the run of that id.
func hasName(name string) func(watch.Loop) bool {
	return func(l watch.Loop) bool {
		return l.Name == name || l.Key == name || l.Run != nil && strings.EqualFold(l.Run.ID, name)
	}
}

const watchHelp = `Show all your loops and runs and those of this project, or only NAME: a loop or a run's id.
? shows the keys.`
