package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Row is an agent: how it is started, and how what it prints is read.
type Row struct {
	Name     string
	Command  []string // the program and its arguments, without the prompt
	PromptBy string   // ByStdin, ByArgument or ByFile
	Output   string   // OutputClaude or OutputText
	Model    string   // the model that it is asked for; "": its own choice
	Prompt   string   // the path of a file whose text comes before each prompt; "": none

	// The flags of the agent's own command line; "": it has none.
	ModelFlag, EffortFlag, BudgetFlag, PermissionFlag, SkipPermissionsFlag string

	TellsTokens, TellsCost bool // whether it can tell them at all
	Untrusted              bool // ralph.json names the command, and no person has trusted it
}

// How the prompt reaches an agent.
const (
	ByStdin    = "stdin"    // on standard input, which is closed then
	ByArgument = "argument" // as the last argument; at most MaxArgument bytes
	ByFile     = "file"     // as the path of a file, the last argument
)

// How the output of an agent is read.
const (
	OutputClaude = "claude" // Claude Code's --output-format stream-json
	OutputText   = "text"
)

// MaxArgument is how many bytes one argument of a program may have: MAX_ARG_STRLEN of Linux, with its end.
const MaxArgument = 128<<10 - 1

// Asked is what a run asks of the agent of a session.
type Asked struct {
	Model           string  `json:"model"`
	Effort          string  `json:"effort"`
	BudgetUSD       float64 `json:"budgetUsd"`      // 0: no bound
	Permission      string  `json:"permissionMode"` // the mode of the agent's permissions; "": its own
	SkipPermissions bool    `json:"skipPermissions"`
}

// IsModel reports whether text can be the name of a model, such as "opus", "claude-sonnet-5-5[1m]" or "openai/o3:high".
func IsModel(text string) bool {
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._:/@[]-", r)) {
			return false
		}
	}
	return text != "" && len(text) <= 200
}

// BuiltIn returns the agents that need no configuration.
func BuiltIn() []Row {
	return []Row{{
		Name:     "claude",
		Command:  []string{"claude", "-p", "--output-format", "stream-json", "--verbose"},
		PromptBy: ByStdin, Output: OutputClaude,
		ModelFlag: "--model", EffortFlag: "--effort", BudgetFlag: "--max-budget-usd",
		PermissionFlag: "--permission-mode", SkipPermissionsFlag: "--dangerously-skip-permissions",
		TellsTokens: true, TellsCost: true,
	}}
}

// Program returns a row for any program: it gets the prompt on standard input and prints text.
func Program(name string, command ...string) Row {
	return Row{Name: name, Command: command, PromptBy: ByStdin, Output: OutputText}
}

// Find returns where the agent's program is: on the PATH that is given, or where its row says. The error says what to do.
func (r Row) Find(path string) (string, error) {
	name := r.Command[0]
	if filepath.Base(name) != name {
		return name, nil
	}
	found, err := proc.LookPath(name, path)
	if err != nil {
		return "", fmt.Errorf("the program %s is not on PATH; install it, or name its path", plain.Line(name, 100))
	}
	return found, nil
}

// Lacks returns which of the things that are asked the agent's command line cannot say.
func (r Row) Lacks(a Asked) (lacks []string) {
	for _, one := range r.flags(a) {
		if one.given && one.flag == "" {
			lacks = append(lacks, one.name)
		}
	}
	return lacks
}

type asked struct {
	name, flag, value string
	given             bool
}

// flags leaves out the budget: the run watches it, too.
func (r Row) flags(a Asked) []asked {
	return []asked{
		{"--model", r.ModelFlag, a.Model, a.Model != ""},
		{"--effort", r.EffortFlag, a.Effort, a.Effort != ""},
		{"--permission-mode", r.PermissionFlag, a.Permission, a.Permission != ""},
		{"--dangerously-skip-permissions", r.SkipPermissionsFlag, "", a.SkipPermissions},
	}
}

// Line returns the command line of a session.
func (r Row) Line(a Asked) []string {
	argv := slices.Clone(r.Command)
	if a.Model == "" {
		a.Model = r.Model
	}
	all := r.flags(a)
	if a.BudgetUSD > 0 {
		budget := strconv.FormatFloat(a.BudgetUSD, 'f', 4, 64)
		all = append(all, asked{"", r.BudgetFlag, budget, true})
	}
	for _, one := range all {
		if !one.given || one.flag == "" {
			continue
		}
		argv = append(argv, one.flag)
		if one.value != "" {
			argv = append(argv, one.value)
		}
	}
	return argv
}

func (r Row) parser() Parser {
	if r.Output == OutputClaude {
		return NewClaude()
	}
	return NewText()
}
