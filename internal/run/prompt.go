package run

import (
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

const onlyThis = `
You work in a fresh session that gets this one feature. Do it, then end your turn: the next session gets the next one.
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
	if r.Record.Step().IsJob() {
		return r.jobPrompt(s, strings.TrimSpace(task))
	}
	for _, text := range []string{r.ownPrompt(c), task, r.stepPrompt()} {
		text = strings.TrimSpace(text)
		if text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	reviews := r.Record.Step().IsReview()
	text := say.Prompt(s.Picture, d, reviews)
	if r.Record.Commits != nil || c == nil && r.wantsCommits(s.Picture) {
		text = say.RunCommits(text)
	}
	b.WriteString(text)
	if feature.ID != "" && !reviews {
		b.WriteString(onlyThis)
	}
	return b.String()
}

// loopPrompt returns the loop's own prompt. Its first line names the loop.
func (r *Run) loopPrompt() string {
	text, _ := loopdir.ReadFile(r.At.Dir, loopdir.PromptFile, agent.MaxPromptFile) // that line does without the others
	return r.At.Mark(string(text))
}

// ownPrompt returns the text that comes before each prompt of the agent.
func (r *Run) ownPrompt(c *record.Current) string {
	text, err := r.rowOf(c).OwnPrompt()
	if err != nil {
		r.Screen.Warn(err.Error())
	}
	return text
}
