package config

import (
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
)

// Agent is an agent that a person has added, for the program that starts agents.
type Agent struct {
	Name     string
	Extends  string   // the agent of which it takes everything that it does not say itself; "": none
	Argv     []string // the program and its arguments
	Args     []string // more arguments, behind those of Extends or Argv
	Model    string
	Prompt   string // path of a file below the project's root; its text comes before each prompt
	PromptBy string // "stdin", "argument" or "file"; "": as Extends has it
	Output   string // one of Outputs; "": as Extends has it

	// A step of a chain that this agent works is done when one of these signals is given, and all of these lines for the
	// shell exit with 0.
	CompleteOn, Checks []string

	Untrusted bool // no person has trusted it, so it is not started
}

// Outputs are the ways to read what an agent prints. Package agent has them.
var Outputs = []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen", "text"}

// agents reads "agents".
func (p *parser) agents(v gjson.Result, key string, to *[]Agent) {
	p.named(v, key, `{"builder": {"command": ["./bin/builder"]}}`, "an agent's", func(name string, value gjson.Result) {
		a := Agent{Name: name}
		readObject(p, value, "an agent", agentKeys, &a)
		if len(a.Argv) > 0 && a.Argv[0] == "" {
			p.fail(value.Get("command"), `"command" must be an array of words, such as ["./bin/builder", "--fast"]`)
		}
		if (a.Extends == "") == (len(a.Argv) == 0) {
			p.fail(value, `the agent %q must have either "extends", another agent, or "command", a program`, name)
		}
		*to = append(*to, a)
	})
}

// chains reads "chains": a definition for each name.
func (p *parser) chains(v gjson.Result, key string, c *Config) {
	c.Chains = map[string]chain.Chain{}
	p.named(v, key, `{"ship": "planner:5 -> builder:30"}`, "a chain's", func(name string, value gjson.Result) {
		parsed, err := chain.Parse(p.str(value, name))
		if err != nil {
			p.fail(value, "the chain %q: %v", name, err)
		}
		c.Chains[name] = parsed
	})
}
