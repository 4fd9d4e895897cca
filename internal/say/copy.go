package say

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proof"
)

const (
	maxWork      = 500 // characters of patterns that a prompt shows
	maxProtected = 12  // patterns of "protect" that it names
)

// Counts tells the agent which changes count, for RALPH_PROMPT.md; "" if all do.
func Counts(c config.Config) string {
	text := ""
	if work := c.WorkTexts(); len(work) > 0 {
		text = "\nOnly these files are yours to change: " + plain.Line(strings.Join(work, ", "), maxWork) + ".\n"
	}
	return text + protected(c)
}

// protected tells the agent in a line which files the checks use as they were.
func protected(c config.Config) string {
	var names []string
	for _, pattern := range c.Protect {
		names = append(names, strings.TrimPrefix(pattern.Text, "+"))
	}
	if len(names) == 0 {
		return ""
	}
	return "The checks use these as they are now, so a change of them has no effect: " +
		plain.First(names, maxProtected, maxWork) + ".\n"
}

// Reword puts what Counts says now in the place of what it said before. It leaves a prompt alone in which a person has
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

// maxNotCounted is how many files are named that do not count.
const maxNotCounted = 8

// FilesNotCounted names the changed files that the checks do not see, in one line; "" if there are none.
func FilesNotCounted(p *loop.Picture) string { return namesOf(p.NotCounted(context.Background())) }

// LastFilesNotCounted is FilesNotCounted as it was when a stop looked last.
func LastFilesNotCounted(p *loop.Picture) string { return namesOf(p.LastNotCounted()) }

func namesOf(changes []proof.Change) string {
	var names []string
	for _, change := range changes[:min(len(changes), maxNotCounted)] {
		names = append(names, plain.Line(change.Path, 80)+" ("+short(change.Why)+")")
	}
	text := strings.Join(names, ", ")
	if more := len(changes) - maxNotCounted; more > 0 {
		text += " and " + plain.Count(more, "more file")
	}
	return text
}

// short says in a word or a few why a change does not count.
func short(why string) string {
	switch why {
	case proof.IsProtected:
		return "protected"
	case proof.IsNotWork:
		return "not in work"
	}
	return plain.Line(why, 80)
}

// TellNotCounted tells the agent which of its changes do not count; "" if all do.
func TellNotCounted(p *loop.Picture) string {
	names := FilesNotCounted(p)
	if names == "" {
		return ""
	}
	return fmt.Sprintf("\nNot counted by the checks (data): %s. Leave changes alone that are not yours.\n", names)
}
