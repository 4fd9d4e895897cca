package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The lines of hook.log and checks.log. They contain ids and reasons only, and no text of the
// conversation.

const logTime = "2006-01-02T15:04:05Z"

func logCheck(r decide.Receipt, run decide.Run, outcome string, output []byte) string {
	return fmt.Sprintf("== %s %s: %s, %d ms\n%s\n", r.At.Format(logTime),
		plain.Line(run.Check.Name+" "+run.Feature, 280),
		plain.Line(outcome, 300), r.DurationMS, plain.Text(string(output), len(output)))
}

// logAnswer returns the line for an evaluator, or for a tracker that failed.
func logAnswer(at time.Time, name, outcome string) string {
	return fmt.Sprintf("== %s %s: %s, %d ms\n", at.UTC().Format(logTime), plain.Line(name, 80),
		plain.Line(outcome, 1000),
		time.Since(at).Milliseconds())
}

// logReopen says which claims were taken back.
func logReopen(at time.Time, ids []string, err error) string {
	line := fmt.Sprintf("%s reopen %s", at.UTC().Format(logTime), plain.Line(strings.Join(ids, " "), 300))
	if err != nil {
		line += ": " + plain.Line(err.Error(), 300)
	}
	return line
}

func logTrouble(at time.Time, err error) string {
	return fmt.Sprintf("%s error %s", at.UTC().Format(logTime), plain.Line(err.Error(), 1000))
}

func logVerb(verb string, s decide.State) string {
	return fmt.Sprintf("%s %s iteration %d %s", time.Now().UTC().Format(logTime), verb, s.Iteration, s.Status)
}

func logNotifier(c config.Command, outcome string, output []byte) string {
	line := fmt.Sprintf("%s notify %s: %s", time.Now().UTC().Format(logTime), plain.Line(c.String(), 200),
		plain.Line(outcome, 200))
	if text := strings.TrimSpace(plain.Text(string(output), notifierOutput)); text != "" {
		line += "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return line
}
