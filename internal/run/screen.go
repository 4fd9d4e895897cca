package run

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
)

// Screen shows a run to a person while it works. No two of its methods are called at a time, but for Heard, which may
// be called while Warn is.
type Screen interface {
	Begin(r Record)
	// Leg says that a leg of a chain begins, or goes on.
	Leg(r Record)
	// Judged says what became of the leg with the session that has ended.
	Judged(r Record, own Own)
	// Check says that a check of a leg begins. line is for the shell.
	Check(line string)
	// Session says that a session begins. limit is how many iterations the loop may have.
	Session(r Record, limit int, title string)
	// Heard is called after each line that the agent prints.
	Heard(h agent.Heard)
	Ended(r Record, e agent.Ended)
	// Counted says what the loop made of the session that has ended.
	Counted(r Record, s *loop.Step)
	Wait(until time.Time, why string)
	Warn(text string)
	End(s Summary)
}
