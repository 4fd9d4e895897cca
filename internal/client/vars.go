package client

import (
	"errors"
	"strconv"
)

// The variables that Claude Code sets for hooks and for the agent's commands.
const (
	ProjectDir  = "CLAUDE_PROJECT_DIR"
	PluginRoot  = "CLAUDE_PLUGIN_ROOT" // only for a plugin's hooks
	SessionID   = "CLAUDE_CODE_SESSION_ID"
	BlockCapVar = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
)

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
