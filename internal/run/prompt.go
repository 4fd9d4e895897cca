package run

import (
	"cmp"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

const onlyThis = `
This fresh session is for this one feature. Do it, then end your turn: the next session gets the next feature.
`

// prompt returns the prompt of a session. It does not carry the line that names the loop, so a Stop hook in the session
// has nothing to do with it. c is the session; nil: the next one.
func (r *Run) prompt(s *loop.Step, c *record.Current, feature features.Item) string {
	d := s.Decision
	d.Feature = feature
	var b strings.Builder
	task := r.Record.Options.Prompt
	if task == "" && s.Picture.Snapshot.NoList {
		_, task = loopdir.CutMarker(r.loopPrompt())
	}
	step := r.Record.Step()
	if step.IsJob() {
		return r.jobPrompt(s, strings.TrimSpace(task))
	}
	found := feature.ID != "" || d.Failure != nil || d.Problem != nil || d.Answer != nil
	role, fixes := partOf(step, found, s.Picture.Snapshot.NoList)
	for _, text := range []string{r.agentPrompt(c, role), task, r.stepPrompt()} {
		text = strings.TrimSpace(text)
		if text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	text := say.Prompt(s.Picture, d, fixes)
	if r.Record.Commits != nil || c == nil && r.wantsCommits(s.Picture) {
		text = say.RunCommits(text)
	}
	b.WriteString(text)
	if feature.ID != "" && fixes == "" {
		b.WriteString(onlyThis)
	}
	return b.String()
}

// partOf returns the role of a step's session, and who fixes what it finds; "": it builds. found: there is something to
// build.
func partOf(step *record.Step, found, noList bool) (role, fixes string) {
	switch {
	case step == nil:
		return "", ""
	case step.Reviews:
		return step.Role, say.OthersFix
	case step.Tests() && found:
		return say.Builder, ""
	case step.Tests() && !noList:
		return step.Role, say.YouFix
	}
	return step.Role, ""
}

// loopPrompt returns the loop's own prompt. Its first line names the loop.
func (r *Run) loopPrompt() string {
	text, _ := loopdir.ReadFile(r.At.Dir, loopdir.PromptFile, agent.MaxPromptFile) // that line does without the others
	return r.At.Mark(string(text))
}

// agentPrompt returns the text that comes before each prompt of the agent: its own, else that of its role in a chain.
func (r *Run) agentPrompt(c *record.Current, role string) string {
	text, err := r.rowOf(c).CustomPrompt()
	if err != nil {
		r.Screen.Warn(err.Error())
	}
	return cmp.Or(text, say.RolePrompt(role))
}
