// Package config reads ralph.json, and the record of what a person trusted of it.
package config

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// MaxBytes is the largest size of ralph.json. A person writes the file, so it is small.
const MaxBytes = 256 << 10

// DefaultTimeout is how long a notifier or a tracker's command may run when ralph.json gives no timeout.
const DefaultTimeout = 30 * time.Second

// Config is the content of ralph.json.
type Config struct {
	Task         string   // what the loop is for, in a few words
	List         string   // slash-separated path below the project's root; or ListNone; empty: loopdir.ListFile
	SkipHeadings []string // of a Markdown list, below which nothing is work
	Source       Source   // the tracker that has the list; never set together with List
	Bind         string   // decide.BindPrompt or decide.BindFirst; empty: BindFirst
	Limits       decide.Limits
	GuardsOff    bool             // no guard ends the loop
	WaitShells   bool             // the loop waits for background shells and monitors too
	Notifiers    []Command        // in the order of the file
	Checks       []Check          // in the order of the file
	Evaluators   []Evaluator      // in the order of the file; none: the default one
	Promises     []decide.Promise // the lines that a person adds to the built-in promises
	Protect      []Protected      // files of which the copy for the checks has what was trusted
	Work         []Pattern        // of files that are the agent's work; none: all
	Prepare      []Prepare        // in the order of the file
	Outputs      []Pattern        // of what git ignores and the copy has its own of
	Link         []Pattern        // of what it has from the project all the same
	Git          bool             // the copy has a git repository
	Env          []string         // names of variables that checks get with the session's value
	Confine      bool             // commands but notifiers can write only to the project, and to Writable
	Writable     []string         // folders outside of the project, with ~/ for the home folder
	Parallel     int              // how many checks of one stop may run at the same time; 0: not said
	Agents       []Agent          // in the order of the file
	NoCommit     bool             // a run without lanes commits nothing

	Chains   map[string]chain.Chain // by name
	Fallback []string               // agents that work while a provider refuses the run's own one, in their order
	Escalate []string               // the models for the first, the second … attempt at a feature
}

// Command is one command to run. A string in ralph.json is a line for the shell.
// An array is a program and its arguments. At most one of Shell and Argv is set.
type Command struct {
	Event   string // of a notifier: when it runs
	Shell   string
	Argv    []string
	Timeout time.Duration
	Env     []string // names of environment variables that the command gets from the hook

	Stops     bool // if it fails, the run ends; only of PreIteration
	Untrusted bool // no person has trusted it, so it does not run
}

// The events at which notifiers run. Each notifier is told its event. Those below the empty line are only of a
// program that starts sessions.
const (
	OnComplete   = "on-complete"   // every ending
	OnStagnation = "on-stagnation" // the ending STAGNATED
	OnFailure    = "on-failure"    // every other ending that is a failure
	OnIteration  = "on-iteration"  // each iteration that a stop begins

	PreIteration  = "pre-iteration"  // before a session
	PostIteration = "post-iteration" // after a session
	OpenPR        = "pr"             // proven work is on a branch, for a person to merge
)

// Runs reports whether the command is set. It may only run if a person has trusted it.
func (c Command) Runs() bool { return c.Shell != "" || len(c.Argv) > 0 }

// String shows the command as a person types it.
func (c Command) String() string {
	if c.Shell != "" {
		return c.Shell
	}
	return plain.CommandLine(c.Argv)
}

// Default returns the configuration of a loop without ralph.json.
func Default() Config {
	return Config{
		SkipHeadings: features.SkipHeadings,
		Limits: decide.Limits{
			Attempts:      decide.DefaultAttempts,
			CheckFailures: decide.DefaultCheckFailures,
			Stagnation:    decide.DefaultStagnation,
			MaxWait:       decide.DefaultMaxWait,
		},
	}
}

// Parse reads ralph.json. Every key is optional. A key that Parse does not know is
// an error, because a misspelt limit would be no limit. Errors are of type
// *jsontext.Error, with the line and column.
func Parse(data []byte) (Config, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return Config{}, err
	}
	root := gjson.ParseBytes(text)
	c := Default()
	p := &parser{text: text}
	readObject(p, root, "ralph.json", keys, &c)
	if c.Source.IsSet() && c.List != "" {
		p.fail(root.Get("source"), `"source" and "list" cannot be combined`)
	}
	p.checkNoList(root, c)
	p.checkEvaluators(root, c)
	return c, p.err
}

// Commands returns every command in the configuration, trusted or not.
func (c Config) Commands() []Command {
	all := append(slices.Clone(c.Notifiers), c.Source.Commands()...)
	for _, check := range c.Checks {
		if check.Runs() {
			all = append(all, check.Command)
		}
	}
	for _, e := range c.Evaluators {
		if e.Preset == "" {
			all = append(all, e.Command)
		}
	}
	for _, prepare := range c.Prepare {
		all = append(all, prepare.Command)
	}
	for _, a := range c.Agents {
		if len(a.Argv) > 0 {
			all = append(all, Command{Argv: a.Argv})
		}
		for _, line := range a.Checks {
			all = append(all, Command{Shell: line})
		}
	}
	return all
}

// ChecksToTry returns the commands of the checks that an agent can run as they are written.
func (c Config) ChecksToTry() (commands []string) {
	for _, check := range c.Checks {
		command := check.Command.String()
		if command != "" && !check.Untrusted && !strings.Contains(command, "$") {
			commands = append(commands, command)
		}
	}
	return commands
}

// RunsInProject reports whether some command that can be confined runs in the project as it is.
func (c Config) RunsInProject() bool {
	return c.Source.IsSet() || slices.ContainsFunc(c.Checks, func(check Check) bool { return check.In == InProject })
}

// NeedsBaseline reports whether something runs in the clean copy, or is a program of the project as it was trusted. The
// checks of an agent's part in a chain may be typed when a run begins; "protect" and "work" are for them, too.
func (c Config) NeedsBaseline() bool {
	owned := func(n Command) bool { return n.ProjectProgram() != "" }
	inCopy := func(check Check) bool { return check.In != InProject && !check.LastMessage }
	return slices.ContainsFunc(c.Checks, inCopy) ||
		slices.ContainsFunc(c.Evaluators, func(e Evaluator) bool { return e.Preset == "" }) ||
		slices.ContainsFunc(c.Notifiers, owned) ||
		slices.ContainsFunc(c.Agents, func(a Agent) bool { return len(a.Checks) > 0 }) ||
		len(c.Protect)+len(c.Work) > 0
}
