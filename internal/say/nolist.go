package say

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The words for a loop without a list. Its task is the text of its prompt.

// MaxTask is how many characters of a loop's task are shown in one line.
const MaxTask = 500

// Checks counts the checks of a loop without a list.
func Checks(n int) string {
	if n == 0 {
		return "no checks"
	}
	return plain.Count(n, "check")
}

// NoListProof says what completed a loop without a list, or what has to pass for that.
func NoListProof(status decide.Status, reason string, checks int) string {
	switch {
	case status != decide.Complete && checks == 0:
		return "no checks"
	case status != decide.Complete:
		return Checks(checks) + " must pass"
	case reason == decide.ByPromise:
		return "on the agent's word alone; there are no checks"
	case reason == decide.ByEvaluator:
		return "an evaluator says so; there are no checks"
	}
	return "every check holds (" + Checks(checks) + ")"
}

// task tells the agent to go on with its task. The line of the task comes from ralph.json, which a
// person has trusted. The file has all of it, but an agent can write there.
//
// rules is where a prompt tells how to work; "": the steps follow.
func task(p *loop.Picture, rules string) (text string) {
	if line := plain.Line(p.Config.Task, MaxTask); line != "" {
		text = "The task: " + line + "\n"
	}
	if rules != "" {
		return text + fmt.Sprintf("%s has the whole task and how to work on it. Read it again, then go on with what is "+
			"still missing.\n", rules)
	}
	path := filepath.Join(p.Loop.At.Dir, loopdir.PromptFile)
	if _, err := os.Lstat(path); err != nil {
		return text + "Go on with what is still missing.\n"
	}
	return text + fmt.Sprintf("Read %s again: it has the whole task. Then go on with what is still missing.\n",
		plain.Path(p.Loop.At.Project, path))
}

// taskSteps returns what the agent should do at each iteration of a loop without a list.
func taskSteps(progress string) string {
	return fmt.Sprintf(`1. Look at what is there already, and do what is still missing.
2. Verify that it really works, by running it or its tests.
3. `+commits+`
4. Add a short note to %s, below its header (the hook writes the header).
`, progress)
}
