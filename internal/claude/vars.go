package claude

import (
	"errors"
	"strconv"
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

// Vars looks up a variable of the environment.
type Vars func(name string) string

// PID returns the process id of Claude Code, 0 if it is not known.
func (v Vars) PID() int {
	pid, err := strconv.Atoi(v(clientPID))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// ByAgent reports whether the agent called this program, not a person.
func (v Vars) ByAgent() bool { return v(byAgent) != "" }

// BlockCap returns how many blocks in a row without a tool call Claude Code honours;
// 0 stands for any number.
func BlockCap(text string) int {
	const usual = 8 // where nobody has set another, as measured with 2.1.329
	n, err := strconv.Atoi(text)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return usual
	}
	return max(n, 0)
}
