// Package gemini describes Gemini CLI as a host of the Stop hook, as measured with 0.61.0.
//
// AfterAgent is its Stop, with the answer in prompt_response; BeforeAgent is its UserPromptSubmit, and comes before
// each prompt of ours too. The answer is Claude Code's. It sends no event for an API error, and without a terminal none
// for the end of the session that follows. It runs the hooks of a project only if a person has trusted the folder;
// --skip-trust does not do.
package gemini

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/claude"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/host"
)

// Host is Gemini CLI.
var Host = host.Host{
	Name: "gemini", Title: "Gemini CLI",
	Events: []string{"AfterAgent", "BeforeAgent", claude.SessionStart, claude.SessionEnd},
	Short:  []string{claude.SessionEnd},
	Words: map[string]string{
		"AfterAgent": claude.Stop, "BeforeAgent": claude.PromptSubmit, "prompt_response": claude.LastMessage,
	},
	Folder: ".gemini", File: "settings.json", Unit: time.Millisecond,
	Trust: "start gemini here once and trust this folder: until then Gemini CLI does not run the hook, " +
		"and does not say so",
	ToolVar: "GEMINI_CLI", SessionVar: "GEMINI_SESSION_ID", ProjectVar: "GEMINI_PROJECT_DIR",
	Prefixes: []string{"GEMINI_"}, Secrets: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
	Ask: []string{"gemini", "-i"}, Resume: []string{"gemini", "--resume"},
}
