package verb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/sjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/held"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Evaluate chooses who decides whether a loop is complete, and changes that.
func (v Verbs) Evaluate() []*cli.Command {
	all := &cli.Command{
		Name: "evaluate", Short: "Choose who decides whether a loop is complete", Long: evaluateHelp,
	}
	list := v.Loop("evaluate list", "Show a loop's evaluators, in order", func(w io.Writer, l *loop.Loop) error {
		p, err := l.Look()
		if err = errors.Join(err, p.Snapshot.ConfigErr); err == nil {
			showEvaluators(w, p.Config.Config)
		}
		return err
	})
	clear := v.Loop("evaluate clear", "Go back to the default", func(w io.Writer, l *loop.Loop) error {
		return v.editEvaluators(w, l, func(text []byte) ([]byte, error) { return sjson.DeleteBytes(text, "evaluate") })
	})
	return []*cli.Command{all, list, v.evaluateAdd(), v.evaluateRemove(), clear}
}

func (v Verbs) evaluateAdd() *cli.Command {
	var name string
	var timeout time.Duration
	cmd := &cli.Command{
		Name:    "evaluate add",
		Args:    strings.Join(decide.Presets, "|") + "|COMMAND [NAME]",
		Short:   "Add an evaluator at the end; the first one replaces the default",
		Example: "  " + v.Env.Program + " evaluate add './review.sh' --timeout 2m",
		Run: func(w io.Writer, args []string) error {
			what := args[0]
			if !slices.Contains(decide.Presets, what) && !held.IsCommand(v.Env.Get("PATH"), what) {
				hint := ""
				if meant := jsontext.Nearest(what, decide.Presets); meant != "" {
					hint = fmt.Sprintf("; did you mean %q?", meant)
				}
				return fmt.Errorf("there is no program for %q%s", plain.Line(what, 200), hint)
			}
			value, err := json.Marshal(newEvaluator(what, name, timeout))
			if err != nil {
				return err
			}
			return v.OnLoop(func(w io.Writer, l *loop.Loop) error {
				return v.editEvaluators(w, l, func(text []byte) ([]byte, error) {
					switch there, err := evaluatorsOf(text, cmp.Or(name, what)); {
					case err != nil:
						return nil, err
					case len(there) > 0:
						called := plain.Arg(cmp.Or(name, what))
						return nil, fmt.Errorf("the loop has an evaluator %s already; give this one another name with "+
							"--name, or take the other out: %s evaluate remove %s %s", called, v.Env.Program, called,
							plain.Arg(l.At.Name))
					}
					return jsontext.Append(text, "evaluate", string(value)), nil
				})
			})(w, args[1:])
		},
	}
	cmd.Flags.StringVar(&name, "name", "", "the name, `WORDS`, that people and logs see")
	cmd.Flags.DurationVar(&timeout, "timeout", 0, "how long, `T`, it may run (default 5m)")
	return cmd
}

func (v Verbs) evaluateRemove() *cli.Command {
	return &cli.Command{
		Name: "evaluate remove", Args: "EVALUATOR [NAME]",
		Short: "Take an evaluator out of a loop: by its name, or by its command",
		Run: func(w io.Writer, args []string) error {
			return v.OnLoop(func(w io.Writer, l *loop.Loop) error {
				return v.editEvaluators(w, l, func(text []byte) ([]byte, error) {
					return removeEvaluator(text, args[0])
				})
			})(w, args[1:])
		},
	}
}

// removeEvaluator takes the evaluators of a name out of a ralph.json.
func removeEvaluator(text []byte, called string) ([]byte, error) {
	there, err := evaluatorsOf(text, called)
	switch c, _ := config.Parse(text); {
	case err != nil:
		return nil, err
	case len(there) == 0:
		return nil, fmt.Errorf("the loop has no evaluator %s; 'evaluate list' shows them", plain.Arg(called))
	case len(there) == len(c.Evaluators):
		return sjson.DeleteBytes(text, "evaluate") // an empty list is an error
	}
	for _, n := range slices.Backward(there) {
		if text, err = sjson.DeleteBytes(text, fmt.Sprintf("evaluate.%d", n)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// evaluatorsOf returns the places of the evaluators in a ralph.json that have a name, or if
// none has it, that are that command.
func evaluatorsOf(text []byte, called string) (named []int, err error) {
	c, err := config.Parse(text)
	var same []int
	for n, e := range c.Evaluators {
		if e.Name == called {
			named = append(named, n)
		}
		if e.String() == called {
			same = append(same, n)
		}
	}
	if len(named) == 0 {
		named = same
	}
	return named, err
}

const evaluateHelp = `Choose who decides, at each stop, whether a loop is complete. The hook asks the
evaluators in order, and follows the first that says complete or escalate.

  default      every feature is claimed, and every check holds
  validation   every check holds, whatever the list claims
  promise      the agent says <promise>COMPLETE</promise>; not allowed beside checks
  COMMAND      a command of yours. It gets the iteration as JSON on standard
               input and answers with JSON on standard output:
               {"action": "complete|continue|escalate", "reason": "...", "nextPrompt": "..."}

Limits, a person's stop and what blocks a loop always hold. A command's complete is a
claim: open features and failing checks overrule it. If a command fails, hangs or
answers something else, the loop ends ESCALATED.`

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

// editEvaluators changes ralph.json and what is trusted of it, and nothing else that is
// trusted: what changed since then stays what a person has to look at.
func (v Verbs) editEvaluators(w io.Writer, l *loop.Loop, edit func(text []byte) ([]byte, error)) error {
	if err := v.PersonOnly(); err != nil {
		return err
	}
	return l.Store.Alone(loop.LockWait, func() error {
		p, err := l.Look()
		if err = errors.Join(err, p.Snapshot.ConfigErr); err != nil {
			return err
		}
		text, err := l.Store.Config()
		if err != nil {
			return err
		}
		if text == nil {
			text = []byte("{}")
		}
		if text, err = edit(text); err != nil {
			return err
		}
		if err := trustEdit(l, p, text); err != nil {
			return err
		}
		if err := l.Store.WriteFile(loopdir.ConfigFile, text); err != nil {
			return err
		}
		c, err := config.Parse(text)
		showEvaluators(w, c)
		return err
	})
}

// trustEdit makes text the trusted ralph.json.
func trustEdit(l *loop.Loop, p *loop.Picture, text []byte) error {
	// If this verb was cut off between its two writes, text is already trusted.
	if p.Config.Changed && string(text) != p.Config.Text || p.Config.Untrusted > 0 {
		return fmt.Errorf("%s differs from what was trusted; look at it and run '%s' first", loopdir.ConfigFile,
			l.Call("trust"))
	}
	record, err := l.NewTrust(text, p.Snapshot.List, false)
	if err != nil {
		return err
	}
	path := p.ListPath()
	if before := p.Config.Trust; p.Config.Trusted {
		path = ""
		before.Text, before.SHA256 = record.Text, record.SHA256
		maps.Copy(record.Files, before.Files) // files that were held before keep their hashes
		before.Files, before.Calls = record.Files, record.Calls
		if len(before.Features) == 0 { // nothing judged the features until now
			before.Features, before.Beside, before.Rules = record.Features, record.Beside, record.Rules
			path = p.ListPath()
		}
		record = before
	}
	return l.SetTrust(record, path)
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
		if e.Disabled {
			timeout = "disabled"
		}
		rows = append(rows, []string{fmt.Sprint(i + 1), e.Name, timeout, what})
	}
	cli.Table(w, rows)
}
