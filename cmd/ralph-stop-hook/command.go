package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// command is one verb: what help, man pages and completions say of it, and what it does.
type command struct {
	name    string // behind that of the verb it belongs to: "list check"; empty for the program
	args    string // the words that it takes, as its usage shows them
	short   string
	long    string // help's text, where that is more than short
	example string
	hidden  bool              // since only programs call it
	raw     bool              // all its words are somebody else's
	letters map[string]string // short for the names of flags
	flags   flag.FlagSet
	run     func(w io.Writer, words []string) error // nil where it only stands before others
}

// commands are all of them, the program itself first.
type commands []*command

// usageError is a call that was misspelt.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func (c *command) path() string {
	return strings.TrimSpace("ralph-stop-hook " + c.name)
}

// misused says what is wrong with a call of c, and where to look.
func (c *command) misused(format string, args ...any) error {
	return &usageError{fmt.Errorf(format+"; see '"+c.path()+" --help'", args...)}
}

// given tells whether a flag was in the call; else it has its default.
func (c *command) given(name string) (is bool) {
	c.flags.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}

// execute does what a call says.
func (all commands) execute(w io.Writer, words []string) error {
	help := len(words) > 0 && slices.Contains([]string{"help", "--help", "-h"}, words[0])
	if help {
		words = words[1:]
	}
	c, words := all.find(words)
	if c.run == nil && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		return all.unknown(c, words[0])
	}
	var err error
	if !c.raw && !help {
		words, err = c.parse(words)
	}
	switch {
	case help || errors.Is(err, flag.ErrHelp) || err == nil && c.name == "":
		all.help(w, c)
		return nil
	case err != nil:
		return err
	case c.run == nil:
		names := all.names(c)
		last := len(names) - 1
		return &usageError{fmt.Errorf("%s what? say %s or %s", c.name, strings.Join(names[:last], ", "), names[last])}
	}
	want := strings.Fields(c.args)
	switch most := len(want); {
	case len(words) < most && !strings.HasPrefix(want[len(words)], "["):
		return c.misused("%s wants %s", c.name, want[len(words)])
	case len(words) > most && !strings.HasSuffix(c.args, "..."):
		return c.misused("%q is one word too many", words[most])
	}
	return c.run(w, words)
}

// find returns the command that words begin with, and the rest of them.
func (all commands) find(words []string) (*command, []string) {
	for n := min(2, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if i := slices.IndexFunc(all[1:], func(c *command) bool { return c.name == name }); i >= 0 {
			return all[1+i], words[n:]
		}
	}
	return all[0], words
}

// below returns the commands that stand behind c, those for people.
func (all commands) below(c *command) commands {
	return slices.DeleteFunc(slices.Clone(all[1:]), func(sub *command) bool {
		return sub.hidden || strings.TrimSpace(strings.TrimSuffix(sub.name, sub.verb())) != c.name
	})
}

// verb is the command's own word.
func (c *command) verb() string { return c.name[strings.LastIndex(c.name, " ")+1:] }

func (all commands) names(c *command) (names []string) {
	for _, sub := range all.below(c) {
		names = append(names, sub.verb())
	}
	return names
}

func (all commands) unknown(c *command, word string) error {
	hint := "'" + c.path() + " --help' lists them"
	if near := jsontext.Nearest(word, all.names(c)); near != "" {
		hint = "did you mean " + near + "?"
	}
	return &usageError{fmt.Errorf("unknown command %q; %s", word, hint)}
}

// parse sets the flags, which may stand anywhere, and returns the other words.
func (c *command) parse(args []string) (words []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			return append(words, args...), nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			words = append(words, arg)
			continue
		}
		name, value, has := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		f := c.flags.Lookup(cmp.Or(c.letters[name], name))
		switch {
		case f == nil && (name == "h" || name == "help"):
			return nil, flag.ErrHelp
		case f == nil:
			return nil, c.unknownFlag(arg, name)
		case isSwitch(f) && !has:
			value = "true"
		case !has && len(args) == 0:
			return nil, c.misused("%s what? it wants a value", arg)
		case !has:
			value, args = args[0], args[1:]
		}
		if c.flags.Set(f.Name, value) != nil {
			return nil, c.misused("--%s %q; want %s", f.Name, value, wanted(f))
		}
	}
	return words, nil
}

func (c *command) unknownFlag(arg, name string) error {
	var known []string
	c.flags.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	arg, _, _ = strings.Cut(arg, "=")
	if near := jsontext.Nearest(name, known); near != "" {
		return &usageError{fmt.Errorf("unknown flag %q; did you mean --%s?", arg, near)}
	}
	return c.misused("unknown flag %q", arg)
}

// isSwitch tells whether a flag stands alone.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func wanted(f *flag.Flag) string {
	if g, ok := f.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case time.Duration:
			return "a time, such as 90s or 12h"
		case bool:
			return "true or false"
		}
	}
	return "a number"
}

// eachInto is a flag that may be repeated.
func eachInto(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}
