package say

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// ListPrompt returns the text of RALPH_PROMPT.md for a loop with a list. folder is the loop's
// folder, below the project; claim is what Claim returned.
func ListPrompt(folder, list, claim string) string {
	return fmt.Sprintf(loopdir.Marker+`%s

Work through the features in %s, one at a time, the most important first.

For each feature:
%s
End your turn after each feature. A Stop hook then gives you the next one, until
every feature passes.

%s`, folder, list, Steps(claim, folder+"/"+loopdir.ProgressFile), GiveUp)
}

// RenameList returns the text of RALPH_PROMPT.md with the path of the list that a loop has now, where our own words
// name the one that it had.
func RenameList(prompt string, at *loopdir.Loop, was, now config.Config) string {
	if now.NoList() || now.Source.IsSet() {
		return prompt
	}
	name := func(c config.Config) string {
		own := filepath.ToSlash(filepath.Join(loopdir.Below, at.Name, loopdir.ListFile))
		return loop.NameList(cmp.Or(c.List, own))
	}
	for _, words := range []string{"Work through the features in %s, one", " in %s; change nothing else there."} {
		prompt = strings.Replace(prompt, fmt.Sprintf(words, name(was)), fmt.Sprintf(words, name(now)), 1)
	}
	return prompt
}

// TaskPrompt returns the text of RALPH_PROMPT.md for a loop without a list. task is the person's own
// text.
func TaskPrompt(folder, task string) string {
	return fmt.Sprintf(loopdir.Marker+`%s

%s

In each turn:
%s
End your turn when a part is done and noted. A Stop hook then gives you the next turn, until everything
is done.

%s
%s`, folder, task, taskSteps(folder+"/"+loopdir.ProgressFile), Finish, GiveUp)
}
