package run

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// Screen shows a run to a person while it works. No two of its methods are called at a time, but for Heard, which may
// be called while Warn is.
type Screen interface {
	Begin(r record.Run)
	// Step says that a step of a chain begins, or goes on.
	Step(r record.Run)
	// Judged says what became of the step with the session that has ended.
	Judged(r record.Run, part record.Part)
	// Check says that a check of a step begins. line is for the shell.
	Check(line string)
	// Session says that the session c begins. s is the step that gave it its feature, which has a title.
	Session(r record.Run, c *record.Current, s *loop.Step, title string)
	// Heard is called after each line that the agent of a lane prints. Without lanes, lane is 0.
	Heard(lane int, h agent.Heard)
	Ended(r record.Run, c *record.Current, e agent.Ended)
	// Merged says what became of a lane's work on a feature. why is not empty if it is not merged. branch is not empty if
	// it waits there for a person.
	Merged(lane int, feature, branch, why string)
	// Committed says which commit a run without lanes has made, "" for none, and why it lacks work, "" if it does not.
	Committed(commit, why string)
	// Counted says what the loop made of the session that has ended.
	Counted(s *loop.Step)
	Wait(until time.Time, why string)
	Warn(text string)
	End(s record.Summary)
}
