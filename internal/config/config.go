// Package config reads ralph.json, and the record of what a person trusted of it.
package config

import (
	"math"
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
	Continue     string   // ContinueBlock (the default), ContinueContext or ContinueAuto
	Limits       decide.Limits
	GuardsOff    []string         // of decide.Guards
	WaitShells   bool             // the loop waits for background shells too
	Notifiers    []Command        // in the order of the file
	Checks       []Check          // in the order of the file
	Evaluators   []Evaluator      // in the order of the file; none: the default one
	Promises     []decide.Promise // the lines that a person adds to the built-in promises
	Protect      []Pattern        // of files that must stay as they were when ralph.json was trusted
	ProtectNew   bool             // files that Protect names must not be added either
	Env          []string         // names of variables that checks get with the session's value
	NotHeld      []Pattern        // of files that the agent may edit although commands name them
	Recheck      string           // decide.RecheckStale (the default), RecheckAll or RecheckNever
	Confine      bool             // commands but notifiers can write only to the project, and to Writable
	Writable     []string         // folders outside of the project, with ~/ for the home folder
	Parallel     int              // how many checks of one stop may run at the same time
	Agents       []Agent          // in the order of the file
	Workers      int              // how many lanes a run has; 0: none
	NoMerge      bool             // the proven work of lanes stays on branches, for people to merge
	MaxCostUSD   float64          // what the sessions of a run may cost; 0: no bound
	MaxTokens    int              // what they may use; 0: no bound
	Report       bool             // a run writes a report at its end

	Chains   map[string]chain.Chain // by name
	Fallback []string               // agents that work while a provider refuses the run's own one, in their order
	Escalate []string               // the models for the first, the second … attempt at a feature
}

// How the next prompt reaches the agent. The context costs half of what the
// reason of a block costs, but older hosts ignore it.
const (
	ContinueBlock   = "block"   // as the reason of the block
	ContinueContext = "context" // as context beside the block
	ContinueAuto    = "auto"    // as context if the host is known to read it, else as the reason
)

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

	LaneStart     = "lane-start"     // in the new worktree of a lane, before its first session
	PreIteration  = "pre-iteration"  // before a session
	PostIteration = "post-iteration" // after a session
	OpenPR        = "pr"             // proven work is on a branch, for a person to merge
)

var events = []string{
	OnComplete, OnStagnation, OnFailure, OnIteration, LaneStart, PreIteration, PostIteration, OpenPR,
}

// Runs reports whether the command is set. It may only run if a person has trusted it.
func (c Command) Runs() bool { return c.Shell != "" || len(c.Argv) > 0 }

// String shows the command as a person types it.
func (c Command) String() string {
	if c.Shell != "" {
		return c.Shell
	}
	return plain.Typed(c.Argv)
}

// Default returns the configuration of a loop without ralph.json.
func Default() Config {
	return Config{
		SkipHeadings: features.SkipHeadings,
		Continue:     ContinueBlock,
		Recheck:      decide.RecheckStale,
		Parallel:     1,
		Limits: decide.Limits{
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
	keys := map[string]func(gjson.Result){
		"$schema":       func(gjson.Result) {},
		"task":          func(v gjson.Result) { c.Task = p.str(v, "task") },
		"list":          func(v gjson.Result) { c.List = p.local(v, "list") },
		"skip_headings": func(v gjson.Result) { c.SkipHeadings = p.headings(v) },
		"source":        func(v gjson.Result) { c.Source = p.source(v) },
		"bind":          func(v gjson.Result) { c.Bind = p.oneOf(v, "bind", decide.BindPrompt, decide.BindFirst) },
		"continue_with": func(v gjson.Result) {
			c.Continue = p.oneOf(v, "continue_with", ContinueBlock, ContinueContext, ContinueAuto)
		},
		"limits": func(v gjson.Result) { p.limits(v, &c.Limits) },
		"guards": func(v gjson.Result) { c.GuardsOff = p.guards(v) },
		"wait_for": func(v gjson.Result) {
			if !v.IsArray() {
				p.fail(v, `"wait_for" must be a list of "subagent" and "shell"`)
			}
			for _, kind := range v.Array() { // the loop always waits for subagents
				c.WaitShells = p.oneOf(kind, "wait_for", "subagent", "shell") == "shell" || c.WaitShells
			}
		},
		"checks":      func(v gjson.Result) { c.Checks = p.checks(v) },
		"evaluate":    func(v gjson.Result) { c.Evaluators = p.evaluators(v) },
		"promises":    func(v gjson.Result) { c.Promises = p.promises(v) },
		"protect":     func(v gjson.Result) { c.Protect = p.patterns(v, "protect", "**/*_test.go") },
		"protect_new": func(v gjson.Result) { c.ProtectNew = p.yes(v, "protect_new") },
		"env": func(v gjson.Result) {
			c.Env = p.strs(v, "env")
			if !v.IsArray() || slices.ContainsFunc(c.Env, func(name string) bool { return !isVariable(name) }) {
				p.fail(v, `"env" must be a list of names of variables, such as ["DATABASE_URL"]`)
			}
		},
		"confine":  func(v gjson.Result) { c.Confine = p.yes(v, "confine") },
		"writable": func(v gjson.Result) { c.Writable = p.folders(v) },
		"not_held": func(v gjson.Result) { c.NotHeld = p.patterns(v, "not_held", "src/**") },
		"parallel": func(v gjson.Result) { c.Parallel = p.count(v, "parallel", 1, 64) },
		"recheck": func(v gjson.Result) {
			c.Recheck = p.oneOf(v, "recheck", decide.RecheckStale, decide.RecheckAll, decide.RecheckNever)
		},
		"max_cost_usd": func(v gjson.Result) {
			if c.MaxCostUSD = v.Num; v.Type != gjson.Number || v.Num <= 0 || v.Num > 1e6 {
				p.fail(v, `"max_cost_usd" must be a number above 0, and at most 1000000, such as 2.50`)
			}
		},
		"workers":    func(v gjson.Result) { c.Workers = p.count(v, "workers", 1, decide.MaxLanes) },
		"no_merge":   func(v gjson.Result) { c.NoMerge = p.yes(v, "no_merge") },
		"max_tokens": func(v gjson.Result) { c.MaxTokens = p.count(v, "max_tokens", 1, 1e12) },
		"report":     func(v gjson.Result) { c.Report = p.yes(v, "report") },
		"agents":     func(v gjson.Result) { c.Agents = p.agents(v) },
		"chains":     func(v gjson.Result) { c.Chains = p.chains(v) },
		"fallback":   func(v gjson.Result) { c.Fallback = p.names(v, "fallback", "codex") },
		"escalate":   func(v gjson.Result) { c.Escalate = p.names(v, "escalate", "sonnet") },
	}
	for _, event := range events {
		key := strings.ReplaceAll(event, "-", "_")
		keys[key] = func(v gjson.Result) { c.Notifiers = append(c.Notifiers, p.commands(v, key, event)...) }
	}
	p.object(root, "ralph.json", keys)
	if c.Source.Given() && c.List != "" {
		p.fail(root.Get("source"), `"source" and "list" do not go together`)
	}
	p.checkNoList(root, c)
	p.checkEvaluators(root, c)
	return c, p.err
}

// yes reads true or false.
func (p *parser) yes(v gjson.Result, key string) bool {
	if !v.IsBool() {
		p.fail(v, `"%s" must be true or false`, key)
	}
	return v.Bool()
}

// ParseCeilings reads a person's own configuration, {"limits": {...}}. Its limits
// are ceilings for all loops. A limit that it does not give has no ceiling.
func ParseCeilings(data []byte) (decide.Limits, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return decide.Limits{}, err
	}
	l := decide.Limits{MaxWait: math.MaxInt64}
	p := &parser{text: text}
	p.object(gjson.ParseBytes(text), "the configuration", map[string]func(gjson.Result){
		"limits": func(v gjson.Result) { p.limits(v, &l) },
		"agents": func(gjson.Result) {}, // ParseAgents reads them
		"prices": func(gjson.Result) {}, // ParsePrices does
	})
	return l, p.err
}

// limits reads "limits". Its keys are the rows of decide.LimitTable.
func (p *parser) limits(v gjson.Result, l *decide.Limits) {
	keys := map[string]func(gjson.Result){}
	for _, row := range decide.LimitTable {
		keys[row.Name] = func(v gjson.Result) {
			if row.Time != nil {
				*row.Time(l) = p.duration(v, row.Name, seconds(row.Min), seconds(row.Max))
				return
			}
			*row.Count(l) = p.count(v, row.Name, row.Min, row.Max)
			if l.Stagnation == 1 {
				p.fail(v, `"stagnation" of 1 would end every loop at its first stop; want 0 (off), or 2 and more`)
			}
		}
	}
	p.object(v, `"limits"`, keys)
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// isVariable reports whether a text is a valid name of a shell variable.
func isVariable(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// Commands returns every command in the configuration, trusted or not.
func (c Config) Commands() []Command {
	all := append(slices.Clone(c.Notifiers), c.Source.Commands()...)
	for _, check := range c.Checks {
		if check.Runs() {
			all = append(all, check.Command)
		}
	}
	for _, e := range c.Active() {
		if e.Preset == "" {
			all = append(all, e.Command)
		}
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

// Releases reports whether a pattern of "not_held" matches a slash-separated path.
func (c Config) Releases(path string) bool {
	return slices.ContainsFunc(c.NotHeld, func(p Pattern) bool { return p.Match(path) })
}
