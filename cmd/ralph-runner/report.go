package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/report"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// report writes what became of a loop.
func (v verbs) report() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use: "report [NAME]", Short: "Write a report about a loop, as one HTML file", Long: reportHelp,
	}
	cmd.Flags().StringVar(&format, "format", "html", "write `FORMAT`: html, md or json")
	cmd.Flags().StringVar(&output, "output", "", "write to `FILE`; - is standard output")
	cmd.RunE = cli.Run(func(w io.Writer, words []string) error {
		write, known := map[string]func(*report.Report, io.Writer) error{
			"html": (*report.Report).HTML, "md": (*report.Report).Markdown, "json": (*report.Report).JSON,
		}[format]
		if !known {
			return cli.Usagef("--format %q; want html, md or json", plain.Line(format, 40))
		}
		dir, err := v.anywhere(words)
		if err != nil {
			return err
		}
		r, err := report.Make(context.Background(), v.Env, dir)
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := write(r, &text); err != nil {
			return err
		}
		switch {
		case output == "-", output == "" && format != "html":
			_, err = w.Write(text.Bytes())
			return err
		case output != "":
			err = os.WriteFile(output, text.Bytes(), 0o644)
		default:
			of := r.Name
			if r.Run != nil {
				of = r.Run.ID
			}
			output, err = record.WriteFile(r.Project, run.ReportName(of), text.Bytes())
		}
		if err == nil {
			fmt.Fprintln(w, output)
		}
		return err
	})
	return cmd
}

// writeReport writes the report of the loop in the folder dir to a file of its project's folder of runs.
func (v verbs) writeReport(dir, name string) error {
	made, err := report.Make(context.Background(), v.Env, dir)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := made.HTML(&text); err != nil {
		return err
	}
	_, err = record.WriteFile(made.Project, name, text.Bytes())
	return err
}

const reportHelp = `Write a report about a loop. NAME is a loop of any project, or its last run's id. The page
goes to .agent-state/report-ID.html in the project; Markdown and JSON go to standard output.`

// anywhere returns the folder of the loop that the words name: in this project, or the only one of this user.
func (v verbs) anywhere(words []string) (dir string, err error) {
	at, err := v.Find(words)
	if err == nil {
		return at.Dir, nil
	}
	if len(words) == 0 {
		if at, e := record.LastLoop(v.Env); e == nil {
			return at.Dir, nil
		}
		return "", err
	}
	p, e := watch.Look(v.Env)
	if e != nil {
		return "", e
	}
	if l := p.Find(words[0]); l != nil {
		return l.Loop, nil
	}
	return "", fmt.Errorf("%w; and no other project, or more than one, has such a loop or run", err)
}
