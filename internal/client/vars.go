package client

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// The variables that Claude Code sets for hooks and for the agent's commands.
const (
	ProjectDir  = "CLAUDE_PROJECT_DIR"
	SessionID   = "CLAUDE_CODE_SESSION_ID"
	BlockCapVar = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

	clientPID = "CLAUDE_PID"
	byAgent   = "CLAUDECODE"
	configDir = "CLAUDE_CONFIG_DIR"
)

// Vars returns the value of an environment variable, or "" if it is not set.
type Vars func(name string) string

// PID returns the process id of Claude Code, or 0 if it is not known.
func (v Vars) PID() int {
	pid, err := strconv.Atoi(v(clientPID))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// ByAgent reports whether the agent, not a person, called this program. Calls of hooks have
// CLAUDE_PROJECT_DIR besides, as measured with 2.1.329, and the agent's commands have not.
func (v Vars) ByAgent() bool { return v(byAgent) != "" }

// sessionVars are variables without the client's name that it sets in its sessions.
var sessionVars = []string{"AI_AGENT", "COREPACK_ENABLE_AUTO_PIN", "NoDefaultCurrentDirectoryInExePath"}

// IsClaudeVar reports whether a variable is one that Claude Code reads, or sets in its sessions, as
// measured with 2.1.329.
func IsClaudeVar(name string) bool {
	isOne := func(one string) bool { return proc.SameName(one, name) }
	return strings.HasPrefix(name, "CLAUDE") || strings.HasPrefix(name, "ANTHROPIC_") ||
		slices.ContainsFunc(sessionVars, isOne)
}

// IsClaudeSecret reports whether a variable is a key or a token of Claude Code.
func IsClaudeSecret(name string) bool {
	return strings.HasPrefix(name, "ANTHROPIC_") || name == "AWS_BEARER_TOKEN_BEDROCK" ||
		strings.HasPrefix(name, "CLAUDE_CODE_") && (strings.Contains(name, "TOKEN") || strings.Contains(name, "KEY"))
}

// BlockCap parses the value of the variable BlockCapVar. It returns how many blocks in a row
// Claude Code accepts without a tool call between them; 0 means that there is no limit.
func BlockCap(text string) int {
	const usual = 8 // the client's default, as measured with 2.1.329
	n, err := strconv.Atoi(text)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return usual
	}
	return max(n, 0)
}
