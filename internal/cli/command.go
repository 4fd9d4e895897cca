// Package cli has what every command line program of ours needs: commands with flags, help,
// completion, tables, and output for a terminal.
package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Command is one command: its text in help, man pages and completions, and its action.
type Command struct {
	Name    string // with that of the command that it belongs to: "list check"; empty for the program itself
	Args    string // the words that it takes, as its usage shows them; "[NAME]" in them is a loop's name
	Short   string
	Long    string // help's text, if that is more than Short
	Example string
	Group   string            // what it is for, as help has its heading
	Hidden  bool              // only programs call it
	Shared  bool              // App.Home has its help, man page and completion
	Raw     bool              // all its words are passed on as they are
	Letters map[string]string // one-letter names of flags
	Flags   flag.FlagSet
	Behind  *[]string // gets the words behind "--"; nil: they are words as the others
	Like    string    // the command whose flags it takes, too; help does not list them again
	Perhaps string    // the flag that may have a value, behind "=", and may have none; "": there is no such flag

	// Run is the action, with the arguments that are not flags; nil if the command only has
	// commands below it.
	Run func(w io.Writer, words []string) error
}

// Grouped puts commands into a group.
func Grouped(group string, commands ...*Command) []*Command {
	for _, c := range commands {
		c.Group = group
	}
	return commands
}

// App is a program: its name and its commands, the program itself first.
type App struct {
	Name     string
	Commands []*Command
	Loops    func() []string   // the names that complete an argument [NAME]; may be nil
	Usual    string            // the name of the command that a person need not type; "": there is none
	Home     string            // the program whose help has the shared commands
	Moved    map[string]string // what to type now instead of an earlier command or flag, by its name
}

// UsageError means that the command line is wrong.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Exit is an error with an exit status.
type Exit struct {
	Code int
	Err  error // nil: people know everything already
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// MovedError means that the command has another name now.
type MovedError struct{ Old, Now string }

func (e *MovedError) Error() string { return fmt.Sprintf("%q has moved; run: %s", e.Old, e.Now) }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Given reports whether the command line has a flag; else the flag has its default.
func (c *Command) Given(name string) (given bool) {
	c.Flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// Beside says that a word which nobody wants may be the value of the flag that may have none; "": it cannot be.
func (c *Command) Beside(word string) string {
	if c.Perhaps == "" || !c.Given(c.Perhaps) {
		return ""
	}
	return fmt.Sprintf("; if it is the value of --%s, type --%[1]s=%s", c.Perhaps, plain.Arg(plain.Line(word, 100)))
}

// Each makes a flag that may be repeated.
func Each(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}

func (c *Command) verb() string { return c.Name[strings.LastIndex(c.Name, " ")+1:] }

func (a *App) path(c *Command) string {
	if c.Shared {
		return a.Home + " " + c.Name
	}
	return strings.TrimSpace(a.Name + " " + c.Name)
}

func (a *App) misused(c *Command, format string, args ...any) error {
	return Usagef(format+"; see '"+a.path(c)+" --help'", args...)
}

// Execute runs the command that the words name. From then on SIGPIPE does not end this process: a command completes its
// work even if nobody reads the output.
func (a *App) Execute(w io.Writer, words []string) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	help := len(words) > 0 && slices.Contains([]string{"help", "--help", "-h"}, words[0])
	if help {
		words = words[1:]
	}
	for n := range min(2, len(words)) {
		old := strings.Join(words[:n+1], " ")
		if now := a.Moved[old]; now != "" {
			return &UsageError{&MovedError{old, now}}
		}
	}
	c, words := a.Find(words)
	if c.Run == nil && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		return a.unknown(c, words[0])
	}
	var err error
	if !c.Raw && !help {
		words, err = a.parse(c, words)
	}
	switch {
	case help || errors.Is(err, flag.ErrHelp) || err == nil && c.Name == "":
		a.help(w, c)
		return nil
	case err != nil:
		return err
	case c.Run == nil:
		names := a.names(c)
		last := len(names) - 1
		return Usagef("%s what? say %s or %s", c.Name, strings.Join(names[:last], ", "), names[last])
	}
	if err := a.counted(c, words); err != nil {
		return err
	}
	return c.Run(w, words)
}

// counted refuses too few or too many arguments.
func (a *App) counted(c *Command, words []string) error {
	want := strings.Fields(c.Args)
	switch most := len(want); {
	case len(words) < most && !strings.HasPrefix(want[len(words)], "["):
		return a.misused(c, "%s wants %s", c.Name, want[len(words)])
	case len(words) > most && !strings.HasSuffix(c.Args, "..."):
		return a.misused(c, "%q is one argument too many%s", words[most], c.Beside(words[most]))
	}
	return nil
}

// Find returns the command that words begin with, and the rest of them.
func (a *App) Find(words []string) (*Command, []string) {
	for n := min(2, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if i := slices.IndexFunc(a.Commands[1:], func(c *Command) bool { return c.Name == name }); i >= 0 {
			return a.Commands[1+i], words[n:]
		}
	}
	return a.Commands[0], words
}

// below returns the commands that belong to c, those for people.
func (a *App) below(c *Command) []*Command {
	return slices.DeleteFunc(slices.Clone(a.Commands[1:]), func(sub *Command) bool {
		above := strings.TrimSpace(strings.TrimSuffix(sub.Name, sub.verb()))
		return sub.Hidden || sub.Shared && !c.Shared || above != c.Name
	})
}

func (a *App) names(c *Command) (names []string) {
	for _, sub := range a.below(c) {
		names = append(names, sub.verb())
	}
	return names
}

// Near returns the command that a word is most like, "" for none.
func (a *App) Near(word string) string {
	names := a.names(a.Commands[0])
	for _, c := range a.Commands {
		if c.Shared {
			names = append(names, c.Name)
		}
	}
	return jsontext.Nearest(word, names)
}

func (a *App) unknown(c *Command, word string) error {
	hint := "'" + a.path(c) + " --help' lists them"
	if near := jsontext.Nearest(word, a.names(c)); near != "" {
		hint = "did you mean " + near + "?"
	}
	return Usagef("unknown command %q; %s", word, hint)
}

// parse sets the flags, which may stand anywhere, and returns the other words.
func (a *App) parse(c *Command, args []string) (words []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" && c.Behind != nil {
			*c.Behind = args
			return words, nil
		}
		if arg == "--" {
			return append(words, args...), nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			words = append(words, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		f := c.Flags.Lookup(cmp.Or(c.Letters[name], name))
		switch {
		case f == nil && (name == "h" || name == "help"):
			return nil, flag.ErrHelp
		case f == nil:
			return nil, a.unknownFlag(c, arg, name)
		case isSwitch(f) && !hasValue:
			value = "true"
		case !hasValue && len(args) == 0:
			return nil, a.misused(c, "%s what? it wants a value", arg)
		case !hasValue:
			value, args = args[0], args[1:]
		}
		if err := c.Flags.Set(f.Name, value); errors.As(err, new(*UsageError)) {
			return nil, err
		} else if err != nil {
			return nil, a.misused(c, "--%s %q; want %s", f.Name, value, wanted(f))
		}
	}
	return words, nil
}

func (a *App) unknownFlag(c *Command, arg, name string) error {
	var known []string
	c.Flags.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	arg, _, _ = strings.Cut(arg, "=")
	if now := a.Moved[c.Name+" --"+name]; now != "" {
		return &UsageError{&MovedError{arg, now}}
	}
	if near := jsontext.Nearest(name, known); near != "" {
		return Usagef("unknown flag %q; did you mean --%s?", arg, near)
	}
	return a.misused(c, "unknown flag %q", arg)
}

// isSwitch reports whether a flag takes no value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// wanted says what kind of value a flag takes.
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
