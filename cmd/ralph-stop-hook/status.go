package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func statusCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show how far a loop is",
		Args:  maxArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return &usageError{fmt.Errorf("--all and the name %q do not go together", args[0])}
			}
			loops, err := loopsFor(all, args)
			if err != nil {
				return err
			}
			views := make([]statusView, 0, len(loops))
			for _, l := range loops {
				view, err := viewLoop(l)
				if err != nil && !all {
					return err
				}
				if err != nil {
					view = statusView{Name: plain.Line(l.Name, 100), Status: "UNKNOWN", Loop: plain.Line(l.Dir, 4096), Notes: []string{plain.Line(err.Error(), 500)}}
				}
				views = append(views, view)
			}
			return showStatus(cmd.OutOrStdout(), views, asJSON, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every loop of the project")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for machines; with --all an array")
	return cmd
}

func loopsFor(all bool, args []string) ([]*loopdir.Loop, error) {
	w, err := where()
	if err != nil {
		return nil, err
	}
	if all {
		loops, err := w.All()
		if err == nil && len(loops) == 0 {
			err = errNoLoop
		}
		return loops, err
	}
	s, err := openLoop(args)
	if err != nil {
		return nil, err
	}
	s.Close()
	return []*loopdir.Loop{s.Loop}, nil
}

// statusView is `status --json`.
type statusView struct {
	Name          string        `json:"name"`
	Status        decide.Status `json:"status"`
	ExitReason    string        `json:"exitReason"`
	Iteration     int           `json:"iteration"`
	MaxIterations int           `json:"maxIterations"`
	Features      featureCounts `json:"features"`
	Next          string        `json:"next"` // the feature to work on
	List          string        `json:"list"`
	Session       string        `json:"session"`
	Needs         string        `json:"needs"`
	Waiting       *waiting      `json:"waiting"` // null: it is not
	Loop          string        `json:"loop"`
	Protected     bool          `json:"protected"` // the record is outside the project
	StartedAt     *time.Time    `json:"startedAt"`
	EndedAt       *time.Time    `json:"endedAt"`
	Notice        string        `json:"notice"` // of the last ending: "", "sent" or "pending"
	Notes         []string      `json:"notes"`  // what a person should know
}

// waiting is what a loop waits for.
type waiting struct {
	For   string    `json:"for"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // then it goes on without
}

func viewLoop(l *loopdir.Loop) (statusView, error) {
	if err := l.Check(); err != nil {
		return statusView{}, err
	}
	s, err := l.Open()
	if err != nil {
		return statusView{}, err
	}
	defer s.Close()
	got, err := load(s, hookio.Event{}, time.Now())
	if err != nil {
		return statusView{}, err
	}
	state := got.snap.Record()
	v := statusView{Notes: []string{}, Protected: s.Protected, Loop: plain.Line(s.Dir, 4096), Name: plain.Line(s.Name, 100), List: plain.Line(got.listPath(), 4096)}
	if got.snap.State.Schema == 0 {
		v.Protected = true
		if got.snap.FreshClone {
			v.Notes = append(v.Notes, "it came with the repository and was not begun here; 'ralph-stop-hook resume' takes it up")
		} else {
			v.Notes = append(v.Notes, "not begun: "+wordsBegin(got.snap.Bind))
		}
	}
	if got.snap.CancelFile && state.Status != decide.Cancelled {
		v.Notes = append(v.Notes, "cancelled; the next stop ends it")
	}
	for _, err := range []error{got.snap.ConfigErr, got.snap.List.Err} {
		if err != nil {
			v.Notes = append(v.Notes, plain.Line(err.Error(), 300))
		}
	}
	if !v.Protected {
		v.Notes = append(v.Notes, "unprotected: the record is in the loop folder, where an agent can write")
	}
	v.Notes = append(v.Notes, wordsConfigNotes(got.config)...)
	v.Status, v.ExitReason, v.Needs = state.Status, state.ExitReason, state.Needs
	v.Iteration, v.MaxIterations = state.Iteration, state.Limit(got.config.Limits)
	v.Features, v.Session = counts(got.snap.List), state.Session
	if item, open := got.snap.List.Next(); open {
		v.Next = plain.Line(strings.TrimSpace(item.ID+" "+item.Title), 120)
	}
	for _, at := range []struct {
		from time.Time
		to   **time.Time
	}{{state.StartedAt, &v.StartedAt}, {state.EndedAt, &v.EndedAt}} {
		if !at.from.IsZero() {
			*at.to = &at.from
		}
	}
	if state.WaitingFor != "" {
		v.Waiting = &waiting{state.WaitingFor, state.WaitingSince, state.WaitingSince.Add(got.config.Limits.MaxWait)}
	}
	if n := state.Notice; n != nil {
		v.Notice = "sent"
		if n.SentAt.IsZero() {
			v.Notice = "pending"
		}
	}
	return v, nil
}

func showStatus(w io.Writer, views []statusView, asJSON, all bool) error {
	if asJSON {
		var v any = views
		if !all {
			v = views[0]
		}
		text, err := indentJSON(v)
		fmt.Fprint(w, text)
		return err
	}
	for i, v := range views {
		if i > 0 {
			fmt.Fprintln(w)
		}
		showLoop(w, v)
	}
	return nil
}

func showLoop(w io.Writer, v statusView) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-10s %s\n", name, plain.Line(value, 500))
		}
	}
	fmt.Fprintf(w, "%s: %s", plain.Line(v.Name, 100), v.Status)
	if v.ExitReason != "" {
		fmt.Fprintf(w, " (%s)", v.ExitReason)
	}
	fmt.Fprintln(w)
	if v.MaxIterations > 0 {
		row("features", fmt.Sprintf("%d of %d claimed, none checked", v.Features.Passed, v.Features.Total))
		row("next", v.Next)
		row("iteration", fmt.Sprintf("%d of %d", v.Iteration, v.MaxIterations))
	}
	row("needs", v.Needs)
	if v.Waiting != nil {
		row("waits for", fmt.Sprintf("%s since %s; a stop after %s is not let pass for it", v.Waiting.For, v.Waiting.Since.Local().Format("15:04"), v.Waiting.Until.Local().Format("15:04")))
	}
	row("session", v.Session)
	row("list", v.List)
	row("loop", v.Loop)
	if v.Notice == "pending" {
		row("notice", "not delivered yet")
	}
	for _, note := range v.Notes {
		row("note", note)
	}
}
