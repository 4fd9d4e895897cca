package agent

import "github.com/tidwall/gjson"

// Gemini CLI, measured with 0.61.0. Without GEMINI_CLI_NO_RELAUNCH it is two processes, and the first one ignores
// signals.
var geminiRow = Row{
	Name: "gemini", Command: []string{"gemini", "--output-format", "stream-json"},
	PromptBy: ByStdin, Output: OutputGemini, Env: []string{"GEMINI_CLI_NO_RELAUNCH=true"},
	ModelFlag:      "--model",
	PermissionFlag: "--approval-mode", SkipPermissionsFlag: "--yolo --skip-trust",
	Refuses: "every command and edit, and any folder that nobody has trusted",
	Permits: []string{"--approval-mode", "--yolo", "-y", "--policy"},
	Advice: "--permission-mode auto_edit or, in a sandbox, --dangerously-skip-permissions; " +
		"GEMINI_CLI_TRUST_WORKSPACE=true trusts the folder",
	Driven: "0.61.0",
}

// NewGemini returns the Parser for Gemini CLI, run with --output-format stream-json. Its exit status is that of HTTP
// modulo 256. Interrupted, it ends with status 0, and without its last event.
func NewGemini() Parser {
	return &eventParser{dialect: dialect{
		read:  readGemini,
		exits: map[int]Class{0: Interrupted, 41: Auth, 53: Turns},
		noise: []string{"Warning: True color", "YOLO mode", "Approval mode overridden", "Ripgrep is not", "[STARTUP]"},
	}}
}

func readGemini(p *eventParser, e event) {
	kind := e.Get("type").Str
	if kind != "message" {
		p.piece = false
	}
	switch kind {
	case "init":
		p.goOn()
		p.activity.Session, p.activity.Model = e.at("session_id").name(), e.at("model").name()
	case "message":
		p.goOn()
		if e.Get("role").Str == "assistant" {
			p.continues(e.at("content"), e.Get("delta").Bool())
		}
	case "tool_use":
		p.goOn()
		p.begins(e.at("tool_id"), e.at("tool_name"), e.subject("parameters"))
	case "tool_result":
		p.goOn()
		// A tool that is not registered is such as a shell that nobody allowed.
		p.ends(e.at("tool_id"), e.Get("error.type").Str == "tool_not_registered")
	case "error": // with a result: why; a warning ends nothing
		if e.Get("severity").Str == "error" {
			p.fails(e.at("message"), 0)
		}
	case "result":
		p.geminiEnd(e)
	}
}

// geminiEnd reads the result of Gemini CLI.
func (p *eventParser) geminiEnd(e event) {
	status := e.Get("status")
	if status.Type != gjson.String {
		return
	}
	p.finish()
	switch words := e.at("error.message"); {
	case status.Str == "success":
		p.failure = nil
	case words != "" || p.failure == nil:
		p.fails(words, 0)
		if e.Get("error.type").Str == "FatalTurnLimitedError" {
			p.failure.class = Turns
		}
	}
	input, output := e.tokens("stats.input_tokens"), e.tokens("stats.output_tokens")
	output = max(output, e.tokens("stats.total_tokens")-input) // only the total has what the model thought
	p.usage(input, output, e.tokens("stats.cached"), 0)
	p.activity.Usage.TokensKnown = e.Get("stats").IsObject()
}
