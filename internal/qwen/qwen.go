// Package qwen describes Qwen Code as a host of the Stop hook, as measured with 0.24.4.
//
// Its hooks have Claude Code's payloads and answers, and timeouts in milliseconds. UserPromptSubmit comes after each
// tool too, with an empty prompt. SessionEnd does not come at the end of a session without a terminal.
package qwen

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/claude"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/host"
)

// Host is Qwen Code.
var Host = host.Host{
	Name: "qwen", Title: "Qwen Code",
	Events: claude.Events,
	Short:  []string{claude.StopFailure, claude.SessionEnd},
	Folder: ".qwen", File: "settings.json", Unit: time.Millisecond,
	ToolVar: "QWEN_CODE", SessionVar: "QWEN_CODE_SESSION_ID", ProjectVar: "QWEN_PROJECT_DIR",
	Prefixes: []string{"QWEN_"}, Secrets: []string{"OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
	Ask: []string{"qwen", "-i"}, Resume: []string{"qwen", "--resume"},
}
