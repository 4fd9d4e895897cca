package say

import (
	"context"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/room"
)

// Yours tells the agent which files are its work, "" if all are.
func Yours(work []string) string {
	if len(work) == 0 {
		return ""
	}
	return "\nOnly these files are yours to change: " + plain.Line(strings.Join(work, ", "), 500) + ".\n" +
		"The checks run elsewhere, on a copy in which every other file is as it was.\n"
}

// Held is what RALPH_PROMPT.md says of the files that are locked, or are not the agent's; "" if it says nothing.
func Held(c config.Config, files map[string]string) string {
	text := Yours(c.WorkTexts())
	locked := Locked(c, files)
	if locked != "" {
		text += "\n" + locked
	}
	return text
}

// Reword puts what Held says now in the place of what it said before. It leaves a prompt alone in which a person has
// changed those words.
func Reword(prompt, was, now string) string {
	switch {
	case was != "":
		return strings.Replace(prompt, was, now, 1)
	case strings.Contains(prompt, now):
		return prompt
	}
	return prompt + now
}

// maxNotUsed is how many files are named that the checks do not use.
const maxNotUsed = 8

// NotUsed names the changed files that the checks do not use, in one line; "" if there are none.
func NotUsed(p *loop.Picture) string { return namesOf(p.NotUsed(context.Background())) }

// LastNotUsed is NotUsed as it was when somebody looked last.
func LastNotUsed(p *loop.Picture) string { return namesOf(p.LastNotUsed()) }

func namesOf(left []room.Change) string {
	var names []string
	for _, change := range left[:min(len(left), maxNotUsed)] {
		names = append(names, plain.Line(change.Path, 80))
	}
	text := strings.Join(names, ", ")
	if more := len(left) - maxNotUsed; more > 0 {
		text += " and " + plain.Count(more, "more file")
	}
	return text
}

// notUsed tells the agent which of its changes do not count.
func (w *prompter) notUsed() {
	if ignored := w.p.IgnoredWork(context.Background()); len(ignored) > 0 {
		w.addf("\nIgnored by git, so the checks do not have it (data): %s; put your work elsewhere, or ask a person to "+
			"change .gitignore and to run '%s'.\n", decide.Names(ignored), w.p.Loop.Call("trust"))
	}
	names := NotUsed(w.p)
	if names == "" {
		return
	}
	w.addf("\nNot used by the checks, as it is here (data): %s", names)
	if work := w.p.Config.WorkTexts(); len(work) > 0 {
		w.addf("; only %s is yours to change, beside \"passes\" in the list and your notes",
			plain.Line(strings.Join(work, ", "), 200))
	}
	w.addf(".\n")
	left := w.p.NotUsed(context.Background())
	for _, change := range left[:min(len(left), maxNotUsed)] {
		if w.p.Config.IsWork(change.Path) {
			w.addf("%s: %s.\n", plain.Line(change.Path, 80), change.Why)
		}
	}
}
