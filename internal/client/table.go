package client

import "time"

// All are the clients whose stops the hook answers, Claude Code first.
//
// Claude Code was measured with 2.1.329.
//
// Codex was measured with 0.169.0. Its Stop hook has Claude Code's payload and answer. It sends no event for an API
// error, no background tasks and no project folder; its sessions know no cap on blocks. It runs a hook only if a person
// has trusted the project and then the hook itself. At SessionEnd a hook has three seconds.
//
// Gemini CLI was measured with 0.61.0. AfterAgent is its Stop, with the answer in prompt_response; BeforeAgent is its
// UserPromptSubmit, and comes before each prompt of ours too. It sends no event for an API error, and without a
// terminal none for the end of the session that follows. It runs the hooks of a project only if a person has trusted
// the folder; --skip-trust is not enough.
//
// Qwen Code was measured with 0.24.4. Its timeouts are in milliseconds. UserPromptSubmit comes after each tool too,
// with an empty prompt. SessionEnd does not come at the end of a session without a terminal.
var All = []Client{
	{
		Name: Usual, Title: "Claude Code",
		Events: []string{Stop, StopFailure, PromptSubmit, SessionStart, SessionEnd},
		Scopes: []string{"local", "project", "user"},
		Folder: ".claude", File: "settings.json", HomeVar: "CLAUDE_CONFIG_DIR", Unit: time.Second,
		Exec: true, Strict: true, Known: true,
		ToolVar: "CLAUDECODE", SessionVar: SessionID, ProjectVar: ProjectDir, PIDVar: "CLAUDE_PID",
		Vars: []string{
			"CLAUDE*", "ANTHROPIC_*", "AI_AGENT", "COREPACK_ENABLE_AUTO_PIN", "NoDefaultCurrentDirectoryInExePath",
			"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
		},
		Secrets: []string{"ANTHROPIC_*", "AWS_BEARER_TOKEN_BEDROCK", "CLAUDE_CODE_*TOKEN*", "CLAUDE_CODE_*KEY*"},
		Ask:     []string{"claude"}, Resume: []string{"claude", "--resume"},
	},
	{
		Name: "codex", Title: "Codex",
		Events: []string{Stop, PromptSubmit, SessionStart, SessionEnd},
		Short:  []string{SessionEnd},
		Scopes: otherScopes, Folder: ".codex", File: "hooks.json", HomeVar: "CODEX_HOME", Unit: time.Second,
		Trust: "start codex here once, trust this folder, and trust the hook in /hooks: until then Codex does not run " +
			"it, and does not say so",
		ToolVar: "CODEX_THREAD_ID", SessionVar: "CODEX_THREAD_ID",
		Vars: []string{"CODEX_*"}, Secrets: []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
		Ask: []string{"codex"}, Resume: []string{"codex", "resume"},
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		Events: []string{"AfterAgent", "BeforeAgent", SessionStart, SessionEnd},
		Short:  []string{SessionEnd},
		Words: map[string]string{
			"AfterAgent": Stop, "BeforeAgent": PromptSubmit, "prompt_response": LastMessage,
		},
		Scopes: otherScopes, Folder: ".gemini", File: "settings.json", Unit: time.Millisecond,
		Trust: "start gemini here once and trust this folder: until then Gemini CLI does not run the hook, " +
			"and does not say so",
		ToolVar: "GEMINI_CLI", SessionVar: "GEMINI_SESSION_ID", ProjectVar: "GEMINI_PROJECT_DIR",
		Vars: []string{"GEMINI_*"}, Secrets: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		Ask: []string{"gemini", "-i"}, Resume: []string{"gemini", "--resume"},
	},
	{
		Name: "qwen", Title: "Qwen Code",
		Events: []string{Stop, StopFailure, PromptSubmit, SessionStart, SessionEnd},
		Short:  []string{StopFailure, SessionEnd},
		Scopes: otherScopes, Folder: ".qwen", File: "settings.json", Unit: time.Millisecond,
		ToolVar: "QWEN_CODE", SessionVar: "QWEN_CODE_SESSION_ID", ProjectVar: "QWEN_PROJECT_DIR",
		Vars: []string{"QWEN_*"}, Secrets: []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
		Ask: []string{"qwen", "-i"}, Resume: []string{"qwen", "--resume"},
	},
}

// otherScopes are the places of an entry of the clients but Claude Code.
var otherScopes = []string{"project", "user"}
