package config

import (
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// Evaluator is one entry of "evaluate": a preset, or a command. The command reads
// the iteration as JSON and answers whether the loop is complete.
type Evaluator struct {
	decide.Evaluator
	Command
}

// String returns the preset or shows the command.
func (e Evaluator) String() string {
	if e.Preset != "" {
		return e.Preset
	}
	return e.Command.String()
}

// maxEvaluators bounds how many commands one stop asks.
const maxEvaluators = 10

func (p *parser) evaluators(v gjson.Result, _ string, c *Config) {
	if n := len(v.Array()); !v.IsArray() || n == 0 || n > maxEvaluators {
		p.fail(v, `"evaluate" must be a list of at most 10, such as ["default", {"command": ["./review.sh"]}]`)
	}
	for _, value := range v.Array() {
		c.Evaluators = append(c.Evaluators, p.evaluator(value))
	}
}

// evaluator reads "default" or {"command": ...}.
func (p *parser) evaluator(v gjson.Result) Evaluator {
	e := Evaluator{Command: Command{Timeout: DefaultCheckTimeout}}
	if v.Type == gjson.String {
		e.Preset = p.oneOf(v, "evaluate", decide.Presets...)
	} else {
		readObject(p, v, "an evaluator", evaluatorKeys, &e)
		line := v.Get("command")
		if !line.Exists() {
			p.fail(v, `an evaluator must have "command"`)
		}
		e.Shell, e.Argv = p.words(line, "evaluate")
	}
	if e.Name == "" {
		e.Name = e.String()
	}
	return e
}

// promises reads {"complete": [patterns], "blocked": [...], "escalate": [...]}.
func (p *parser) promises(v gjson.Result, _ string, c *Config) {
	readObject(p, v, `"promises"`, promiseKeys, c)
}

func (p *parser) promise(v gjson.Result, key string, c *Config) {
	if !v.IsArray() {
		p.fail(v, "%q must be a list of patterns for a whole line", key)
	}
	statuses := map[string]decide.Status{
		"complete": decide.Complete, "blocked": decide.Blocked, "escalate": decide.Escalated,
	}
	for _, value := range v.Array() {
		re := p.compile(value, "^(?:"+p.str(value, key)+")$")
		if re != nil && re.MatchString("") {
			p.fail(value, "the pattern matches an empty line")
		}
		c.Promises = append(c.Promises, decide.Promise{Status: statuses[key], Pattern: re})
	}
}

// checkEvaluators refuses evaluators that the "checks" of ralph.json contradict.
func (p *parser) checkEvaluators(root gjson.Result, c Config) {
	for _, e := range c.Evaluators {
		switch at := root.Get("evaluate"); {
		case e.Preset == decide.EvaluatePromise && len(c.Checks) > 0:
			p.fail(at, `"promise" relies only on the agent's word and cannot be combined with "checks"; `+
				`use "default", or take the checks out`)
		case e.Preset == decide.EvaluateValidation && len(c.Checks) == 0:
			p.fail(at, `"validation" needs "checks": without them the loop would never be complete`)
		}
	}
}
