// Package codex describes Codex as a host of the Stop hook, as measured with 0.169.0.
//
// Its Stop hook has Claude Code's payload and answer. It sends no event for an API error, no background tasks and no
// project folder; its sessions know no cap on blocks. It runs a hook only if a person has trusted the project and then
// the hook itself, and says nothing where it does not. At SessionEnd a hook has three seconds.
package codex

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/claude"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/host"
)

// Host is Codex.
var Host = host.Host{
	Name: "codex", Title: "Codex",
	Events: []string{claude.Stop, claude.PromptSubmit, claude.SessionStart, claude.SessionEnd},
	Short:  []string{claude.SessionEnd},
	Folder: ".codex", File: "hooks.json", HomeVar: "CODEX_HOME", Unit: time.Second,
	Trust: "start codex here once, trust this folder, and trust the hook in /hooks: until then Codex does not run it, " +
		"and does not say so",
	ToolVar: "CODEX_THREAD_ID", SessionVar: "CODEX_THREAD_ID",
	Prefixes: []string{"CODEX_"}, Secrets: []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
	Ask: []string{"codex"}, Resume: []string{"codex", "resume"},
}
