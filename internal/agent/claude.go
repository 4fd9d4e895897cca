package agent

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// claudeParser reads what claude prints with -p --output-format stream-json --verbose, as measured with 2.1.329: one
// JSON object a line. It reads --output-format json as well, which prints the last event alone, and with --verbose one
// array of all events.
type claudeParser struct {
	transcript
	answer string     // the text of the last result without an error
	end    *claudeEnd // the last result

	limited bool      // the provider's last word on its limit is that it is used up
	reset   time.Time // with limited: when the limit is reset; zero: not said
	failure string    // the kind of error that Claude Code wrote in the place of an answer
	halted  bool      // Claude Code says that it was interrupted
	counted []string  // ids of the last messages whose tokens are counted
}

var claudeRow = Row{
	Name:     "claude",
	Command:  []string{"claude", "-p", "--output-format", "stream-json", "--verbose"},
	PromptBy: ByStdin, Output: OutputClaude, Login: "claude, and type /login",
	ModelFlag: "--model", EffortFlag: "--effort", BudgetFlag: "--max-budget-usd",
	PermissionFlag: "--permission-mode", AllowFlag: "--allowedTools",
	SkipPermissionsFlag: "--dangerously-skip-permissions",
	MCPFlag:             "--allowedTools mcp__ralph --strict-mcp-config --mcp-config",
	Driven:              "2.1.329",
}

// NewClaude returns the Parser for Claude Code, run with -p --output-format stream-json --verbose.
func NewClaude() Parser { return &claudeParser{} }

func (p *claudeParser) Line(line []byte, cut bool) {
	e := p.parse(line, cut)
	if !e.IsArray() {
		p.read(e)
		return
	}
	for _, element := range e.ForEach {
		p.read(event{element})
	}
}

// read reads one event. Types that it does not know, and objects that are no event of Claude Code's, change nothing.
func (p *claudeParser) read(e event) {
	main := e.at("parent_tool_use_id").text() == "" && e.at("agent_id").text() == "" // not of a subagent
	switch e.Get("type").Str {
	case "system":
		p.system(e)
	case "assistant":
		p.goOn()
		p.uses(e)
		if main {
			p.assistant(e)
		}
	case "user":
		p.goOn()
		if main {
			p.user(e)
		}
	case "stream_event":
		p.goOn()
	case "rate_limit_event":
		p.rateLimit(e.Get("rate_limit_info"))
	case "result":
		p.result(e)
	}
}

func (p *claudeParser) system(e event) {
	switch e.Get("subtype").Str {
	case "init":
		p.goOn()
		p.tools = nil
		p.failure = ""
		p.halted = false
		p.activity.Session = e.at("session_id").name()
		p.activity.Model = e.at("model").name()
		p.activity.KeySource = e.at("apiKeySource").name()
	case "api_retry":
		p.goOn()
		p.activity.Retrying = true
		// A login that has run out is mended between the first two requests.
		p.activity.Refused = slices.Contains(authFailures, e.Get("error").Str) && e.Get("attempt").Int() > 1
	case "model_fallback":
		p.activity.Model = cmp.Or(e.at("fallback_model").name(), p.activity.Model)
	case "background_tasks_changed":
		p.activity.Waits = e.Get("tasks.0").Exists()
	case "permission_denied": // its message is a string
		p.denied++
	}
}

// synthetic is the model of messages that Claude Code wrote itself.
const synthetic = "<synthetic>"

func (p *claudeParser) assistant(e event) {
	author := e.at("message.model")
	if author.text() == synthetic || e.Get("is_api_error_message").Bool() {
		p.failure = e.at("error").name()
		return
	}
	p.failure, p.halted = "", false
	p.activity.Model = cmp.Or(author.name(), p.activity.Model)
	for _, block := range e.blocks() {
		switch block.Get("type").Str {
		case "text":
			p.says(block.at("text"))
		case "tool_use":
			p.begins(block.at("id"), block.at("name"), block.subject("input"))
		}
	}
}

func (p *claudeParser) user(e event) {
	for _, block := range e.blocks() {
		switch block.Get("type").Str {
		case "tool_result":
			p.ends(block.at("tool_use_id"), false)
		case "text":
			text := block.at("text").head(nameChars)
			p.halted = p.halted || strings.HasPrefix(text, "[Request interrupted by user")
		}
	}
}
