// Package logline writes the lines of hook.log and checks.log. They contain ids and reasons only, and no text of the
// conversation.
package logline

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Time is the form of a line's time, which is in UTC.
const Time = "2006-01-02T15:04:05Z"

// MaxOutput bounds a notifier's output, in bytes.
const MaxOutput = 4000

// Check returns what checks.log says of a check that ran.
func Check(r decide.Receipt, run decide.Run, outcome string, output []byte) string {
	return fmt.Sprintf("== %s %s: %s, %d ms\n%s\n", r.At.Format(Time),
		plain.Line(run.Check.Name+" "+run.Feature, 280),
		plain.Line(outcome, 300), r.DurationMS, plain.Text(string(output), len(output)))
}

// Answer returns what checks.log says of an evaluator, or for a tracker that failed.
func Answer(at time.Time, name, outcome string) string {
	return fmt.Sprintf("== %s %s: %s, %d ms\n", at.UTC().Format(Time), plain.Line(name, 80),
		plain.Line(outcome, 1000),
		time.Since(at).Milliseconds())
}

// Reopen says which claims were taken back.
func Reopen(at time.Time, ids []string, err error) string {
	line := fmt.Sprintf("%s reopen %s", at.UTC().Format(Time), plain.Line(strings.Join(ids, " "), 300))
	if err != nil {
		line += ": " + plain.Line(err.Error(), 300)
	}
	return line
}

// Trouble says why an event had no answer.
func Trouble(at time.Time, err error) string {
	return fmt.Sprintf("%s error %s", at.UTC().Format(Time), plain.Line(err.Error(), 1000))
}

// ReadTrouble returns the reason in a line of Trouble, "" if the line is another one.
func ReadTrouble(line string) string {
	at, text, _ := strings.Cut(line, " error ")
	if _, err := time.Parse(Time, at); err != nil {
		return ""
	}
	return plain.Line(text, 300)
}

// Verb says how a loop is after a person's verb.
func Verb(verb string, s decide.State) string {
	return fmt.Sprintf("%s %s iteration %d %s", time.Now().UTC().Format(Time), verb, s.Iteration, s.Status)
}

// Notifier says what became of a notifier, with what it printed.
func Notifier(c config.Command, outcome string, output []byte) string {
	line := fmt.Sprintf("%s notify %s: %s", time.Now().UTC().Format(Time), plain.Line(c.String(), 200),
		plain.Line(outcome, 200))
	if text := strings.TrimSpace(plain.Text(string(output), MaxOutput)); text != "" {
		line += "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return line
}
