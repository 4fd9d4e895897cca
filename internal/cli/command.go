// Package cli has what every command line program of ours adds to cobra: errors that say what to do next, completion of
// loops' names, tables, and output for a terminal.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// App is a program.
type App struct {
	*cobra.Command
	Loops func() []string // the names that complete an argument [NAME]
}

// Add adds commands to the help's list under a title.
func (a *App) Add(title string, commands ...*cobra.Command) {
	if !a.ContainsGroup(title) {
		a.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	}
	for _, c := range commands {
		c.GroupID = title
	}
	a.AddCommand(commands...)
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

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// Run makes the action of a command from a function that prints to w.
func Run(do func(w io.Writer, words []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, words []string) error { return do(c.OutOrStdout(), words) }
}

// FlagValueHint says that a word which nobody wants may be the value of a flag that may have none; "": it cannot be.
func FlagValueHint(c *cobra.Command, word string) (hint string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.NoOptDefVal != "true" {
			hint = fmt.Sprintf("; if it is the value of --%s, type --%[1]s=%s", f.Name, plain.Arg(plain.Line(word, 100)))
		}
	})
	return hint
}

func usageError(c *cobra.Command, format string, args ...any) error {
	return Usagef(format+"; see '"+c.CommandPath()+" --help'", args...)
}

// Execute runs the command that the words name. From then on SIGPIPE does not end this process: a command completes its
// work even if nobody reads the output.
func (a *App) Execute(w io.Writer, words []string) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	cobra.EnableCommandSorting = false
	a.SilenceErrors, a.SilenceUsage = true, true
	a.CompletionOptions.DisableDefaultCmd = true
	a.SetHelpCommand(&cobra.Command{Hidden: true, GroupID: a.Groups()[0].ID})
	a.SetFlagErrorFunc(flagError)
	a.settle(a.Command)
	if len(words) > 0 && slices.Contains([]string{"help", "--help", "-h"}, words[0]) {
		words = append(words[1:], "--help")
	}
	c, rest, _ := a.Find(words)
	isName := len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && rest[0] != cobra.ShellCompRequestCmd
	switch {
	case isName && (c == a.Command || !c.Runnable()):
		return unknownError(c, rest[0])
	case len(rest) == 0 && c != a.Command && !c.Runnable():
		return Usagef("%s what? say %s", c.Name(), strings.Join(names(c), " or "))
	}
	a.SetOut(w)
	a.SetArgs(words)
	return a.Command.Execute()
}

// settle says how the arguments of a command and of those below it are counted and completed.
func (a *App) settle(c *cobra.Command) {
	c.Args = checkCount
	c.DisableFlagsInUseLine = !c.HasAvailableLocalFlags()
	if strings.Contains(c.Use, "[NAME") {
		c.ValidArgsFunction = a.complete
	}
	for _, sub := range c.Commands() {
		a.settle(sub)
	}
}

func checkCount(c *cobra.Command, words []string) error {
	_, args, _ := strings.Cut(c.Use, " ")
	args, _, dash := strings.Cut(args, "[flags] [--")
	if at := c.ArgsLenAtDash(); dash && at >= 0 {
		words = words[:at]
	}
	want := strings.Fields(args)
	must := slices.DeleteFunc(slices.Clone(want), func(arg string) bool { return strings.HasPrefix(arg, "[") })
	switch most := len(want); {
	case len(words) < len(must):
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		return usageError(c, "%s wants %s", name, must[len(words)])
	case len(words) > most && !strings.HasSuffix(args, "..."):
		return usageError(c, "%q is one argument too many%s", words[most], FlagValueHint(c, words[most]))
	}
	return nil
}

// Near returns the command below c that a word is most like, "" for none.
func Near(c *cobra.Command, word string) string { return jsontext.Nearest(word, names(c)) }

// names returns the names of the commands below c.
func names(c *cobra.Command) (all []string) {
	for _, sub := range c.Commands() {
		all = append(all, sub.Name())
	}
	return all
}

func unknownError(c *cobra.Command, word string) error {
	hint := "'" + c.CommandPath() + " --help' lists them"
	if near := Near(c, word); near != "" {
		hint = "did you mean " + near + "?"
	}
	return Usagef("unknown command %q; %s", word, hint)
}

// flagError says in our words what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	var ours *UsageError
	var absent *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &bare):
		return usageError(c, "%s what? it wants a value", withDashes(bare.GetSpecifiedName()))
	case errors.As(err, &invalid):
		return usageError(c, "--%s %q; want %s", invalid.GetFlag().Name, invalid.GetValue(), valueKind(invalid.GetFlag()))
	case !errors.As(err, &absent):
		return usageError(c, "%w", err)
	}
	name := absent.GetSpecifiedName()
	if near := jsontext.Nearest(name, known); near != "" {
		return Usagef("unknown flag %q; did you mean --%s?", withDashes(name), near)
	}
	return usageError(c, "unknown flag %q", withDashes(name))
}

func withDashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// valueKind says what kind of value a flag takes.
func valueKind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "duration":
		return "a time, such as 90s or 12h"
	case "bool":
		return "true or false"
	}
	return "a number"
}
