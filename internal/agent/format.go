package agent

import "slices"

// How the output of an agent is read. Each constant but the last one is named for the agent that prints it.
const (
	OutputClaude   = "claude"   // --output-format stream-json --verbose
	OutputCodex    = "codex"    // exec --json
	OutputCopilot  = "copilot"  // --output-format json
	OutputGemini   = "gemini"   // --output-format stream-json
	OutputOpencode = "opencode" // run --format json
	OutputQwen     = "qwen"     // --output-format stream-json
	OutputText     = "text"     // any text; the end of it is the answer, and the exit status says how it went
)

// format is a way to read what an agent prints.
type format struct {
	output                 string
	parser                 func() Parser
	tellsTokens, tellsCost bool
	// statuses are exit statuses that are the client's own, although a shell shows signals by such numbers.
	statuses []int
	// after reads the agent's own files after its end, and completes what it printed; nil: there are none.
	after func(s *Session, usageFile string, e *Result)
}

var formats = []format{
	{output: OutputClaude, parser: NewClaude, tellsTokens: true, tellsCost: true},
	{output: OutputCodex, parser: NewCodex, tellsTokens: true, after: afterCodex},
	{output: OutputCopilot, parser: NewCopilot, tellsTokens: true, after: afterCopilot},
	{output: OutputGemini, parser: NewGemini, tellsTokens: true, statuses: []int{144, 145, 147, 148, 173}},
	{output: OutputOpencode, parser: NewOpencode, tellsTokens: true, tellsCost: true},
	{output: OutputQwen, parser: NewQwen, tellsTokens: true},
	{output: OutputText, parser: NewText},
}

// formatOf returns the format of a name, that of text if there is none.
func formatOf(output string) format {
	i := slices.IndexFunc(formats, func(f format) bool { return f.output == output })
	if i < 0 {
		i = len(formats) - 1
	}
	return formats[i]
}

// exits reports whether a client that ends by itself can have the exit status. From 129 on, it may be that of a signal.
func (f format) exits(status int) bool {
	return status >= 0 && status <= 128 || status > 192 || slices.Contains(f.statuses, status)
}

// Reads returns the row with another format of its output, and what that format tells.
func (r Row) Reads(output string) Row {
	f := formatOf(output)
	r.Output = f.output
	r.TellsTokens = f.tellsTokens
	r.TellsCost = f.tellsCost
	return r
}
