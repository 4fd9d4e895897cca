package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/engine"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func (v verbs) engineClear() *cli.Command {
	var url string
	var yes, dryRun bool
	cmd := &cli.Command{
		Name: "engine clear", Args: "[NAME]", Short: "Delete what a loop's runs have left on servers that you run",
		Long: `Deletes the streams of a loop on a NATS server or cluster that you run. They are of no
use when no run of the loop will come: what was merged is in git. A run that comes all
the same makes them anew. It lists the streams and asks first; without a terminal it
needs --yes. It refuses while a run is on. The embedded server's data are in the loop's
state folder, and go with that. Only a person may do this; an agent may use --dry-run.`,
		Example: "  ralph-runner engine clear many --dry-run",
	}
	cmd.Flags.StringVar(&url, "engine", "", "the servers, if they are not those of the last run: `URL`")
	cmd.Flags.BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags.BoolVar(&dryRun, "dry-run", false, "show what would be deleted, and delete nothing")
	cmd.Run = func(w io.Writer, words []string) error {
		if !dryRun {
			if err := v.PersonOnly(); err != nil {
				return err
			}
		}
		dir, err := v.engineFolder(words)
		if err != nil {
			return err
		}
		ctx := context.Background()
		left, err := engine.OpenLeft(ctx, engine.Options{
			URL: url, Dir: dir, Creds: v.Env.Get(engineVar),
			Log: func(text string) { fmt.Fprintln(os.Stderr, plain.Line(text, 500)) },
		})
		if err != nil {
			return err
		}
		defer left.Close()
		fmt.Fprintf(w, "%s at %s\n", plain.Count(len(left.Streams), "stream"), plain.Line(left.URL, 500))
		for _, s := range left.Streams {
			fmt.Fprintf(w, "  %s: %s, %d bytes\n", s.Name, plain.Count(int(s.Messages), "message"), s.Bytes)
		}
		if dryRun || len(left.Streams) == 0 {
			return nil
		}
		if !yes {
			if err := cli.Confirm(w, "delete all this?", "nothing was deleted"); err != nil {
				return err
			}
		}
		if err := left.Remove(ctx); err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, "deleted")
		return err
	}
	return cmd
}
