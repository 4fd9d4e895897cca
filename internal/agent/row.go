package agent

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Row is an agent: how it is started, and how what it prints is read.
type Row struct {
	Name     string
	Command  []string // the program and its arguments, without the prompt
	Last     []string // arguments behind all flags, before the prompt
	PromptBy string   // ByStdin, ByArgument or ByFile
	Output   string   // one of the Output constants
	Env      []string // variables that it needs, NAME=VALUE
	Model    string   // the model that it is asked for; "": its own choice
	Prompt   string   // the path of a file whose text comes before each prompt; "": none

	Login string // what a person types to log in; "": not known

	CompleteOn, Checks []string // what ends its step of a chain: signals, and lines for the shell

	// The flags of the agent's own command line; "": it has none. A flag may have several words. Its value is a word of
	// its own, unless the flag ends in "=".
	ModelFlag, EffortFlag, BudgetFlag, PermissionFlag, AllowFlag, SkipPermissionsFlag string

	MCPFlag   string  // gives it MCP servers, and no others, and allows their tools
	Prices    []Price // the person's own, before those of ListPrices
	UsageFlag string  // names a file into which it writes what it used; "": it has none

	// What a session refuses if nobody allows it, in words that follow "refuses"; "": nothing, or it is not known. Each
	// word of the command line that begins with one of Permits allows it. Advice says what a person can do.
	Refuses, Advice string
	Permits         []string
	GitFlag         string // lets it start outside a git repository; "": it starts anywhere

	// Idle is how long a session may be silent if nobody says a time; 0: for as long as it likes. A client that waits for
	// its provider without a word needs one.
	Idle time.Duration

	TellsTokens, TellsCost bool   // whether it can tell them at all
	Driven                 string // the version with which the row was measured; "": it is not built in
	BuiltIn                bool
}

// MaxPromptFile is how large the file of a prompt may be, in bytes.
const MaxPromptFile = 1 << 20

// CustomPrompt returns the text that comes before each prompt of the agent, or "".
func (r Row) CustomPrompt() (string, error) {
	if r.Prompt == "" {
		return "", nil
	}
	data, err := loopdir.ReadFile(filepath.Dir(r.Prompt), filepath.Base(r.Prompt), MaxPromptFile)
	if err != nil {
		err = fmt.Errorf("the prompt of the agent %s cannot be read: %w", r.Name, err)
	}
	return string(data), err
}

// How the prompt reaches an agent.
const (
	ByStdin    = "stdin"    // on standard input, which is closed then
	ByArgument = "argument" // as the last argument; at most MaxArgument bytes
	ByFile     = "file"     // as the path of a file, the last argument
)

// MaxArgument is how many bytes one argument of a program may have: MAX_ARG_STRLEN of Linux, with its end.
const MaxArgument = 128<<10 - 1

// Options is what a run asks of the agent of a session.
type Options struct {
	Model           string  `json:"model"`
	Effort          string  `json:"effort"`
	BudgetUSD       float64 `json:"budgetUsd"`              // 0: no bound
	Permission      string  `json:"permissionMode"`         // the mode of the agent's permissions; "": its own
	Allowed         string  `json:"allowedTools,omitempty"` // rules, separated by commas
	SkipPermissions bool    `json:"skipPermissions"`
	MCP             string  `json:"mcp,omitempty"` // the only MCP servers that it has, as JSON; "": its own
}

// StandIn returns what is asked of an agent that works in the place of the one that a person named: without the words
// that only that one knows.
func (a Options) StandIn() Options {
	a.Model = ""
	a.Permission = ""
	a.Allowed = ""
	a.MCP = ""
	return a
}

// modelName matches the name of a model, such as "opus", "claude-sonnet-5-5[1m]" or "openai/o3:high".
var modelName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._:/@[\]-]{0,199}$`)
})

// IsModel reports whether text can be the name of a model.
func IsModel(text string) bool { return modelName().MatchString(text) }

// BuiltIn returns the agents that need no configuration. Each was measured.
func BuiltIn() []Row {
	rows := []Row{claudeRow, codexRow, copilotRow, geminiRow, opencodeRow, qwenRow}
	for i := range rows {
		row := &rows[i]
		*row = row.Reads(row.Output)
		row.BuiltIn = true
	}
	return rows
}

// Program returns a row for any program: it gets the prompt on standard input and prints text.
func Program(name string, command ...string) Row {
	return Row{Name: name, Command: command, PromptBy: ByStdin, Output: OutputText}
}

// Find returns where the agent's program is: on the PATH that is given, or where its row says. The error says what to
// do.
func (r Row) Find(path string) (string, error) {
	name := r.Command[0]
	if filepath.Base(name) != name {
		return name, nil
	}
	found, err := proc.LookPath(name, path)
	if err != nil {
		return "", fmt.Errorf("the program %s is not on PATH; install it, or put its folder on PATH", plain.Line(name, 100))
	}
	return found, nil
}

// Lacks returns which of the things that are asked the agent's command line cannot say.
func (r Row) Lacks(a Options) (lacks []string) {
	for _, one := range r.flags(a) {
		if one.isSet && one.flag == "" {
			lacks = append(lacks, one.name)
		}
	}
	return lacks
}

type option struct {
	name, flag, value string
	isSet             bool
}

// words returns the arguments that ask it.
func (a option) words() []string {
	words := strings.Fields(a.flag)
	switch {
	case a.value == "":
	case strings.HasSuffix(a.flag, "="):
		words[len(words)-1] += a.value
	default:
		words = append(words, a.value)
	}
	return words
}

// flags leaves out the budget: the run watches it, too.
func (r Row) flags(a Options) []option {
	return []option{
		{"--model", r.ModelFlag, a.Model, a.Model != ""},
		{"--effort", r.EffortFlag, a.Effort, a.Effort != ""},
		{"--permission-mode", r.PermissionFlag, a.Permission, a.Permission != ""},
		{"--allowed-tools", r.AllowFlag, a.Allowed, a.Allowed != ""},
		{"--dangerously-skip-permissions", r.SkipPermissionsFlag, "", a.SkipPermissions},
		{"--mcp", r.MCPFlag, a.MCP, a.MCP != ""},
	}
}

// Line returns the command line of a session, without the prompt.
func (r Row) Line(a Options) []string {
	argv := slices.Clone(r.Command)
	a.Model = cmp.Or(a.Model, r.Model)
	all := r.flags(a)
	if a.BudgetUSD > 0 {
		all = append(all, option{"", r.BudgetFlag, strconv.FormatFloat(a.BudgetUSD, 'f', 4, 64), true})
	}
	for _, one := range all {
		if one.isSet && one.flag != "" {
			argv = append(argv, one.words()...)
		}
	}
	return append(argv, r.Last...)
}

// Warnings say what a session refuses because nobody allowed it. The agent's own configuration, which may allow it, is
// not looked at. git says whether the project is in a git repository.
func (r Row) Warnings(a Options, git bool) (words []string) {
	permits := func(word string) bool {
		return slices.ContainsFunc(r.Permits, func(p string) bool { return strings.HasPrefix(word, p) })
	}
	if a.SkipPermissions {
		return nil
	}
	if r.GitFlag != "" && !git && !slices.Contains(r.Command, r.GitFlag) {
		words = append(words, fmt.Sprintf("unless its own configuration trusts the folder, %s starts in git repositories "+
			`alone; give an agent that extends it "args": [%q]`, r.Name, r.GitFlag))
	}
	if r.Refuses != "" && a.Permission == "" && !slices.ContainsFunc(r.Command, permits) {
		words = append(words, fmt.Sprintf("unless its own configuration allows it, %s refuses %s, and a session cannot "+
			"ask; say %s", r.Name, r.Refuses, r.Advice))
	}
	return words
}
