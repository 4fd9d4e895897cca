package config

import (
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
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

	// A leg of a chain that this agent works is done when one of these signals is given, and all of these lines for the
	// shell exit with 0.
	CompleteOn, Checks []string

	Untrusted bool // no person has trusted it, so it is not started
}

// Outputs are the ways to read what an agent prints. Package agent has them.
var Outputs = []string{"claude", "codex", "copilot", "gemini", "opencode", "qwen", "text"}

// agents reads "agents".
func (p *parser) agents(v gjson.Result) (all []Agent) {
	p.named(v, `"agents" must be an object, such as {"builder": {"command": ["./bin/builder"]}}`, "an agent's",
		func(name string, value gjson.Result) { all = append(all, p.agent(name, value)) })
	return all
}

// named reads an object with names that a person has chosen. wrong is the error if v is no object.
func (p *parser) named(v gjson.Result, wrong, whose string, read func(name string, value gjson.Result)) {
	if !v.IsObject() {
		p.fail(v, "%s", wrong)
		return
	}
	seen := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case !isName(key.Str):
			p.fail(key, "%s name has letters, digits, - and _; %q has others", whose, key.Str)
		case seen[key.Str]:
			p.fail(key, "the key %q is there twice", key.Str)
		}
		seen[key.Str] = true
		read(key.Str, value)
		return p.err == nil
	})
}

func (p *parser) agent(name string, v gjson.Result) Agent {
	a := Agent{Name: name}
	p.object(v, "an agent", map[string]func(gjson.Result){
		"extends":   func(v gjson.Result) { a.Extends = p.str(v, "extends") },
		"command":   func(v gjson.Result) { a.Argv = p.argv(v, "command") },
		"args":      func(v gjson.Result) { a.Args = p.argv(v, "args") },
		"model":     func(v gjson.Result) { a.Model = p.str(v, "model") },
		"prompt":    func(v gjson.Result) { a.Prompt = p.local(v, "prompt") },
		"prompt_by": func(v gjson.Result) { a.PromptBy = p.oneOf(v, "prompt_by", "stdin", "argument", "file") },
		"output":    func(v gjson.Result) { a.Output = p.oneOf(v, "output", Outputs...) },

		"complete_on": func(v gjson.Result) { a.CompleteOn = p.names(v, "complete_on", "file:PLAN.md") },
		"checks":      func(v gjson.Result) { a.Checks = p.names(v, "checks", "test -s PLAN.md") },
	})
	if (a.Extends == "") == (len(a.Argv) == 0) {
		p.fail(v, `the agent %q must have either "extends", another agent, or "command", a program`, name)
	}
	return a
}

// argv reads words that no shell sees.
func (p *parser) argv(v gjson.Result, key string) []string {
	words := p.strs(v, key)
	if !v.IsArray() || len(words) == 0 || key == "command" && words[0] == "" {
		p.fail(v, `%q must be an array of words, such as ["./bin/builder", "--fast"]`, key)
	}
	return words
}

func isName(name string) bool {
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '-' && r != '_' {
			return false
		}
	}
	return name != "" && name[0] != '-'
}

// ParseAgents reads the agents of a person's own configuration, {"agents": {...}}.
func ParseAgents(data []byte) ([]Agent, error) {
	text, err := jsontext.Check(data)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text}
	root := gjson.ParseBytes(text)
	if v := root.Get("agents"); v.Exists() {
		return p.agents(v), p.err
	}
	return nil, nil
}
