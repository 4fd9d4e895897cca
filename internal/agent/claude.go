package agent

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
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
}

var claudeRow = Row{
	Name:     "claude",
	Command:  []string{"claude", "-p", "--output-format", "stream-json", "--verbose"},
	PromptBy: ByStdin, Output: OutputClaude, Login: "claude, and type /login",
	ModelFlag: "--model", EffortFlag: "--effort", BudgetFlag: "--max-budget-usd", ResumeFlag: "--resume",
	PermissionFlag: "--permission-mode", SkipPermissionsFlag: "--dangerously-skip-permissions",
	MCPFlag: "--allowedTools mcp__ralph --strict-mcp-config --mcp-config",
	Fails:   []Class{Limit, Transient, Auth, Context, Budget, Turns, Failed, Interrupted, Died},
	Driven:  "2.1.329", TellsReset: true, StopHook: true,
}

// NewClaude returns the Parser for Claude Code, run with -p --output-format stream-json --verbose.
func NewClaude() Parser { return &claudeParser{} }

func (p *claudeParser) Line(line []byte, cut bool, now time.Time) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, jsontext.BOM))
	switch {
	case len(line) == 0 || cut:
	case line[0] == '[':
		text, err := jsontext.Check(line)
		if err != nil {
			return
		}
		for _, element := range gjson.Parse(jsontext.String(text)).ForEach {
			p.object([]byte(element.Raw), now)
		}
	case line[0] == '{':
		p.object(line, now)
	default:
		p.stray = string(line[:min(len(line), 4*textChars)])
	}
}

// object reads one event. Types that it does not know, and objects that are no event of Claude Code's, change nothing.
func (p *claudeParser) object(line []byte, now time.Time) {
	e, ok := readClaude(line)
	if !ok {
		return
	}
	switch e.kind.text() {
	case "system":
		p.system(&e)
	case "assistant":
		p.goOn()
		if e.main() {
			p.assistant(&e)
		}
	case "user":
		p.goOn()
		if e.main() {
			p.user(&e)
		}
	case "stream_event":
		p.goOn()
	case "rate_limit_event":
		p.rateLimit(e.rateLimit.value(), now)
	case "result":
		p.result(&e)
	}
}

func (p *claudeParser) system(e *claudeEvent) {
	switch e.subtype.text() {
	case "init":
		p.goOn()
		p.tools = nil
		p.stale = true
		p.failure = ""
		p.halted = false
		p.heard.Session = e.session.name()
		p.heard.Model = e.model.name()
		p.heard.KeySource = e.keySource.name()
	case "api_retry":
		p.goOn()
		p.heard.Retrying = true
	case "model_fallback":
		p.heard.Model = cmp.Or(e.fallback.name(), p.heard.Model)
	case "background_tasks_changed":
		p.heard.Background = e.tasks.value().Get("#").Int() > 0
	case "permission_denied": // its message is a string
		p.denied++
	}
}

// synthetic is the model of messages that Claude Code wrote itself.
const synthetic = "<synthetic>"

func (p *claudeParser) assistant(e *claudeEvent) {
	author := e.author.text()
	if author == synthetic || e.isFailure.value().Bool() {
		p.failure = e.failure.name()
		return
	}
	p.failure, p.halted = "", false
	if author != p.heard.Model {
		p.heard.Model = cmp.Or(e.author.name(), p.heard.Model)
	}
	p.stale = true
	for _, block := range e.blocks {
		switch block.kind.text() {
		case "text":
			p.says(block.text)
		case "tool_use":
			p.begins(block.id, block.name, block.subject)
		}
	}
}

func (p *claudeParser) user(e *claudeEvent) {
	p.stale = true
	for _, block := range e.blocks {
		switch block.kind.text() {
		case "tool_result":
			p.ends(block.of, false)
		case "text":
			p.halted = p.halted || strings.HasPrefix(block.text.head(nameChars), "[Request interrupted by user")
		}
	}
}
