package loop

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The lines of the logs have ids and reasons only, and no text of the conversation.

// logTime is the form of a line's time, which is in UTC.
const logTime = "2006-01-02T15:04:05Z"

// maxNotifierOutput bounds a notifier's output, in bytes.
const maxNotifierOutput = 4000

// Ran is a line of checks.jsonl: a check that ran, or another command of the loop. An agent can write that file, too.
type Ran struct {
	Start      time.Time `json:"start"`
	Check      string    `json:"check"`             // its name, or which other command it was
	Command    string    `json:"command,omitempty"` // of the check
	Feature    string    `json:"feature,omitempty"`
	Outcome    string    `json:"outcome"`    // ok, the exit status, or why it did not run, in words
	ExitStatus int       `json:"exitStatus"` // of the command; -1: it failed and did not exit by itself
	DurationMS int64     `json:"durationMs"`
	Output     string    `json:"output,omitempty"` // the end of it
}

// logRan adds what has just ended to checks.jsonl, and to checks.log for people, with all that it printed.
func (l *Loop) logRan(begin time.Time, r Ran, output []byte) {
	r.Start = begin.UTC().Truncate(time.Second)
	r.DurationMS = time.Since(begin).Milliseconds()
	r.Check = plain.Line(r.Check, 280)
	r.Command = plain.Line(r.Command, 1000)
	r.Outcome = plain.Line(r.Outcome, 1000)
	r.Output = tail(output[max(0, len(output)-4*checkTail):], "")
	line, err := jsontext.Line(r)
	if err != nil {
		return
	}
	text := fmt.Sprintf("== %s %s: %s, %d ms\n", r.Start.Format(logTime), plain.Line(r.Check+" "+r.Feature, 280),
		r.Outcome, r.DurationMS)
	if len(output) > 0 {
		text += plain.Text(string(output), len(output)) + "\n"
	}
	l.Store.LogChecks(line, text)
}

// reopenLine says which claims were taken back.
func reopenLine(at time.Time, ids []string, err error) string {
	line := fmt.Sprintf("%s reopen %s", at.UTC().Format(logTime), plain.Line(strings.Join(ids, " "), 300))
	if err != nil {
		line += ": " + plain.Line(err.Error(), 300)
	}
	return line
}

// undoneLine says which file of the record a command of the loop had changed.
func undoneLine(at time.Time, changed string) string {
	return fmt.Sprintf("%s undone %s, which changed while commands ran", at.UTC().Format(logTime),
		plain.Line(changed, 300))
}

// troubleLine says why an event had no answer.
func troubleLine(at time.Time, err error) string {
	return fmt.Sprintf("%s error %s", at.UTC().Format(logTime), plain.Line(err.Error(), 1000))
}

// LastTrouble returns why the last event in hook.log had no answer, "" if it had one. What notifiers and a person's
// commands have done stands behind it.
func LastTrouble(text string) string {
	return lastSaid(text, "error", func(string) bool { return true })
}

// FailedNotifier returns the last notifier in hook.log that failed since the last decision, with its outcome; "" if
// there is none. One that has succeeded later does not count.
func FailedNotifier(text string) string {
	var later []string
	return lastSaid(text, "notify", func(rest string) bool {
		if at := succeeded().FindStringIndex(rest); at != nil {
			later = append(later, rest[:at[0]]+": ")
			return false
		}
		return !slices.ContainsFunc(later, func(command string) bool { return strings.HasPrefix(rest, command) })
	})
}

// succeeded matches the end of what notifierLine says of a notifier that did not fail.
var succeeded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`: ok, \d+ ms(;|$)`) })

// lastSaid returns what the last line with a word says since the last decision, among those that count.
func lastSaid(text, word string, counts func(rest string) bool) string {
	for _, line := range slices.Backward(strings.Split(strings.TrimSuffix(text, "\n"), "\n")) {
		words := strings.SplitN(line, " ", 3)
		_, err := time.Parse(logTime, words[0])
		switch {
		case err != nil || len(words) < 3:
		case words[1] == word && counts(words[2]):
			return plain.Line(words[2], 300)
		case isDecision(words[2]):
			return ""
		}
	}
	return ""
}

// isDecision reports whether a line is a decision's: it has the limit of the iterations, too.
func isDecision(rest string) bool {
	_, iteration, _ := strings.Cut(" "+rest, " iteration ")
	number, _, _ := strings.Cut(iteration, " ")
	return strings.Contains(number, "/")
}

// verbLine says how a loop is after a person's verb.
func verbLine(verb string, s decide.State) string {
	return fmt.Sprintf("%s %s iteration %d %s", time.Now().UTC().Format(logTime), verb, s.Iteration, s.Status)
}

// notifierLine says what became of a notifier, with what it printed.
func notifierLine(c config.Command, outcome string, output []byte) string {
	line := fmt.Sprintf("%s notify %s: %s", time.Now().UTC().Format(logTime), plain.Line(c.String(), 200),
		plain.Line(outcome, 200))
	if text := strings.TrimSpace(plain.Text(string(output), maxNotifierOutput)); text != "" {
		line += "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return line
}
