package agent

// These agents were not driven: what is here is from their documents. Amp needs its own service, cursor-agent an
// account, and aider is a program in Python.
var (
	// https://ampcode.com/manual, and amp --help.
	ampRow = Row{
		Name: "amp", Command: []string{"amp", "--execute", "--stream-json"}, PromptBy: ByStdin, Output: OutputClaude,
		SkipPermissionsFlag: "--dangerously-allow-all",
	}
	// https://cursor.com/docs/cli/reference/output-format: as Claude Code, without tokens and cost.
	cursorRow = Row{
		Name: "cursor-agent", Command: []string{"cursor-agent", "-p", "--output-format", "stream-json"},
		PromptBy: ByArgument, Output: OutputClaude, ModelFlag: "--model",
		SkipPermissionsFlag: "--force", Refuses: "every edit and command", Permits: []string{"--force", "-f"},
		Advice: "--dangerously-skip-permissions, in a sandbox",
	}
	// https://aider.chat/docs/scripting.html: it asks before it does most things, and commits each change.
	aiderRow = Row{
		Name: "aider", Command: []string{"aider"}, Last: []string{"--message-file"}, PromptBy: ByFile, Output: OutputText,
		ModelFlag: "--model", SkipPermissionsFlag: "--yes",
	}
)
