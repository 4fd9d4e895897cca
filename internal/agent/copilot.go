package agent

import (
	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Copilot CLI, measured with 1.0.102. It tells its tokens only in a file.
var copilotRow = Row{
	Name: "copilot", Command: []string{"copilot", "--output-format", "json", "--no-ask-user", "--no-auto-update"},
	PromptBy: ByStdin, Output: OutputCopilot, Login: "copilot, and type /login", UsageFlag: "--usage-output-file",
	ModelFlag: "--model", EffortFlag: "--reasoning-effort",
	SkipPermissionsFlag: "--allow-all",
	Refuses:             "every command and edit", Permits: []string{"--allow", "--yolo"},
	Advice: "--dangerously-skip-permissions, in a sandbox",
	Driven: "1.0.102",
}

// NewCopilot returns the Parser for Copilot CLI, run with --output-format json. Interrupted, it ends with status 0.
func NewCopilot() Parser { return &eventParser{dialect: dialect{read: readCopilot}} }

func readCopilot(p *eventParser, e event) {
	switch e.Get("type").Str {
	case "user.message", "assistant.turn_start", "assistant.message_start", "assistant.message_delta":
		p.goOn()
	case "model.call_start":
		p.goOn()
		p.activity.Model = e.at("data.model").name()
	case "assistant.message":
		p.goOn()
		p.failure = nil
		if e.Get("data.parentToolCallId").Str == "" { // not a subagent's
			p.says(e.at("data.content"))
		}
	case "tool.execution_start":
		p.goOn()
		p.begins(e.at("data.toolCallId"), e.at("data.toolName"), e.subject("data.arguments"))
	case "tool.execution_complete":
		p.goOn()
		p.ends(e.at("data.toolCallId"), e.Get("data.error.code").Str == "denied")
	case "assistant.turn_retry":
		p.activity.Retrying = true
	case "session.error":
		p.fails(e.at("data.message"), e.Get("data.statusCode").Int())
	case "abort":
		p.halted = true
	case "result":
		p.copilotEnd(e)
	}
}

// copilotEnd reads the result of Copilot CLI.
func (p *eventParser) copilotEnd(e event) {
	code := e.Get("exitCode")
	if code.Type != gjson.Number {
		return
	}
	p.finish()
	p.activity.Session = e.at("sessionId").name()
	if code.Num == 0 {
		p.failure = nil
	} else if p.failure == nil {
		p.fails("", 0)
	}
}

// afterCopilot reads the file of --usage-output-file. A session that was killed leaves none.
func afterCopilot(_ *Session, usageFile string, e *Result) {
	if text, err := loopdir.TailAny(usageFile, maxFile); err == nil {
		e.Usage = copilotUsage(string(text))
	}
}

func copilotUsage(text string) Usage {
	u := Usage{}
	if _, err := jsontext.Check([]byte(text)); err != nil { // before gjson reads it: nesting could overflow the stack
		return u
	}
	models := gjson.Get(text, "modelMetrics")
	for _, model := range models.ForEach {
		u.Input = addTokens(u.Input, model.Get("usage.inputTokens"))
		u.Output = addTokens(u.Output, model.Get("usage.outputTokens"))
		u.CacheRead = addTokens(u.CacheRead, model.Get("usage.cacheReadTokens"))
		u.CacheWrite = addTokens(u.CacheWrite, model.Get("usage.cacheWriteTokens"))
	}
	u.Input = max(0, u.Input-u.CacheRead-u.CacheWrite) // which it holds
	u.TokensKnown = models.IsObject()
	return u
}
