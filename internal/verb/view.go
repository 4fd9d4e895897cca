package verb

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Status is how a loop stands, as `status --json` shows it.
type Status struct {
	Name          string            `json:"name"`
	Status        decide.Status     `json:"status"`     // IN_PROGRESS, or how it ended
	ExitReason    string            `json:"exitReason"` // why it ended; "": it has not
	Iteration     int               `json:"iteration"`
	MaxIterations int               `json:"maxIterations"`
	NoList        bool              `json:"noList"` // the loop has no features
	Features      decide.Counts     `json:"features"`
	SetAside      []Failed          `json:"setAside"`          // at most 20
	Checks        int               `json:"checks"`            // how many the loop has
	Running       string            `json:"running"`           // the checks in progress
	Withheld      string            `json:"withheld"`          // variables withheld from the last checks
	Confined      string            `json:"confined"`          // where checks can write; "": wherever you can
	ToMerge       string            `json:"toMerge,omitempty"` // unmerged work of lanes
	Uncommitted   string            `json:"uncommitted"`       // why proven work is not committed
	NotUsed       string            `json:"notUsed"`           // changed files that the checks do not use
	Next          string            `json:"next"`              // the next feature
	Lanes         []Lane            `json:"lanes,omitempty"`
	List          string            `json:"list"`                // its path
	Session       string            `json:"session"`             // the session that works on it; "": none
	Phase         Phase             `json:"phase"`               // working, STUCK, waiting, needs you, never begun, ended
	PhaseSince    time.Time         `json:"phaseSince,omitzero"` // zero: not known
	Silent        []Sign            `json:"silent,omitempty"`    // sessions silent for ten minutes
	Doom          string            `json:"doom"`                // the ending it cannot avoid; "": it need not
	Limits        []decide.Standing `json:"limits"`              // active limits
	Needs         string            `json:"needs"`               // what a person must do
	RetryAt       string            `json:"retryAt"`             // when a limit resets
	Waits         *Waits            `json:"waiting"`             // null: none
	Loop          string            `json:"loop"`                // its folder
	Protected     bool              `json:"protected"`           // whether the record is outside the project
	StartedAt     string            `json:"startedAt"`
	EndedAt       string            `json:"endedAt"`
	Notice        string            `json:"notice"`     // for the last ending: "", "sent" or "pending"
	Notes         []string          `json:"notes"`      // for a person
	Verdicts      []Verdict         `json:"verdicts"`   // for the last stops, newest first
	Then          string            `json:"then"`       // the next step for a person
	Command       string            `json:"command"`    // the command for then, to copy; "": there is none
	ClientRuns    bool              `json:"clientRuns"` // whether the session's process is known to run
	Spent         *Spent            `json:"spent"`      // by the last run; null: it had none
	Failed        *Checked          `json:"failed"`     // the last check that failed and has not passed since; null: none
	Checked       []Checked         `json:"-"`          // the last checks that ran, the latest first
	Unmerged      []string          `json:"-"`          // what a person is to do about each branch with such work

	broken  string // what is wrong with the list or with ralph.json; "": nothing
	trouble string // why the last stop could not do its work; "": it did
	last    string // what went wrong in the last session of its run; "": nothing
	notTold string // the notifier that failed at the last ending, with its outcome; "": none
	unheard string // why no stop reaches the loop; "": one may
	stopped int    // the process that works it, if that was stopped; 0: it runs, or there is none

	signs []Sign    // of the sessions that work on it
	stuck time.Time // since when all of them are silent, and nothing else is known to work on it; zero: it is not so
}

// Unreadable is the status of a loop that cannot be read.
func Unreadable(env loop.Env, at *loopdir.Loop, err error) Status {
	v := Status{
		Name: plain.Line(at.Name, 100), Status: "UNKNOWN", Loop: plain.Line(at.Dir, 4096),
	}
	text := err.Error()
	var fix *loopdir.Fix
	if errors.As(err, &fix) {
		text = strings.TrimSuffix(text, "; run: "+fix.Run)
		v.Then = plain.Line(fix.Run, 800)
	}
	v.Notes = []string{plain.Line(text, 500)}
	if at.Restorable() {
		v.Then = loop.InProject(env, at, "ralph-stop-hook init "+plain.Arg(at.Name))
		if why, _ := say.HookProblem(env, at); why != "" {
			v.Notes = append(v.Notes, why)
		}
	}
	v.Command = v.Then
	return v
}

// Of looks at an open loop.
func Of(l *loop.Loop) (Status, error) {
	p, err := l.Look()
	if err != nil {
		return Status{}, err
	}
	v := Quick(p)
	v.NotUsed = say.FilesNotCounted(p)
	if v.NotUsed != "" {
		trust := loop.InProject(l.Env, l.At, l.Call("trust"))
		v.Notes = append(v.Notes, fmt.Sprintf("not counted: %s; to have that count: %s", v.NotUsed, trust))
	}
	if lock := worktree.CutOff(l.At.Project); lock != "" {
		v.Notes = append(v.Notes, fmt.Sprintf("a run was killed while it committed, so git's index is locked, by %s; its "+
			"next commit ends that", plain.Line(lock, 300)))
	}
	return v, nil
}

// toMerge says what a person is to do now so that their branch has all that the run has merged, and with which command
// they begin. Both are "" if it has all.
func (r *ran) toMerge(p *loop.Picture) (why, command string) {
	begun := r.Merges.Behind != "" || r.Merges.Commit != "" && !r.runs()
	if !begun || !p.Lacks(r.Merges.Into, "refs/heads/ralph/"+r.ID) {
		return "", ""
	}
	l, branch := p.Loop, plain.Line(r.Merges.Into, 200)
	command = say.Merge(r.Merges.Commit)
	steps := command
	elsewhere := tree.Branch(proc.EnvOutside(l.Env.Vars, l.At.Project), l.At.Project) != branch
	if elsewhere {
		command = "git switch " + plain.Arg(branch)
		steps = command + "; then: " + steps
	}
	why = plain.Line(r.Merges.Behind, 500)
	if elsewhere || r.Merges.Away || why == "" { // what the record says was so when the run ended
		why = fmt.Sprintf("%s has not all of ralph/%s; type: %s", branch, plain.Line(r.ID, 40), steps)
	}
	return why, loop.InProject(l.Env, l.At, command)
}

// unmerged says of each branch with work that nobody has merged what a person is to do, and with which command they
// begin. r may be nil.
func (r *ran) unmerged(p *loop.Picture) (all []string, command string) {
	if r == nil {
		return nil, ""
	}
	why, command := r.toMerge(p)
	if why != "" {
		all = append(all, why)
	}
	for _, one := range slices.Concat(r.Lanes, r.Workspaces) {
		why := one.WaitReason
		if one.Open && !r.runs() {
			why = cmp.Or(why, "the run ended before it was merged")
		}
		if why != "" && p.Lacks(r.Merges.Into, "refs/heads/"+one.Branch) {
			feature := cmp.Or(plain.Line(one.Feature, 80), "other work")
			all = append(all, fmt.Sprintf("%s waits on the branch %s: %s", feature, plain.Line(one.Branch, 150),
				plain.Line(why, 300)))
		}
	}
	for _, one := range r.Unmerged {
		if p.Lacks(one.Into, "refs/heads/"+one.Name) {
			all = append(all, say.Unmerged(one.Name, one.Into))
		}
	}
	return all, command
}

// Quick returns the status of a loop that was read, without a look at the work tree. It starts git only if a run has
// left work beside a branch.
func Quick(p *loop.Picture) Status {
	l := p.Loop
	s := &p.Snapshot
	state := s.Record()
	v := Status{
		Name: plain.Line(l.At.Name, 100), Loop: plain.Line(l.At.Dir, 4096), List: plain.Line(p.ListName(), 4096),
		Status: state.Status, ExitReason: state.ExitReason, Needs: state.Needs, Session: state.Session,
		Withheld:  state.Withheld,
		Iteration: state.Iteration, MaxIterations: state.Limit(s.Limits), NoList: s.NoList,
		StartedAt: plain.Instant(state.StartedAt), EndedAt: plain.Instant(state.EndedAt),
		RetryAt:   plain.Instant(state.RetryAt),
		Protected: l.Store.Protected || s.State.Schema == 0, Checks: len(s.Checks),
		ClientRuns: state.Session != "" && s.OwnerKnown && s.OwnerAlive, Verdicts: Verdicts(l, shownVerdicts),
	}
	if p.Config.Confine {
		v.Confined = plain.Line(say.ConfinedTo(p.Config.Config), 500)
	}
	v.Features = s.Counts(state)
	var doom decide.Decision
	v.Doom, doom = say.Doom(p)
	text, _ := l.Store.OpenLog(loopdir.HookLog, 100)
	v.trouble = loop.LastTrouble(string(text))
	v.notTold = loop.FailedNotifier(string(text))
	v.Notes = notes(p, state, &v)
	limits := s.Limits
	if v.Checks == 0 {
		limits.CheckFailures = 0
	}
	v.Limits = decide.InForce(state, limits, time.Now())
	var item features.Item
	v.SetAside = setAside(s)
	v.Lanes, item = lanes(s)
	if item.ID != "" {
		v.Next = plain.Line(strings.TrimSpace(item.ID+" "+Title(item)), 120)
	}
	run := lastRun(p)
	if run != nil {
		v.Spent = &run.Spent
		v.Uncommitted = plain.Line(run.Commits.Uncommitted, 500)
		v.last = run.wrong(state)
	}
	v.Checked = nameChecks(Checks(l, MaxChecked), s.Checks)
	v.Failed = lastFailure(v.Checked)
	v.Waits = waits(p, state, run)
	v.stopped = stoppedOf(state, run)
	if r := p.Checking(); r != nil {
		v.Running = fmt.Sprintf("%s since %s", r.What, say.Clock(r.Since))
	}
	if len(state.Notices) > 0 {
		v.Notice = "sent"
	}
	if slices.ContainsFunc(state.Notices, func(n decide.Notice) bool { return !n.Sent() }) {
		v.Notice = "pending"
	}
	v.listen(run.signs(p))
	v.Phase, v.PhaseSince = phase(&v, p, state, run)
	switch {
	case !v.Works():
		v.listen(nil, true)
	case v.Running != "", v.Phase == Waiting:
		v.Silent = nil // its session has to wait
	}
	do := func(verb string) string { return loop.InProject(l.Env, l.At, l.Call(verb)) }
	v.Then = then(v, doom, p, run, do)
	v.Command = command(v.Then, l.Env, state.Client)
	merge := ""
	v.Unmerged, merge = run.unmerged(p)
	v.ToMerge = strings.Join(v.Unmerged, "; ")
	if v.Status == decide.Complete && v.ToMerge != "" {
		v.Then, v.Command = v.ToMerge, merge
	}
	return v
}

// command returns the first command of a sentence of then, without what is said about it.
func command(then string, env loop.Env, client string) string {
	ask, _ := env.Clients(client)
	for step := range strings.SplitSeq(then, "; then: ") {
		for _, more := range []string{
			"; or in ", "; or with ", ", since ", " (idle since ", "; the first ", ", or ", ", after ", " shows ",
		} {
			step, _, _ = strings.Cut(step, more)
		}
		for _, program := range append(ask[:min(1, len(ask))], env.Program, "ralph-runner", "cd") {
			isOpen := strings.Contains(step+" ", " NAME ") || strings.HasSuffix(step, " ANSWER") // which a person chooses
			if strings.HasPrefix(step, program+" ") && !isOpen {
				return step
			}
		}
	}
	return ""
}

func notes(p *loop.Picture, state decide.State, v *Status) []string {
	notes := []string{}
	s := &p.Snapshot
	l := p.Loop
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case s.State.Schema != 0:
	case s.Brought != "":
		add("not started: %s; '%s' starts it", s.Brought, p.Resume(state))
	default:
		add("not started: %s", say.Begin(s.Bind))
	}
	if s.State.Schema != 0 && state.Session == "" && state.Status == decide.InProgress {
		add("no session works on it: %s", say.Begin(state.Bind))
	}
	if asked := s.RequestedStatus(); asked != decide.InProgress && state.Status.GoesOn() {
		add("%s; the next stop ends it, or '%s' takes that back", strings.ToLower(string(asked)), p.Resume(state))
	}
	if lowered := p.Agent.Lowered.For(s.State).String(); lowered != "" {
		add("the agent has lowered %s; that ends with its session", lowered)
	}
	if v.Doom != "" {
		add("%s", v.Doom)
	}
	if unchecked := say.Unchecked(p); unchecked != "" && v.Doom == "" {
		add("%s", unchecked)
	}
	for _, err := range []error{s.ConfigErr, s.List.Err} {
		if err != nil && v.Doom == "" {
			add("%s", plain.Line(err.Error(), 300))
			short := strings.ReplaceAll(err.Error(), l.At.Dir+string(filepath.Separator), "")
			if v.ExitReason == decide.Unusable {
				v.Needs = "" // the note says it
			}
			v.broken = plain.Line(strings.ReplaceAll(short, l.At.Project+string(filepath.Separator), ""), 300)
		}
	}
	if len(s.List.Changes) > 0 {
		add("%s", say.ListDiffers(p))
	}
	notes = append(notes, say.ListNotes(s.List.List, say.ShownNotes)...)
	if !v.Protected {
		add("unprotected: the record is in the project, where an agent can write, so nothing is trusted")
	}
	notes = append(notes, say.ConfigNotes(p)...)
	for _, err := range p.MutedNotifiers(background()) {
		add("%s", err)
	}
	if v.trouble != "" {
		add("the last stop gave up: %s", v.trouble)
	}
	if cut := say.CutOff(p); cut != "" {
		add("%s", cut)
	}
	if why, _ := say.LoopHookProblem(p, state); why != "" && state.Status.GoesOn() {
		add("%s", why)
		v.unheard = why
	}
	if p.Stale() {
		add("its client was closed or killed ('status --send-due' ends the loop and tells the notifiers)")
	}
	if state.Waits && state.Status == decide.InProgress {
		add("it continues, but no session works on it yet")
	}
	return notes
}

// Verdict is a line of stops.jsonl, which an agent can write, too.
type Verdict struct {
	Time      time.Time `json:"time"`
	Verdict   string    `json:"verdict"` // what the hook decided
	Iteration int       `json:"iteration"`
	Reason    string    `json:"reason"`
	Feature   string    `json:"feature"`
}

// shownVerdicts is how many of the last verdicts are shown.
const shownVerdicts = 3

// Verdicts returns the last n verdicts of a loop, the latest first.
func Verdicts(l *loop.Loop, n int) []Verdict {
	verdicts := []Verdict{}
	text, _ := l.Store.OpenLog(loopdir.StopLog, n)
	for line := range bytes.Lines(text) {
		var v Verdict
		if json.Unmarshal(line, &v) == nil {
			v.Verdict = plain.Line(v.Verdict, 20)
			v.Reason = plain.Line(v.Reason, 40)
			v.Feature = plain.Line(v.Feature, 80)
			verdicts = append(verdicts, v)
		}
	}
	slices.Reverse(verdicts)
	return verdicts
}

// String shows the verdict in one line.
func (v Verdict) String() string {
	text := fmt.Sprintf("%s %s, iteration %d", say.Clock(v.Time), v.Verdict, v.Iteration)
	for _, more := range []string{v.Reason, v.Feature} {
		if more != "" {
			text += ", " + more
		}
	}
	return text
}

// then returns what a person should do now.
func then(v Status, doom decide.Decision, p *loop.Picture, run *ran, do func(verb string) string) string {
	state := p.Snapshot.Record()
	state.Bind = cmp.Or(state.Bind, p.Snapshot.Bind)
	works := v.Status == decide.InProgress
	resume := typed(p, p.Resume(state))
	report := loop.InProject(p.Loop.Env, p.Loop.At, "ralph-runner report "+plain.Arg(p.Loop.At.Name)) +
		" shows what was done"
	first := ""
	if p.Snapshot.Untrusted {
		first = do("trust") + "; then: "
	}
	switch {
	case v.Phase == Stuck && run.runs():
		return "look at its log; '" + do("pause") + " --now' stops its agent, and '" + resume + "' starts another"
	case v.Phase == Stuck:
		return "look at the terminal of its session; '" + do("cancel") + "' ends the loop"
	case !works && v.Phase == Working:
		return "none: it is over when the session of its run ends ('" + resume + "' takes that back)"
	case v.Doom != "":
		v.Doom = ""
		goOn := say.GoOn(p, state)
		if now, _ := phase(&v, p, state, run); now == Working { // its stop is still to come
			goOn = "the loop continues by itself"
		}
		if works && p.Snapshot.Brought != "" {
			goOn = resume
		}
		v.Status, v.ExitReason = doom.Next.Status, doom.Next.ExitReason
		return fix(v, p, do) + "; then: " + goOn
	case works && p.Snapshot.Brought != "", v.Status == decide.Paused, v.Status == decide.Cancelled:
		return resume
	case works && v.stopped > 0:
		return fmt.Sprintf("type fg in its terminal: its process %d is stopped", v.stopped)
	case works && v.Phase == NeedsYou && (!state.Idle.IsZero() || p.Snapshot.CutOff != nil) && !v.PhaseSince.IsZero():
		return first + say.GoOn(p, state) + " (idle since " + say.Clock(v.PhaseSince) + ")"
	case works && (v.Phase == NeedsYou || v.Phase == NotStarted):
		return first + say.GoOn(p, state)
	case v.Status == decide.Interrupted, v.Status == decide.Handover:
		return first + prompted(p, state)
	case works && first != "":
		return do("trust") + ", since nobody has trusted its commands"
	case works && v.Phase == Waiting && run != nil && run.Waiting != nil && run.Waiting.Worker:
		return loop.InProject(p.Loop.Env, p.Loop.At, say.NewWorker(p.Loop.At.Name)) + ", or start one that was let in"
	case works && v.Phase == Waiting:
		return "none: the loop goes on by itself"
	case works:
		return "none: the loop continues by itself ('" + do("pause") + "' stops it after this turn)"
	case v.ExitReason == decide.AllFeaturesPass && v.Features.Passed < v.Features.Total:
		return resume + ", since features are open again"
	case v.Status == decide.Complete && v.Features.Proven < p.Snapshot.Provable():
		return resume + fmt.Sprintf(", since only %d of %d features are proven now", v.Features.Proven,
			v.Features.Total)
	case v.Status == decide.Complete && v.Needs != "":
		return report + "; look at it, since " + v.Needs
	case v.Status == decide.Complete:
		return report
	case v.ExitReason == decide.Budget:
		return loop.InProject(p.Loop.Env, p.Loop.At, say.ResumeRunWith(p, state))
	case v.ExitReason == decide.MaxIterations:
		return typed(p, p.MoreIterations(state))
	case v.ExitReason == decide.Deadline:
		return typed(p, p.MoreTime(state))
	case v.ExitReason == decide.Asks:
		return do("note") + " ANSWER"
	}
	return fix(v, p, do) + "; then: " + resume
}

// prompted returns what a person should do so that a prompt takes up a loop that has stopped.
func prompted(p *loop.Picture, state decide.State) string {
	goOn := say.GoOn(p, state)
	switch decide.Attach(p.Snapshot, "preview").Refusal {
	case decide.Deadline:
		return typed(p, p.MoreTime(state))
	case decide.MaxIterations:
		return typed(p, p.MoreIterations(state))
	case decide.IterationsPerHour:
		return goOn + ", after " + say.Clock(state.RetryAt)
	}
	return goOn
}

// typed returns a sentence that may be a command of ours, which is typed in the loop's project.
func typed(p *loop.Picture, text string) string {
	if strings.HasPrefix(text, p.Loop.Env.Program+" ") {
		return loop.InProject(p.Loop.Env, p.Loop.At, text)
	}
	return text
}

// fix returns what a person should do before `resume`.
func fix(v Status, p *loop.Picture, do func(verb string) string) string {
	switch {
	case v.Status == decide.ReachedLimit:
		return do("log") + " shows what was tried"
	case v.Status == decide.Stagnated:
		return do("log") + " shows where it got stuck"
	case v.ExitReason == decide.Untrusted, v.ExitReason == decide.AllBlocked && p.Snapshot.Untrusted:
		return do("trust")
	case v.ExitReason == decide.CheckTime:
		return say.RaiseTimeout
	case v.ExitReason == decide.AllBlocked && p.Snapshot.State.FailsInProject():
		return do("trust") + ", or put back what does not count"
	case v.ExitReason == decide.AllBlocked:
		return do("list") + " shows why"
	case v.ExitReason == decide.SetAside:
		return do("log") + " shows what failed"
	case v.ExitReason == decide.PermissionDenied:
		return "allow the tool in .claude/settings.json, under \"permissions\""
	case v.Status == decide.Blocked, v.Status == decide.Escalated:
		return "do what it needs"
	}
	return "fix what is wrong"
}

// Failed is a feature that is set aside.
type Failed struct {
	ID       string `json:"id"`
	Attempts int    `json:"attempts"` // failed attempts
	Why      string `json:"why"`      // why the last one failed
}

// maxSetAside is how many features that are set aside are shown.
const maxSetAside = 20

// setAside returns the features that are set aside, in the order of the list.
func setAside(s *decide.Snapshot) []Failed {
	all := []Failed{} // an array in JSON
	ids := s.SetAside()
	for i := range s.List.Items {
		id := s.List.Items[i].ID
		if ids[id] && len(all) < maxSetAside {
			f := s.State.Failures[id]
			all = append(all, Failed{plain.Line(id, 80), f.Attempts, plain.Line(f.Why, 200)})
		}
	}
	return all
}

// Item is an item of a list, as `list --json` shows it.
type Item struct {
	ID    string `json:"id"`
	State string `json:"state"` // proven, claimed, open, set_aside, blocked (cannot be done), dropped (skipped)
	Order int    `json:"order"` // 1 comes next; 0 is not handed out
	Title string `json:"title"`
	Why   string `json:"why"` // why it has to wait, or is not proven
	Model string `json:"model"`
	Added bool   `json:"-"` // it came into the list after a person had trusted it
}

// Blocked is the state of an open feature that nobody can ever work on.
const Blocked = "blocked"

// Title returns a feature's title, or else what is to be done: many lists have no
// titles.
func Title(item features.Item) string { return cmp.Or(item.Title(), item.Description()) }

// Items returns the items of a loop's list. Those that are not work come last.
func Items(p *loop.Picture) []Item {
	l := p.Snapshot.List.List
	items, order := []Item{}, map[string]int{}
	waiting, states, aside := lastRun(p).waiting(), p.Snapshot.FeatureStates(), p.Snapshot.SetAside()
	for _, item := range l.Order() {
		if !aside[item.ID] {
			order[item.ID] = len(order) + 1
		}
	}
	for i, item := range l.Items {
		v := Item{
			ID: item.ID, State: states[i], Order: order[item.ID], Title: Title(item), Model: item.Model(), Added: item.IsAdded,
		}
		if item.IsAdded {
			v.Why = "added after trust, so no check proves it"
		}
		switch {
		case item.Passes:
		case v.State == decide.FeatureSetAside:
			v.Why = p.Snapshot.State.Failures[item.ID].Why
		default:
			v.Why = cmp.Or(l.Why(item), waiting[item.ID], v.Why)
			if v.Order == 0 {
				v.State = Blocked
			}
		}
		items = append(items, v)
	}
	for _, item := range l.Dropped {
		items = append(items, Item{ID: item.ID, State: "dropped", Title: Title(item), Model: item.Model()})
	}
	return items
}
