package verb

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Status shows how far a loop is.
func (v Verbs) Status() *cobra.Command {
	s := &statusCall{Verbs: v}
	cmd := &cobra.Command{
		Use: "status [NAME]", Short: "Show a loop's progress",
		Long: statusHelp, RunE: cli.Run(s.run),
	}
	f := cmd.Flags()
	f.BoolVar(&s.all, "all", false, "show all loops of the project; outside of one, or with --send-due, all your loops")
	f.BoolVar(&s.prompt, "prompt", false, "show only the prompt that the agent would get now")
	f.BoolVar(&s.json, "json", false, "print JSON; with --all an array")
	f.BoolVar(&s.exitCode, "exit-code", false, "exit with a run's exit status: 0 if COMPLETE")
	f.BoolVar(&s.line, "line", false, "print one line, for Claude Code's status line")
	f.BoolVar(&s.sendDue, "send-due", false,
		"end loops whose client died; send the notices that are due")
	return cmd
}

const statusHelp = `Show a loop's progress. If its client died, it NEEDS YOU until --send-due ends it INTERRUPTED.
An unreadable loop is UNKNOWN; --exit-code then exits with 4.`

type statusCall struct {
	Verbs
	all, json, line, sendDue, prompt, exitCode bool

	unsent error // why notices of loops may be left
}

func (s *statusCall) run(w io.Writer, args []string) error {
	if s.all && len(args) > 0 {
		return cli.Usagef("--all and the name %q do not go together", args[0])
	}
	switch {
	case s.exitCode && (s.all || s.line || s.prompt):
		return cli.Usagef("--exit-code is about one loop; leave out --all, --line and --prompt")
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
	err = s.show(w, views)
	if err == nil && s.sendDue {
		err = s.unsent
	}
	if err != nil || !s.exitCode {
		return err
	}
	ending := decide.Ending{Status: views[0].Status, ExitReason: views[0].ExitReason}
	if views[0].Works() || views[0].Phase == "" { // nobody knows how it ended
		ending = decide.Ending{Status: decide.InProgress}
	}
	if code := ending.ExitCode(); code != 0 {
		return &cli.Exit{Code: code}
	}
	return nil
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
		if err != nil && s.Env.StateErr != nil {
			return nil, err
		}
		if err != nil {
			one = Unreadable(s.Env, at, err)
			s.unsent = errors.Join(s.unsent, fmt.Errorf("notices may be left of %s: %w", one.Name, err))
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
	slices.SortStableFunc(views, func(a, b Status) int {
		return cmp.Or(a.Rank()-b.Rank(), strings.Compare(a.Name, b.Name))
	})
	for _, one := range views {
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
		if at != nil && loopdir.CheckName(at.Name) == nil {
			err = nil // the view says what is wrong
		}
		return []*loopdir.Loop{at}, err
	}
	loops, err := s.Env.Where().All()
	switch {
	case err == nil && (s.sendDue || len(loops) == 0):
		loops, err = s.Env.Where().Known() // cron's folder is no project, or not the one
	case err == nil:
		loops = append(loops, s.Env.Where().WithoutFolder()...)
	}
	if err == nil && len(loops) == 0 {
		err = ErrNoLoop
	}
	return loops, err
}

// look looks at a loop. If --send-due asks for it, look first sends the notices that are due, also those of a loop
// whose folder is gone.
func (s *statusCall) look(at *loopdir.Loop) (Status, error) {
	unusable := at.Check()
	if unusable != nil && !(s.sendDue && at.IsMissing()) {
		return Status{}, unusable
	}
	l, err := loop.Open(s.Env, at)
	if err != nil {
		return Status{}, err
	}
	defer l.Close()
	if s.sendDue {
		err = l.SendDue(background())
	}
	if err != nil {
		return Status{}, err
	}
	v, err := Of(l)
	if s.sendDue && v.unheard != "" && v.Status == decide.InProgress && v.ClientRuns && at.IsMissing() == at.Restorable() {
		ev := loop.Event{Report: decide.Report{Session: v.Session}, At: time.Now(), Timeout: time.Minute}
		l.Warn(background(), ev, v.unheard, v.Then)
	}
	if err = cmp.Or(unusable, err); err != nil && s.sendDue { // its notices are sent
		return Unreadable(s.Env, at, err), nil
	}
	return v, err
}

// brief shows a loop among others, in one line: how far it is, what it cost, what went wrong, and what a person does.
func brief(s cli.Screen, v Status) {
	line := []string{headOf(s, v)}
	add := func(text string) {
		text = plain.Line(text, 500)
		if text != "" {
			line = append(line, text)
		}
	}
	if v.MaxIterations > 0 {
		add(strings.Replace(v.Progress(), " features", "", 1))
		add(fmt.Sprintf("iteration %d of %d", v.Iteration, v.MaxIterations))
	}
	add(v.Spent.Cost())
	if v.Notice == "pending" {
		add("notice not delivered yet")
	}
	add(v.Wrong())
	if v.Rank() != RankWorking && v.Rank() != RankWaiting {
		add(v.Then)
	}
	fmt.Fprintln(s, strings.Join(line, " · "))
}

// Progress says how far the loop is: of how many features, or that it has none.
func (v *Status) Progress() string {
	switch {
	case v.NoList:
		return say.NoListProof(v.Status, v.ExitReason, v.Checks)
	case v.unread():
		return "unknown, since the list cannot be read"
	}
	return say.Progress(v.Features, v.Checks)
}

// unread reports whether the list of a loop cannot be read: somebody may be saving it.
func (v *Status) unread() bool { return v.broken != "" && v.Features.Total == 0 }

// headOf is a loop's name and status.
func headOf(s cli.Screen, v Status) string {
	head := plain.Line(v.Name, 100) + ": " + s.Paint(v.Colour(), plain.Line(v.Word(), 40))
	if v.ExitReason != "" {
		head += " (" + plain.Line(v.ExitReason, 80) + ")"
	}
	return head
}

func show(s cli.Screen, v Status) {
	row := func(name, value string) { s.Row(name, plain.Line(value, 500)) }
	fmt.Fprintln(s, headOf(s, v))
	if v.MaxIterations > 0 {
		label := "features"
		if v.NoList {
			label = "proof"
		}
		row(label, strings.Replace(v.Progress(), " features", "", 1))
		if !v.NoList && !v.unread() {
			s.Row("", s.Bar(v.Features.Proven, v.Features.Passed, v.Features.Total, 20))
		}
		for _, lane := range v.Lanes {
			if lane.Works || lane.Feature != "" { // a run has more lanes than sessions at once
				text := lane.String()
				if silent := v.SilentIn(lane.Lane); silent != "" {
					text += ", " + silent
				}
				row("lane", text)
			}
		}
		for i, one := range v.SetAside {
			row([]string{"set aside", ""}[min(i, 1)], one.ID+": "+one.Why)
		}
		row("next", v.Next)
		row("iteration", fmt.Sprintf("%d of %d", v.Iteration, v.MaxIterations))
		row("time", took(v, time.Now()))
		row("used", v.Spent.String())
		if v.Status.GoesOn() { // else the record has no lanes any more, and 'resume' begins to count anew
			row("at most", remainingLimits(v))
		}
	}
	for _, one := range v.Silent {
		row("silent", one.String())
	}
	row("needs", v.Needs)
	if !strings.Contains(v.Needs, v.last) {
		row("last", v.last)
	}
	if c := v.Failed; c != nil {
		row("failed", fmt.Sprintf("%s, %s, %s", c.Name, c.Outcome, say.Clock(c.At)))
		if text := strings.TrimSpace(c.Tail); text != "" {
			lines := strings.Split(text, "\n")
			s.Lines("", cli.Labels, lines[max(0, len(lines)-maxFailed):])
		}
	}
	if at, err := time.Parse(time.RFC3339, v.RetryAt); err == nil {
		row("retry at", say.Clock(at))
	}
	if w := v.Waits; w != nil {
		until := w.Until.Local().Format("15:04")
		if w.Since.IsZero() {
			row("waits", fmt.Sprintf("%s, until %s", w.For, until))
		} else {
			row("waits for", fmt.Sprintf("%s, since %s; a stop after %s waits no more",
				w.For, w.Since.Local().Format("15:04"), until))
		}
	}
	row("running", v.Running)
	for i, one := range v.Unmerged {
		row([]string{"to merge", ""}[min(i, 1)], one)
	}
	if v.Withheld != "" {
		row("withheld", v.Withheld+": changed since 'trust', so checks do not get them")
	}
	if v.Confined != "" {
		row("confined", "checks write only to "+v.Confined)
	}
	switch {
	case v.Uncommitted == "":
	case v.Status == decide.Complete:
		row("commit", "not committed when it ended: "+v.Uncommitted+"; commit what is left yourself")
	default:
		row("commit", "not committed: "+v.Uncommitted)
	}
	for i, verdict := range v.Verdicts {
		row([]string{"recent", ""}[min(i, 1)], verdict.String())
	}
	session := v.Session
	if v.ClientRuns {
		session += ", whose client runs"
	}
	if (v.Phase == Working || v.Phase == Stuck) && v.Running == "" && !v.PhaseSince.IsZero() {
		session += ", seen " + plain.Duration(max(0, time.Since(v.PhaseSince))) + " ago"
	}
	row("session", session)
	row("list", v.List)
	row("loop", v.Loop)
	if v.Notice == "pending" {
		row("notice", "not delivered yet ('status --send-due' sends it)")
	} else if v.notTold != "" {
		row("notice", "a notifier failed: "+v.notTold+"; hook.log has what it printed, and 'notify' tries all of them")
	}
	for _, note := range v.Notes {
		row("note", note)
	}
	// The last lines are seen where the first ones have scrolled away.
	s.Row("state", strings.TrimPrefix(headOf(s, v), plain.Line(v.Name, 100)+": "))
	// In one line, however long, so that it can be copied.
	if v.Then != "" {
		s.Lines("next step", cli.Labels, []string{plain.Line(v.Then, 500)})
	}
}

// maxFailed is how many lines of a failed check's output are shown.
const maxFailed = 12

func took(v Status, now time.Time) string {
	began, err := time.Parse(time.RFC3339, v.StartedAt)
	if err != nil {
		return ""
	}
	ended, err := time.Parse(time.RFC3339, v.EndedAt)
	if err == nil && v.Status != decide.InProgress && !v.Works() {
		return fmt.Sprintf("%s, until %s", plain.Duration(ended.Sub(began)), say.Clock(ended))
	}
	return fmt.Sprintf("%s, since %s", plain.Duration(now.Sub(began)), say.Clock(began))
}

// toLimit says of what there is some left until a limit is reached: a thing, and what is said of it.
var toLimit = map[string][2]string{
	"stagnation":           {"more stop", " without a change"},
	"attempts":             {"more attempt", " at this feature"},
	"check_failures":       {"more stop", " with a failing check"},
	"iterations_per_hour":  {"more iteration", " this hour"},
	"features_per_session": {"more feature", " in this session"},
}

// remainingLimits says what is left of the limits that have no row of their own.
func remainingLimits(v Status) string {
	var left []string
	for _, l := range v.Limits {
		of, has := toLimit[l.Name]
		switch {
		case l.Name == "attempts" && l.Left == l.Limit: // most features need no second one
		case has:
			left = append(left, plain.Count(int(l.Left), of[0])+of[1])
		case l.Name == "context_tokens":
			left = append(left, plain.Tokens(l.Left)+" more tokens in this session")
		case l.Name == "deadline":
			of := plain.Duration(time.Duration(l.Limit) * time.Second)
			left = append(left, fmt.Sprintf("%s more of %s", plain.Duration(time.Duration(l.Left)*time.Second), of))
		}
	}
	return strings.Join(left, " · ")
}
