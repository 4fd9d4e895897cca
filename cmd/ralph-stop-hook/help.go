package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"strings"
)

// help shows what there is to know of c.
func (all commands) help(w io.Writer, c *command) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", cmp.Or(c.long, c.short), c.usage())
	if c.example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.example)
	}
	var subs [][2]string
	for _, sub := range all.below(c) {
		subs = append(subs, [2]string{sub.verb(), sub.short})
	}
	showRows(w, "Commands", subs)
	showRows(w, "Flags", c.options())
	if len(subs) > 0 {
		fmt.Fprintf(w, "\n'%s COMMAND --help' says more of one.\n", c.path())
	}
}

func showRows(w io.Writer, title string, rows [][2]string) {
	width := 0
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

// usage is a call of c in one line.
func (c *command) usage() string {
	text := strings.TrimSpace(c.path() + " " + c.args)
	switch {
	case c.run == nil && c.args == "":
		return text + " COMMAND"
	case len(c.options()) > 1:
		return text + " [flags]"
	}
	return text
}

// options are the flags with what each is for. The name of a value stands in
// backquotes there.
func (c *command) options() (rows [][2]string) {
	c.flags.VisitAll(func(f *flag.Flag) {
		value, what := flag.UnquoteUsage(f)
		name := "    --" + f.Name
		for letter, long := range c.letters {
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
