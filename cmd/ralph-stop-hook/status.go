package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

func statusCommand() *command {
	var all, asJSON, send, line bool
	cmd := &command{
		name:  "status",
		args:  "[NAME]",
		short: "Show how far a loop is",
		long:  statusHelp,
		run: func(w io.Writer, args []string) error {
			if all && len(args) > 0 {
				return &usageError{fmt.Errorf("--all and the name %q do not go together", args[0])}
			}
			if line {
				showLine(w, args)
				return nil
			}
			loops, err := loopsFor(all, send, args)
			if err != nil {
				return err
			}
			views := make([]statusView, 0, len(loops))
			for _, l := range loops {
				view, err := viewLoop(l, send)
				if err != nil && !all {
					return err
				}
				if err != nil {
					view = statusView{Name: plain.Line(l.Name, 100), Status: "UNKNOWN", Loop: plain.Line(l.Dir, 4096), Notes: []string{plain.Line(err.Error(), 500)}}
				}
				views = append(views, view)
			}
			return showStatus(w, views, asJSON, all)
		},
	}
	cmd.flags.BoolVar(&all, "all", false, "every loop of the project; outside a project, and with --send-due, every loop of yours")
	cmd.flags.BoolVar(&asJSON, "json", false, "for machines; with --all an array")
	cmd.flags.BoolVar(&line, "line", false, "one short line, for Claude Code's status line; nothing where there is no loop")
	cmd.flags.BoolVar(&send, "send-due", false, "end loops whose client died, and send notices that were cut off; for cron")
	return cmd
}

const statusHelp = `Show how far a loop is, what each limit leaves, and what it waits for.

A client that died without a word leaves its loop IN_PROGRESS; status calls that
stale. With --send-due such a loop ends INTERRUPTED, and every notice that was
cut off is sent. A line for cron:

  */10 * * * *  ralph-stop-hook status --all --send-due >/dev/null`

func loopsFor(all, send bool, args []string) ([]*loopdir.Loop, error) {
	if all {
		loops, err := where().All()
		if err == nil && (send || len(loops) == 0) {
			loops, err = where().Known() // cron's folder is no project, or not the one
		}
		if err == nil && len(loops) == 0 {
			err = errNoLoop
		}
		return loops, err
	}
	l, err := findLoop(args)
	return []*loopdir.Loop{l}, err
}

// sendAllDue ends a loop whose client died, as its session's end would have,
// and sends what is due.
func sendAllDue(s *loopdir.Store) error {
	h := &hook{begin: time.Now(), timeout: defaultTimeout, store: s}
	got, err := peek(s, hookio.Event{}, h.begin)
	h.onComplete = cmp.Or(os.Getenv("RALPH_ON_COMPLETE"), got.snap.State.OnComplete)
	takeOver(s, h.onComplete, h.begin.Add(maxSend), due)
	if err != nil || !stale(got.snap) {
		return err
	}
	h.event = hookio.Event{Name: decide.SessionEnd, SessionID: got.snap.State.Session}
	defer h.release()
	got, d, err := h.decide()
	if err != nil || d.Verdict != decide.End {
		return err
	}
	if err := h.commit(got, &d); err != nil {
		return err
	}
	h.release()
	h.tell(got, d.Next)
	return nil
}

// stale tells whether a loop's client died without a word.
func stale(s decide.Snapshot) bool {
	return s.State.Status == decide.InProgress && s.State.Session != "" && s.OwnerKnown && !s.OwnerAlive
}

// statusView is `status --json`.
type statusView struct {
	Name          string        `json:"name"`
	Status        decide.Status `json:"status"`
	ExitReason    string        `json:"exitReason"`
	Iteration     int           `json:"iteration"`
	MaxIterations int           `json:"maxIterations"`
	Features      featureCounts `json:"features"`
	Checks        int           `json:"checks"`      // how many there are
	Manual        int           `json:"manual"`      // claimed features with points that only a person can look at
	StaleProofs   int           `json:"staleProofs"` // features proven on other contents than now
	Running       string        `json:"running"`     // checks that run now
	Next          string        `json:"next"`        // the feature to work on
	List          string        `json:"list"`
	Session       string        `json:"session"`
	Stale         bool          `json:"stale"`  // its client died without a word
	Limits        []limitView   `json:"limits"` // those that are on
	Needs         string        `json:"needs"`
	RetryAt       string        `json:"retryAt"` // when a limit will be lifted, where that is known
	Waiting       *waiting      `json:"waiting"` // null: it is not
	Loop          string        `json:"loop"`
	Protected     bool          `json:"protected"` // the record is outside the project
	StartedAt     string        `json:"startedAt"`
	EndedAt       string        `json:"endedAt"`
	Notice        string        `json:"notice"`     // of the last ending: "", "sent" or "pending"
	Notes         []string      `json:"notes"`      // what a person should know
	Verdicts      []verdictView `json:"verdicts"`   // of the last stops, the latest first
	Then          string        `json:"then"`       // what a person would do now
	ClientRuns    bool          `json:"clientRuns"` // that of its session is known to

	bind  string
	fresh bool // it came with the repository
}

// proof counts the proven features, as they are now.
func (v *statusView) proof(l *loaded, state decide.State) int {
	if v.Checks = len(l.snap.Checks); v.Checks == 0 || state.Status == decide.Complete {
		v.Manual = state.Manual
		return min(state.Proven, l.snap.List.Passed()) // the list may be another by now
	}
	l.snap.Contents = contents(context.Background(), l)
	p := l.snap.Proof()
	v.StaleProofs, v.Manual = p.Stale, p.Manual
	return p.Proven
}

// limitView is one limit and what is left of it.
type limitView struct {
	Name  string `json:"name"` // as ralph.json has it
	Limit int64  `json:"limit"`
	Left  int64  `json:"left"`
	Unit  string `json:"unit"` // iterations, seconds, stops, attempts, features or tokens
}

// limitsOf returns the limits in force, with what is left of each.
func limitsOf(s decide.State, l decide.Limits, now time.Time) []limitView {
	on := []limitView{}
	add := func(name, unit string, limit, used int) {
		if limit > 0 {
			on = append(on, limitView{name, int64(limit), int64(max(0, limit-used)), unit})
		}
	}
	addTime := func(name string, limit time.Duration, since time.Time) {
		if since.IsZero() {
			since = now
		}
		add(name, "seconds", int(limit.Seconds()), int(now.Sub(since).Seconds()))
	}
	add("max_iterations", "iterations", s.Limit(l), s.Iteration)
	addTime("deadline", s.Deadline(l), s.StartedAt)
	add("stagnation", "stops", l.Stagnation, s.Unchanged)
	add("feature_attempts", "attempts", l.FeatureAttempts, s.Attempts)
	add("check_failures", "stops", l.CheckFailures, s.CheckFailures)
	add("iterations_per_hour", "iterations", l.IterationsPerHour, len(s.LastHour(now)))
	add("features_per_session", "features", l.FeaturesPerSession, s.SessionPassed)
	add("context_tokens", "tokens", l.ContextTokens, s.Context)
	addTime("max_wait", l.MaxWait, s.WaitingSince)
	return on
}

// waiting is what a loop waits for.
type waiting struct {
	For   string    `json:"for"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // then it goes on without
}

// viewLoop looks at a loop, after it has sent what is due where that is asked for.
func viewLoop(l *loopdir.Loop, send bool) (statusView, error) {
	if err := l.Check(); err != nil {
		return statusView{}, err
	}
	s, err := l.Open()
	if err != nil {
		return statusView{}, err
	}
	defer s.Close()
	if send {
		if err := sendAllDue(s); err != nil {
			return statusView{}, err
		}
	}
	got, err := loadNow(s)
	if err != nil {
		return statusView{}, err
	}
	state := got.snap.Record()
	v := statusView{Notes: []string{}, Protected: s.Protected, Loop: plain.Line(s.Dir, 4096), Name: plain.Line(s.Name, 100), List: plain.Line(got.listName(), 4096)}
	do := doer(s.Name)
	v.bind, v.fresh = cmp.Or(state.Bind, got.snap.Bind), got.snap.FreshClone
	if got.snap.State.Schema == 0 {
		v.Protected = true
		if got.snap.FreshClone {
			v.Notes = append(v.Notes, "it came with the repository and was not begun here; '"+do("resume")+"' takes it up")
		} else {
			v.Notes = append(v.Notes, "not begun: "+wordsBegin(got.snap.Bind))
		}
	}
	if got.snap.State.Schema != 0 && state.Session == "" && state.Status == decide.InProgress {
		v.Notes = append(v.Notes, "no session works it: "+wordsBegin(state.Bind))
	}
	if got.snap.CancelFile && state.Status != decide.Cancelled {
		v.Notes = append(v.Notes, "cancelled; the next stop ends it, or '"+do("resume")+"' takes that back")
	}
	for _, err := range []error{got.snap.ConfigErr, got.snap.List.Err} {
		if err != nil {
			v.Notes = append(v.Notes, plain.Line(err.Error(), 300))
		}
	}
	if !v.Protected {
		v.Notes = append(v.Notes, "unprotected: the record is in the project, where an agent can write, so nothing is trusted")
	}
	v.Notes = append(append(v.Notes, wordsConfigNotes(got)...), wordsMuted(got)...)
	if checks, _ := ownChecks(got.snap.List); len(checks) > 0 && !got.config.Own {
		v.Notes = append(v.Notes, fmt.Sprintf("the list brings %s of its own, which nobody has trusted; to look at them and accept: %s", plural(len(checks), "check"), do("trust")))
	}
	v.Status, v.ExitReason, v.Needs = state.Status, state.ExitReason, state.Needs
	v.Iteration, v.MaxIterations = state.Iteration, state.Limit(got.snap.Limits)
	v.Features, v.Session = counts(got.snap.List, v.proof(got, state)), state.Session
	v.StartedAt, v.EndedAt, v.RetryAt = instant(state.StartedAt), instant(state.EndedAt), instant(state.RetryAt)
	if v.Checks == 0 {
		got.snap.Limits.CheckFailures = 0
	}
	v.Limits = limitsOf(state, got.snap.Limits, time.Now())
	if v.Stale = stale(got.snap); v.Stale {
		v.Notes = append(v.Notes, "stale: its client died without a word. Resume that session, or give the loop's prompt to a new one. ('status --send-due' ends it and tells the notifiers)")
	}
	if item, open := got.snap.List.Next(); open {
		v.Next = plain.Line(strings.TrimSpace(item.ID+" "+nameOf(item)), 120)
	}
	if state.WaitingFor != "" {
		v.Waiting = &waiting{state.WaitingFor, state.WaitingSince, state.WaitingSince.Add(got.snap.Limits.MaxWait)}
	}
	if r := state.Running; r != nil && proc.Alive(r.PID, r.Start) {
		v.Running = fmt.Sprintf("%s since %s", r.What, wordsClock(r.Since))
	}
	if len(state.Notices) > 0 {
		v.Notice = "sent"
	}
	if slices.ContainsFunc(state.Notices, unsent) {
		v.Notice = "pending"
	}
	v.ClientRuns = state.Session != "" && got.snap.OwnerKnown && got.snap.OwnerAlive
	v.Verdicts = lastVerdicts(s)
	v.Then = wordsThen(v)
	return v, nil
}
