package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/settings"
)

func evaluateCommand() *command {
	return &command{name: "evaluate", short: "Say who settles whether the current loop is complete", long: evaluateHelp}
}

func evaluateListCommand() *command {
	cmd := loopVerb("evaluate list", "Show the evaluators, in order", func(w io.Writer, s *loopdir.Store) error {
		l, err := loadNow(s)
		if err = errors.Join(err, l.snap.ConfigErr); err == nil {
			showEvaluators(w, l.config.Config)
		}
		return err
	})
	cmd.args = "" // the current loop's
	return cmd
}

func evaluateClearCommand() *command {
	cmd := loopVerb("evaluate clear", "Go back to the default", func(w io.Writer, s *loopdir.Store) error {
		return editEvaluators(w, s, func(text []byte) ([]byte, error) { return sjson.DeleteBytes(text, "evaluate") })
	})
	cmd.args = ""
	return cmd
}

func evaluateAddCommand() *command {
	var name string
	var timeout time.Duration
	cmd := &command{
		name:    "evaluate add",
		args:    strings.Join(decide.Presets, "|") + "|COMMAND",
		short:   "Add an evaluator, behind those that there are; the first takes the place of the default",
		example: "  ralph-stop-hook evaluate add './review.sh' --timeout 2m",
		run: func(w io.Writer, args []string) error {
			if !slices.Contains(decide.Presets, args[0]) && !isCommand(args[0]) {
				hint := ""
				if meant := jsontext.Nearest(args[0], decide.Presets); meant != "" {
					hint = fmt.Sprintf("; did you mean %q?", meant)
				}
				return fmt.Errorf("there is no program for %q%s", plain.Line(args[0], 200), hint)
			}
			return onLoop(func(w io.Writer, s *loopdir.Store) error {
				return editEvaluators(w, s, func(text []byte) ([]byte, error) {
					value, _ := json.Marshal(newEvaluator(args[0], name, timeout)) // texts always go
					return settings.Append(text, "evaluate", string(value)), nil
				})
			})(w, nil)
		},
	}
	cmd.flags.StringVar(&name, "name", "", "what people and logs see of it, `WORDS`")
	cmd.flags.DurationVar(&timeout, "timeout", 0, "its time, `T` (default 5m)")
	return cmd
}

const evaluateHelp = `Say who settles, at each stop, whether the current loop is complete. Evaluators
are asked in order; the first that says complete, or escalates, is followed.

  default      every feature is claimed, and every check holds
  validation   every check holds, whatever the list claims
  promise      the agent says <promise>COMPLETE</promise>; not beside checks
  COMMAND      a command of yours. It gets the iteration as JSON on standard
               input and answers with JSON on standard output:
               {"action": "complete|continue|escalate", "reason": "...", "nextPrompt": "..."}

Limits, a person's stop and what blocks a loop hold whoever is asked. A command's
complete is a claim: open features and failing checks hold against it. One that
fails, hangs or answers something else ends the loop ESCALATED.`

// newEvaluator is an entry of "evaluate".
func newEvaluator(what, name string, timeout time.Duration) any {
	if slices.Contains(decide.Presets, what) {
		return what
	}
	e := struct {
		Name    string `json:"name,omitempty"`
		Command string `json:"command"`
		Timeout string `json:"timeout,omitempty"`
	}{Name: name, Command: what}
	if timeout != 0 {
		e.Timeout = timeout.String()
	}
	return e
}

// editEvaluators changes ralph.json and what is trusted of it, and nothing else
// that is: what changed since it was trusted stays what a person has to look at.
func editEvaluators(w io.Writer, s *loopdir.Store, edit func(text []byte) ([]byte, error)) error {
	if err := personOnly(); err != nil {
		return err
	}
	unlock, err := s.Lock(lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	l, err := loadNow(s)
	if err = errors.Join(err, l.snap.ConfigErr); err != nil {
		return err
	}
	text, err := s.Config()
	if err != nil {
		return err
	}
	if text == nil {
		text = []byte("{}")
	}
	if text, err = edit(text); err != nil {
		return err
	}
	// Cut off between the two files, this is what was trusted already.
	if l.config.Changed && string(text) != l.config.Text || l.config.Untrusted > 0 {
		return fmt.Errorf("%s is not what was trusted; look at it and run '%s' first", loopdir.ConfigFile, doer(l.Name)("trust"))
	}
	record, err := trusted(s, text, l.snap.List, false)
	if err != nil {
		return err
	}
	path := l.listPath()
	if before := l.config.Trust; l.config.Trusted {
		path = ""
		before.Text, before.SHA256 = record.Text, record.SHA256
		maps.Copy(record.Files, before.Files) // those of before, as they were then
		before.Files, record = record.Files, before
	}
	if err := s.SetTrust(record, path); err != nil {
		return err
	}
	if err := s.WriteFile(loopdir.ConfigFile, text); err != nil {
		return err
	}
	c, err := config.Parse(text)
	showEvaluators(w, c)
	return err
}

func showEvaluators(w io.Writer, c config.Config) {
	if len(c.Evaluators) == 0 {
		fmt.Fprintln(w, "1  default (none is named)")
		return
	}
	rows := [][]string{{"", "NAME", "TIMEOUT", "WHAT"}}
	for i, e := range c.Evaluators {
		timeout, what := e.Timeout.String(), e.String()
		if e.Preset != "" {
			timeout, what = "", "built in"
		}
		if e.Off {
			timeout = "disabled"
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), e.Name, timeout, what})
	}
	table(w, rows)
}
