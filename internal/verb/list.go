package verb

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// List shows a loop's list as it is read, and checks one.
func (v Verbs) List() *cobra.Command {
	var asJSON bool
	const short = "Show a loop's features, their order, and why some wait"
	cmd := v.Loop("list", short, func(w io.Writer, l *loop.Loop) error {
		p, err := l.Look()
		p.AskTracker(background())
		err = errors.Join(err, p.Snapshot.List.Err)
		if err != nil {
			return err
		}
		items := Items(p)
		switch {
		case asJSON:
			return cli.JSON(w, items)
		case p.Snapshot.NoList:
			fmt.Fprintf(w, "the loop %s has no list; %s\n", name(l),
				say.NoListProof(decide.InProgress, "", len(p.Snapshot.Checks)))
			return nil
		}
		showItems(w, items)
		if list := p.Snapshot.List.List; list.LeftOut.All+list.Slips.All+list.Unread.All > 0 {
			showNotes(w, list, say.ShownNotes)
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(listCheck())
	return cmd
}

func showItems(w io.Writer, items []Item) {
	rows := [][]string{{"STATE", "ORDER", "ID", "TITLE"}}
	for _, item := range items {
		order, title := "", plain.Line(item.Title, 80)
		if item.Order > 0 {
			order = fmt.Sprint(item.Order)
		}
		if item.Why != "" {
			title += " (" + item.Why + ")"
		}
		rows = append(rows, []string{item.State, order, item.ID, title})
	}
	cli.Table(w, rows)
}

func showNotes(w io.Writer, list features.List, most int) {
	for _, note := range say.ListNotes(list, most) {
		fmt.Fprintln(w, note)
	}
}

func listCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Report what is wrong in a list",
		RunE: cli.Run(func(w io.Writer, args []string) error {
			data, how, err := ReadList(args[0])
			if err != nil {
				return err
			}
			list, problems, remarks := how.Check(data)
			for _, problem := range problems {
				fmt.Fprintf(w, "%s\n", plain.Line(problem.Error(), 1000))
			}
			for _, remark := range remarks {
				fmt.Fprintf(w, "remark: %s\n", plain.Line(remark.Error(), 1000))
			}
			if len(problems) > 0 {
				return fmt.Errorf("%s in %s", plain.Count(len(problems), "problem"), plain.Line(args[0], 300))
			}
			fmt.Fprintf(w, "%s, %d passing; no problems found\n", plain.Count(len(list.Items), "feature"),
				list.Passed())
			showNotes(w, list, features.MaxProblems)
			return nil
		}),
	}
}

// ReadList reads the file of a list's name, and tells how its text is to be read.
func ReadList(name string) (data []byte, how features.Reading, err error) {
	file, tag := features.SplitTag(name)
	data, err = loopdir.ReadAny(file, features.MaxBytes)
	return data, features.Reading{Tag: tag, Now: time.Now()}, err
}
