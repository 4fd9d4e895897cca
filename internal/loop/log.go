package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The lines of hook.log and checks.log have ids and reasons only, and no text of the conversation.

// logTime is the form of a line's time, which is in UTC.
const logTime = "2006-01-02T15:04:05Z"

// maxNotifierOutput bounds a notifier's output, in bytes.
const maxNotifierOutput = 4000

// checkLine returns what checks.log says of a check that ran.
func checkLine(r decide.Receipt, run decide.Run, outcome string, output []byte) string {
	return fmt.Sprintf("== %s %s: %s, %d ms\n%s\n", r.At.Format(logTime),
		plain.Line(run.Check.Name+" "+run.Feature, 280),
		plain.Line(outcome, 300), r.DurationMS, plain.Text(string(output), len(output)))
}

// answerLine returns what checks.log says of an evaluator, or for a tracker that failed.
func answerLine(at time.Time, name, outcome string) string {
	return fmt.Sprintf("== %s %s: %s, %d ms\n", at.UTC().Format(logTime), plain.Line(name, 80),
		plain.Line(outcome, 1000),
		time.Since(at).Milliseconds())
}

// reopenLine says which claims were taken back.
func reopenLine(at time.Time, ids []string, err error) string {
	line := fmt.Sprintf("%s reopen %s", at.UTC().Format(logTime), plain.Line(strings.Join(ids, " "), 300))
	if err != nil {
		line += ": " + plain.Line(err.Error(), 300)
	}
	return line
}

// troubleLine says why an event had no answer.
func troubleLine(at time.Time, err error) string {
	return fmt.Sprintf("%s error %s", at.UTC().Format(logTime), plain.Line(err.Error(), 1000))
}

// ReadTrouble returns the reason in a line of troubleLine, "" if the line is another one.
func ReadTrouble(line string) string {
	at, text, _ := strings.Cut(line, " error ")
	if _, err := time.Parse(logTime, at); err != nil {
		return ""
	}
	return plain.Line(text, 300)
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
