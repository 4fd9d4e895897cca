package agent

import (
	"strings"

	"github.com/tidwall/gjson"
)

// opencode, measured with 1.18.33. It does what its own configuration does not forbid or ask about.
var opencodeRow = Row{
	Name: "opencode", Command: []string{"opencode", "run", "--format", "json"},
	PromptBy: ByStdin, Output: OutputOpencode, Login: "opencode auth login",
	ModelFlag: "--model", EffortFlag: "--variant", SkipPermissionsFlag: "--auto",
	Driven: "1.18.33",
}

// NewOpencode returns the Parser for opencode, run with run --format json. It has no last event: it ends after a step
// that stops. Its steps tell what they alone have used.
func NewOpencode() Parser { return &eventParser{dialect: dialect{read: readOpencode}} }

func readOpencode(p *eventParser, e event) {
	p.activity.Session = e.at("sessionID").name()
	switch e.Get("type").Str {
	case "step_start":
		p.goOn()
		p.failure = nil
	case "text":
		p.goOn()
		if e.Get("part.metadata.compaction_continue").Bool() {
			p.pending = false
		} else if !e.Get("part.synthetic").Bool() {
			p.says(e.at("part.text"))
		}
	case "tool_use": // it has ended
		p.goOn()
		if words := e.Get("part.state.error").Str; strings.Contains(words, "rejected permission") {
			p.denied++ // and the run ends
			p.refused = e.at("part.tool").name()
			p.fails(e.at("part.state.error"), 0)
		}
	case "step_finish":
		p.step(e)
	case "error":
		p.goOn()
		p.fails(e.first("error.data.message", "error.name"), e.Get("error.data.statusCode").Int())
		if e.Get("error.name").Str == "ContextOverflowError" {
			p.failure.class, p.pending = Context, true // it makes a summary, and goes on
			p.activity.InVain++
		}
	}
}

// step adds what a step used. It says no cost for a model whose price opencode does not know.
func (p *eventParser) step(e event) {
	u, t := &p.activity.Usage, event{e.Get("part.tokens")}
	input := t.tokens("input")
	read := t.tokens("cache.read")
	written := t.tokens("cache.write")
	output := t.tokens("output") + t.tokens("reasoning")
	if total := t.tokens("total"); total > 0 {
		output = max(0, total-input-read-written)
	}
	u.Input, u.Output = min(u.Input+input, maxTokens), min(u.Output+output, maxTokens)
	u.CacheRead, u.CacheWrite = min(u.CacheRead+read, maxTokens), min(u.CacheWrite+written, maxTokens)
	u.TokensKnown = true
	if cost := e.Get("part.cost"); cost.Type == gjson.Number && cost.Num > 0 && cost.Num <= maxCost {
		u.CostUSD = min(u.CostUSD+cost.Num, maxCost)
	}
	u.CostKnown = u.CostUSD > 0
	switch reason := e.Get("part.reason").Str; {
	case reason == "unknown": // the answer broke off, and it asks again
		p.activity.InVain++
	case reason == "stop" && !p.pending:
		p.finish()
	default:
		p.activity.InVain = 0
	}
}
