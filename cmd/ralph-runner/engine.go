package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/fleet"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jobs"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func (v verbs) engineToken() *cobra.Command {
	var revoke bool
	var url string
	cmd := &cobra.Command{
		Use: "token WORKER [NAME]", Short: "Create a worker's credential, or lock a worker out",
		Long: `Create a credential for a worker on another machine, and print the line to type there. A
second credential with the same name revokes the first one. Start a run with an engine
first. With --engine, it also prints the users that your servers need.`,
		Example: "  ralph-runner engine token builder --engine tls://a.example.com:4222,tls://b.example.com:4222",
	}
	cmd.Flags().StringVar(&url, "engine", "", "use your own NATS servers: one `URL` or several")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "lock the worker out")
	cmd.RunE = cli.Run(func(w io.Writer, words []string) error {
		at, err := v.Find(words[1:])
		if err != nil {
			return err
		}
		dir := filepath.Join(at.StatePath(), jobs.Folder)
		if revoke {
			return lockOut(w, dir, words[0])
		}
		credential, err := jobs.Token(dir, at.Name, url, words[0])
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s may take work at %s. Type on its machine:\n\n"+
			"  RALPH_ENGINE=%s ralph-runner worker\n\n"+
			"If Claude Code works there, add --permission-mode acceptEdits: without permissions it refuses every edit.\n"+
			"The line is a secret. To lock the worker out: ralph-runner engine token %s --revoke\n",
			words[0], plain.Line(credential.URL, 500), credential, strings.Join(words, " "))
		if err == nil {
			err = showUsers(w, dir)
		}
		return err
	})
	return cmd
}

func lockOut(w io.Writer, dir, worker string) error {
	if err := jobs.Revoke(dir, worker); err != nil {
		return err
	}
	users, err := jobs.Authorization(dir)
	if err != nil || users != "" {
		fmt.Fprintf(w, "The key of %s is forgotten here. The worker is locked out when your servers forget it, too.\n",
			worker)
		return showUsers(w, dir)
	}
	_, err = fmt.Fprintf(w, "%s is locked out. What it had is offered again when its lease is over.\n", worker)
	return err
}

// showUsers prints what the servers must know, if a person runs them.
func showUsers(w io.Writer, dir string) error {
	text, err := jobs.Authorization(dir)
	if err != nil || text == "" {
		return err
	}
	_, err = fmt.Fprintf(w, "\nPut this into the configuration of each of your servers, in the place of what was "+
		"printed before,\nand reload it (nats-server --signal reload):\n\n%s", text)
	return err
}

func (v verbs) engineStatus() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "status [NAME]", Short: "Show which worker has which feature of a loop",
		RunE: cli.Run(func(w io.Writer, words []string) error {
			at, err := v.Find(words)
			if err != nil {
				return err
			}
			s, err := fleet.Look(at)
			switch {
			case err != nil:
				return err
			case asJSON:
				return cli.JSON(w, s)
			}
			showEngine(cli.NewScreen(w, v.Env.Get), s)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showEngine(screen cli.Screen, s fleet.Status) {
	screen.Row("engine", plain.Line(s.URL, 200))
	if s.Problem != "" {
		screen.Row("problem", plain.Line(s.Problem, 500))
	}
	screen.Row("let in", plain.Line(strings.Join(s.Workers, ", "), 500))
	if s.Problem != "" {
		return
	}
	screen.Row("features", fmt.Sprintf("%d wait, workers have %d, %d are merged", s.Open, len(s.Holders), s.Merged))
	if len(s.Holders) == 0 {
		return
	}
	rows := [][]string{{"FEATURE", "ATTEMPT", "WORKER", "MACHINE", "STATE", "SINCE"}}
	for _, h := range s.Holders {
		ago := plain.Duration(max(0, time.Since(h.Since)))
		rows = append(rows, []string{h.Feature, strconv.Itoa(h.Attempt), h.Worker, h.Machine, h.State, ago + " ago"})
	}
	fmt.Fprintln(screen)
	cli.Table(screen, rows)
}
