package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func listCommand() *command {
	var asJSON bool
	cmd := loopVerb("list", "Show a loop's list as it is read: what is open, in which order, and why something is not", func(w io.Writer, s *loopdir.Store) error {
		l, err := loadNow(s)
		l.freshen()
		if err = errors.Join(err, l.snap.List.Err); err != nil {
			return err
		}
		return showList(w, l.snap.List.List, asJSON)
	})
	cmd.long = listHelp
	cmd.flags.BoolVar(&asJSON, "json", false, "for machines")
	return cmd
}

func listCheckCommand() *command {
	return &command{
		name:  "list check",
		args:  "FILE",
		short: "Say what is wrong with a list, or odd, and what to write instead",
		run: func(w io.Writer, args []string) error {
			data, tag, err := readList(args[0])
			if err != nil {
				return err
			}
			list, problems := features.Check(data, tag)
			for _, problem := range problems {
				fmt.Fprintf(w, "%s\n", plain.Line(problem.Error(), 1000))
			}
			if len(problems) > 0 {
				return fmt.Errorf("%s in %s", plural(len(problems), "problem"), plain.Line(args[0], 300))
			}
			fmt.Fprintf(w, "%s, %d of them pass; nothing is wrong\n", plural(len(list.Items), "feature"), list.Passed())
			return nil
		},
	}
}

// readList reads the file of a list's name, and tells which tag of it is meant.
func readList(name string) (data []byte, tag string, err error) {
	file, tag := features.Named(name)
	data, err = readFile(file, features.MaxBytes)
	return data, tag, err
}

func listConvertCommand() *command {
	var to string
	cmd := &command{
		name:    "list convert",
		args:    "FILE",
		short:   "Print a list in another shape",
		example: "  ralph-stop-hook list convert prd.json --to features > feature_list.json",
		run: func(w io.Writer, args []string) error {
			data, tag, err := readList(args[0])
			if err != nil {
				return err
			}
			list, err := features.ParseTag(data, tag)
			if err != nil {
				return fmt.Errorf("%s: %w", plain.Line(args[0], 300), err)
			}
			text, err := list.Convert(to)
			if err != nil {
				return &usageError{err}
			}
			if left := list.Left(data, to); len(left) > 0 {
				fmt.Fprintf(os.Stderr, "not carried over: %s\n", plain.Line(strings.Join(left, ", "), 1000))
			}
			_, err = w.Write(text)
			return err
		},
	}
	cmd.flags.StringVar(&to, "to", features.ToFeatures, "the `SHAPE`: features, prd or markdown")
	return cmd
}

const listHelp = `Show a loop's list as it is read: what is open, in which order it is handed out,
what has to wait for what, and what is no work at all.

A list is a JSON array of features, an object with "features", "userStories",
"stories" or "tasks", Task Master's tasks.json (of several tags, "master", or the
one that is named: tasks.json#ui), one JSON object a line (beads), or Markdown with
checkboxes. It is worked as it is; nothing in it is reformatted.`

// listItem is an item of `list --json`.
type listItem struct {
	ID    string `json:"id"`
	State string `json:"state"` // open; done: the list says that it passes; blocked: nobody can ever work on it; dropped: no work
	Order int    `json:"order"` // 1 is handed out next; 0 is not handed out
	Title string `json:"title"`
	Why   string `json:"why"` // nobody can work on it now
	Model string `json:"model"`
}

// nameOf is a feature's title, or else what is to be done: the lists that most people
// begin with have no titles.
func nameOf(item features.Item) string { return cmp.Or(item.Title(), item.Description()) }

func listItems(l features.List) (items []listItem) {
	order := map[string]int{}
	for n, item := range l.Order() {
		order[item.ID] = n + 1
	}
	for _, item := range l.Items {
		v := listItem{ID: item.ID, State: "done", Order: order[item.ID], Title: nameOf(item), Model: item.Model()}
		if !item.Passes {
			v.State, v.Why = "open", l.Why(item)
			if v.Order == 0 {
				v.State = "blocked"
			}
		}
		items = append(items, v)
	}
	for _, item := range l.Dropped {
		items = append(items, listItem{ID: item.ID, State: "dropped", Title: nameOf(item), Model: item.Model()})
	}
	return items
}

func showList(w io.Writer, l features.List, asJSON bool) error {
	items := listItems(l)
	if asJSON {
		text, err := indentJSON(items)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		return err
	}
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
	table(w, rows)
	return nil
}
