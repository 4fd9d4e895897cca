package tool

import (
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// alive reports whether the client of a loop's owner runs, as far as the system tells.
func alive(s decide.State) bool { return proc.Alive(s.SessionPID, s.ClientStart) }
