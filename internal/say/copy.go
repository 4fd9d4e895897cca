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
	maxWork      = 500 // characters of patterns or checks that a prompt shows
	maxProtected = 12  // patterns of "protect", or checks, that it names
)

// Counts tells the agent what its work is judged by: the checks, and which changes count. RALPH_PROMPT.md has it, and
// so has the prompt of a fresh session. It is empty if there are no checks and all changes count.
func Counts(c config.Config) string {
	var checks, files []string
	for _, check := range c.Checks {
		if !check.FromList && !check.Untrusted {
			checks = append(checks, check.String())
		}
	}
	for _, pattern := range c.Protect {
		files = append(files, strings.TrimPrefix(pattern.Text, "+"))
	}
	text := ""
	for _, line := range []struct {
		says  string
		names []string
	}{
		{"These checks decide what is done: ", checks},
		{"Only changes to these files count: ", c.WorkTexts()},
		{"The checks use the trusted version of these files, so changes to them have no effect: ", files},
	} {
		if len(line.names) > 0 {
			text += "\n" + line.says + plain.First(line.names, maxProtected, maxWork) + "."
		}
	}
	if text == "" {
		return ""
	}
	return text + "\n"
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
	return fmt.Sprintf("\nNot counted by the checks (data): %s. Leave the changes of others as they are.\n", names)
}
