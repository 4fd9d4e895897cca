package verb

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Status shows how far a loop is.
func (v Verbs) Status() *cli.Command {
	s := &statusCall{Verbs: v}
	cmd := &cli.Command{
		Name: "status", Args: "[NAME]", Short: "Show how far a loop is",
		Long: strings.ReplaceAll(statusHelp, "@", v.Env.Program), Run: s.run,
	}
	f := &cmd.Flags
	f.BoolVar(&s.all, "all", false, "all loops of the project; outside a project, and with --send-due, "+
		"all your loops")
	f.BoolVar(&s.prompt, "prompt", false, "show what the agent would be told now, and nothing else")
	f.BoolVar(&s.json, "json", false, "print JSON; with --all an array")
	f.BoolVar(&s.line, "line", false, "one short line, for Claude Code's status line; nothing if there is no loop")
	f.BoolVar(&s.sendDue, "send-due", false,
		"end loops whose client died, and send notices that were cut off; for cron")
	return cmd
}

const statusHelp = `Show how far a loop is, what each limit leaves, and what it waits for.

A client that died without a word leaves its loop IN_PROGRESS; status calls that
stale. With --send-due such a loop ends INTERRUPTED, and every notice that was
cut off is sent. A line for cron:

  */10 * * * *  @ status --all --send-due >/dev/null`

type statusCall struct {
	Verbs
	all, json, line, sendDue, prompt bool
}

func (s *statusCall) run(w io.Writer, args []string) error {
	if s.all && len(args) > 0 {
		return cli.Usagef("--all and the name %q do not go together", args[0])
	}
	switch {
	case s.line:
		s.showLine(w, args)
		return nil
	case s.prompt && (s.all || s.json || s.sendDue):
		return cli.Usagef("--prompt is the prompt of one loop; leave out the other flags")
	case s.prompt:
		return s.Verbs.prompt(w, args)
	}
	views, err := s.views(args)
	if err != nil {
		return err
	}
	return s.show(w, views)
}

// views looks at the loops that the call is about.
func (s *statusCall) views(args []string) ([]Status, error) {
	loops, err := s.loops(args)
	if err != nil {
		return nil, err
	}
	views := make([]Status, 0, len(loops))
	for _, at := range loops {
		one, err := s.look(at)
		if err != nil && !s.all {
			return nil, err
		}
		if err != nil {
			one = Unreadable(at, err)
		}
		views = append(views, one)
	}
	return views, nil
}

func (s *statusCall) show(w io.Writer, views []Status) error {
	switch {
	case s.json && s.all:
		return cli.JSON(w, views)
	case s.json:
		return cli.JSON(w, views[0])
	}
	for i, one := range views {
		if i > 0 {
			fmt.Fprintln(w)
		}
		screen := cli.NewScreen(w, s.Env.Get)
		if s.all {
			brief(screen, one)
		} else {
			show(screen, one)
		}
	}
	return nil
}

func (s *statusCall) loops(args []string) ([]*loopdir.Loop, error) {
	if !s.all {
		at, err := s.Find(args)
		return []*loopdir.Loop{at}, err
	}
	loops, err := s.Env.Where().All()
	if err == nil && (s.sendDue || len(loops) == 0) {
		loops, err = s.Env.Where().Known() // cron's folder is no project, or not the one
	}
	if err == nil && len(loops) == 0 {
		err = s.noLoop()
	}
	return loops, err
}

// look looks at a loop, after it has sent what is due if that is asked for.
func (s *statusCall) look(at *loopdir.Loop) (Status, error) {
	if err := at.Check(); err != nil {
		return Status{}, err
	}
	l, err := loop.Open(s.Env, at)
	if err != nil {
		return Status{}, err
	}
	defer l.Close()
	if s.sendDue {
		if err := l.SendDue(background()); err != nil {
			return Status{}, err
		}
	}
	return Of(background(), l)
}

// brief shows a loop among others: how far it is, and what a person does now.
func brief(s cli.Screen, v Status) {
	head(s, v)
	if v.MaxIterations > 0 {
		s.Row(proofLabel(v), fmt.Sprintf("%s · iteration %d of %d", proof(v), v.Iteration, v.MaxIterations))
	}
	s.Row("loop", plain.Line(v.Loop, 500))
	if v.Notice == "pending" {
		s.Row("notice", "not delivered yet")
	}
	for _, note := range v.Notes {
		if v.Then == "" || note == v.Doom { // one that cannot be read, or one that is doomed
			s.Row("note", plain.Line(note, 500))
		}
	}
	s.Lines("now", cli.Labels, []string{plain.Line(v.Then, 500)})
}

func proofLabel(v Status) string {
	if v.NoList {
		return "proof"
	}
	return "features"
}

func proof(v Status) string {
	if v.NoList {
		return say.NoListProof(v.Status, v.ExitReason, v.Checks)
	}
	proof := say.Proof(v.Features.Passed, v.Features.Total, v.Features.Proven, v.Manual, v.Checks)
	proof = strings.Replace(proof, " features", "", 1)
	if v.StaleProofs > 0 {
		proof += fmt.Sprintf(", %d of them on older files", v.StaleProofs)
	}
	return proof
}

// head shows a loop's name and status.
func head(s cli.Screen, v Status) {
	fmt.Fprintf(s, "%s: %s", plain.Line(v.Name, 100), colour(s, v.Status))
	if v.ExitReason != "" {
		fmt.Fprintf(s, " (%s)", plain.Line(v.ExitReason, 80))
	}
	switch {
	case v.Stale:
		fmt.Fprint(s, ", stale")
	case v.Waits:
		fmt.Fprint(s, ", waits for a session")
	}
	fmt.Fprintln(s)
}

func show(s cli.Screen, v Status) {
	row := func(name, value string) { s.Row(name, plain.Line(value, 500)) }
	head(s, v)
	if v.MaxIterations > 0 {
		row(proofLabel(v), proof(v))
		if !v.NoList {
			s.Row("", s.Bar(v.Features.Proven, v.Features.Passed, v.Features.Total))
		}
		for _, lane := range v.Lanes {
			row("lane", lane.String())
		}
		row("next", v.Next)
		row("iteration", fmt.Sprintf("%d of %d", v.Iteration, v.MaxIterations))
		row("time", took(v, time.Now()))
		row("limits", left(v))
	}
	row("needs", v.Needs)
	if at, err := time.Parse(time.RFC3339, v.RetryAt); err == nil {
		row("retry at", say.Clock(at))
	}
	if v.Waiting != nil {
		since, until := v.Waiting.Since.Local().Format("15:04"), v.Waiting.Until.Local().Format("15:04")
		row("waits for", fmt.Sprintf("%s, since %s; after %s the loop continues without", v.Waiting.For, since, until))
	}
	row("running", v.Running)
	if v.Withheld != "" {
		row("withheld", v.Withheld+": changed since 'trust', so checks do not get it")
	}
	if v.Confined != "" {
		row("confined", "checks write only to "+v.Confined)
	}
	for i, verdict := range v.Verdicts {
		row([]string{"lately", ""}[min(i, 1)], verdict.String())
	}
	session := v.Session
	if v.ClientRuns {
		session += ", whose client runs"
	}
	row("session", session)
	row("list", v.List)
	row("loop", v.Loop)
	if v.Notice == "pending" {
		row("notice", "not delivered yet")
	}
	for _, note := range v.Notes {
		row("note", note)
	}
	// In one line, however long, so that it can be copied.
	s.Lines("now", cli.Labels, []string{plain.Line(v.Then, 500)})
}

func colour(s cli.Screen, status decide.Status) string {
	colour := cli.Red
	switch status {
	case decide.Complete:
		colour = cli.Green
	case decide.InProgress:
		colour = cli.Cyan
	case decide.Paused, decide.Cancelled, decide.Handover, decide.Interrupted:
		colour = cli.Yellow
	}
	return s.Paint(colour, plain.Line(string(status), 40))
}

func took(v Status, now time.Time) string {
	began, err := time.Parse(time.RFC3339, v.StartedAt)
	if err != nil {
		return ""
	}
	if ended, err := time.Parse(time.RFC3339, v.EndedAt); err == nil && v.Status != decide.InProgress {
		return fmt.Sprintf("%s, until %s", plain.Duration(ended.Sub(began)), say.Clock(ended))
	}
	return fmt.Sprintf("%s, since %s", plain.Duration(now.Sub(began)), say.Clock(began))
}

// left says what is left of the limits that have no row of their own.
func left(v Status) string {
	var left []string
	for _, l := range v.Limits {
		name := strings.ReplaceAll(l.Name, "_", " ")
		switch {
		case l.Name == "max_iterations" || l.Name == "max_wait":
		case l.Unit == "seconds":
			of := plain.Duration(time.Duration(l.Limit) * time.Second)
			left = append(left, fmt.Sprintf("%s %s of %s left", name, plain.Duration(time.Duration(l.Left)*time.Second), of))
		default:
			left = append(left, fmt.Sprintf("%s %d of %d left", name, l.Left, l.Limit))
		}
	}
	return strings.Join(left, " · ")
}
