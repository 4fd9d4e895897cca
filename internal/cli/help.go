package cli

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

func (a *App) help(w io.Writer, c *Command) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", cmp.Or(c.Long, c.Short), a.usage(c))
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	subs := a.below(c)
	var groups []string
	rows := map[string][][2]string{}
	for _, sub := range subs {
		group := cmp.Or(sub.Group, "Commands")
		if rows[group] == nil {
			groups = append(groups, group)
		}
		rows[group] = append(rows[group], [2]string{sub.verb(), sub.Short})
	}
	for _, group := range groups {
		showRows(w, group, rows[group])
	}
	if c.Like != "" {
		fmt.Fprintf(w, "\n%s\n", a.alike(c))
	}
	showRows(w, "Flags", a.own(c))
	if len(subs) > 0 {
		fmt.Fprintf(w, "\n'%s COMMAND --help' explains one.\n", a.path(c))
	}
}

// leastWidth is how wide the first column is at least, so that those of groups stand below one another.
const leastWidth = 10

func showRows(w io.Writer, title string, rows [][2]string) {
	width := leastWidth
	for _, row := range rows {
		width = max(width, len(row[0]))
	}
	if len(rows) > 0 {
		fmt.Fprintf(w, "\n%s:\n", title)
	}
	for _, row := range rows {
		fmt.Fprintf(w, "  %-*s  %s\n", width, row[0], row[1])
	}
}

func (a *App) usage(c *Command) string {
	text := strings.TrimSpace(a.path(c) + " " + c.Args)
	switch {
	case c.Behind != nil:
		return text + " [flags] [-- ARGUMENT...]"
	case c.Name == "" && a.Usual != "":
		usual, _ := a.Find([]string{a.Usual})
		return text + " " + usual.Args + " [flags]\n  " + text + " COMMAND"
	case c.Run == nil && c.Args == "":
		return text + " COMMAND"
	case len(c.options()) > 1:
		return text + " [flags]"
	}
	return text
}

// alike says which flags a command has beside its own.
func (a *App) alike(c *Command) string {
	return fmt.Sprintf("It takes the flags of '%s %s', too.", a.Name, c.Like)
}

// own are the options of a command that the one whose flags it takes does not have.
func (a *App) own(c *Command) [][2]string {
	if c.Like == "" {
		return c.options()
	}
	like, _ := a.Find([]string{c.Like})
	theirs := like.options()
	return slices.DeleteFunc(c.options(), func(row [2]string) bool {
		return !strings.HasPrefix(row[0], "-h") && slices.Contains(theirs, row)
	})
}

// options are the flags with what each is for. The name of a value stands in
// backquotes there.
func (c *Command) options() (rows [][2]string) {
	c.Flags.VisitAll(func(f *flag.Flag) {
		value, what := flag.UnquoteUsage(f)
		name := "    --" + f.Name
		for letter, long := range c.Letters {
			if long == f.Name {
				name = "-" + letter + ", --" + f.Name
			}
		}
		switch f.DefValue {
		case "", "0", "0s", "false":
		default:
			what += " (default " + f.DefValue + ")"
		}
		rows = append(rows, [2]string{strings.TrimRight(name+" "+value, " "), what})
	})
	return append(rows, [2]string{"-h, --help", "show this"})
}
