package run

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// Screen shows a run to a person while it works. No two of its methods are called at a time, but for ShowActivity,
// which may be called while Warn is.
type Screen interface {
	Begin(r record.Run)
	// Step says that a step of a chain begins, or goes on.
	Step(r record.Run)
	// ShowJudgement says what became of the step with the session that has ended.
	ShowJudgement(r record.Run, part record.Part)
	// Check says that a check of a step begins. line is for the shell.
	Check(line string)
	// Session says that the session c begins. s is the step that gave it its feature, which has a title.
	Session(r record.Run, c *record.Current, s *loop.Step, title string)
	// ShowActivity is called after each line that the agent of a lane prints. Without lanes, lane is 0.
	ShowActivity(lane int, h agent.Activity)
	ShowEnd(r record.Run, c *record.Current, e agent.Result)
	// ShowMerge says what became of a lane's work on a feature. why is not empty if it is not merged. branch is not empty
	// if it waits there for a person.
	ShowMerge(lane int, feature, branch, why string)
	// ShowCommit says which commit a run without lanes has made, "" for none, and why it lacks work, "" if it does not.
	ShowCommit(commit, why string)
	// ShowCount says what the loop made of the session that has ended.
	ShowCount(s *loop.Step)
	Wait(until time.Time, why string)
	Warn(text string)
	End(s record.Summary)
}
