package config

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// Evaluator is one entry of "evaluate": a preset, or a command. The command reads
// the iteration as JSON and answers whether the loop is complete.
type Evaluator struct {
	decide.Evaluator
	Command
	Disabled bool // ralph.json disables it
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

// Active returns the evaluators that ralph.json does not disable.
func (c Config) Active() []Evaluator {
	return slices.DeleteFunc(slices.Clone(c.Evaluators), func(e Evaluator) bool { return e.Disabled })
}

func (p *parser) evaluators(v gjson.Result) (list []Evaluator) {
	if n := len(v.Array()); !v.IsArray() || n == 0 || n > maxEvaluators {
		p.fail(v, `"evaluate" must be a list of at most 10, such as ["default", {"command": ["./review.sh"]}]`)
	}
	for _, value := range v.Array() {
		list = append(list, p.evaluator(value))
	}
	if len(Config{Evaluators: list}.Active()) == 0 {
		p.fail(v, `every entry of "evaluate" is disabled, so that nothing could complete the loop`)
	}
	return list
}

// evaluator reads "default", {"preset": "default"} or {"command": ...}.
func (p *parser) evaluator(v gjson.Result) Evaluator {
	e := Evaluator{Command: Command{Timeout: DefaultCheckTimeout}}
	preset := func(v gjson.Result) {
		e.Preset = p.oneOf(v, "preset", decide.Presets...)
	}
	if v.Type == gjson.String {
		preset(v)
	} else {
		p.object(v, "an evaluator", map[string]func(gjson.Result){
			"name":    func(v gjson.Result) { e.Name = p.str(v, "name") },
			"preset":  preset,
			"command": func(v gjson.Result) { e.Shell, e.Argv = p.words(v, "evaluate") },
			"timeout": func(v gjson.Result) { e.Timeout = p.timeout(v) },
			"enabled": func(v gjson.Result) { e.Disabled = !p.yes(v, "enabled") },
		})
		if (e.Preset == "") != e.Runs() {
			p.fail(v, `an evaluator must have one of "preset" and "command"`)
		}
	}
	if e.Name == "" {
		e.Name = e.String()
	}
	return e
}

// promises reads {"complete": [patterns], "blocked": [...], "escalate": [...]}.
func (p *parser) promises(v gjson.Result) (list []decide.Promise) {
	patterns := func(status decide.Status, key string) func(gjson.Result) {
		return func(v gjson.Result) {
			if !v.IsArray() {
				p.fail(v, "%q must be a list of patterns for a whole line", key)
			}
			for _, value := range v.Array() {
				re := p.compile(value, "^(?:"+p.str(value, key)+")$")
				if re != nil && re.MatchString("") {
					p.fail(value, "the pattern matches an empty line")
				}
				list = append(list, decide.Promise{Status: status, Pattern: re})
			}
		}
	}
	p.object(v, `"promises"`, map[string]func(gjson.Result){
		"complete": patterns(decide.Complete, "complete"),
		"blocked":  patterns(decide.Blocked, "blocked"),
		"escalate": patterns(decide.Escalated, "escalate"),
	})
	return list
}

// checkEvaluators refuses evaluators that the "checks" of ralph.json contradict.
func (p *parser) checkEvaluators(root gjson.Result, c Config) {
	for _, e := range c.Active() {
		switch at := root.Get("evaluate"); {
		case e.Preset == decide.EvaluatePromise && len(c.Checks) > 0:
			p.fail(at, `"promise" rests on the agent's word alone and does not go with "checks"; `+
				`use "default", or take the checks out`)
		case e.Preset == decide.EvaluateValidation && len(c.Checks) == 0:
			p.fail(at, `"validation" needs "checks": without any it would never be complete`)
		}
	}
}
