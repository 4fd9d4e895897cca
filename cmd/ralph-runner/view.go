package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// view shows a run: lines that stay and, in a terminal, one line below them that changes in place.
type view struct {
	out     io.Writer // for the lines that stay
	screen  cli.Screen
	verbose bool
	last    *changingLine // nil: there is no terminal

	mu         sync.Mutex // guards what follows: the line is drawn in another goroutine
	now        now
	activities map[int]agent.Activity // by lane, 0 without lanes
	lanes      map[int]now            // of the lanes that work
	far        string                 // how many features of all pass, and how fast; "": not known yet
	since      time.Time              // when the first session began
	passed     int                    // features that passed then
}

// now is what the changing line shows.
type now struct {
	agent, feature   string
	iteration, limit int
	began            time.Time // the session; zero: none runs
	spent            record.Sum
	until            time.Time // for a wait; zero: none
	why              string
}

// newView returns a view on w.
func newView(k *runner, w io.Writer) *view {
	v := &view{out: w, screen: cli.NewScreen(w, k.Env.Get), verbose: k.verbose,
		activities: map[int]agent.Activity{}, lanes: map[int]now{}}
	if term.IsTerminal(int(os.Stdout.Fd())) && k.Env.Get("TERM") != "dumb" {
		v.last = newChangingLine(os.Stdout, v.line)
		v.out = v.last
	}
	return v
}

// close takes the changing line away.
func (v *view) close() {
	if v.last == nil {
		return
	}
	v.last.close()
	v.last = nil
	v.out = v.screen.Writer
}

// printf shows a line that stays. In a terminal it begins with the time of day, and is broken between words.
func (v *view) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if v.last != nil {
		text = v.last.fold(time.Now().Format("15:04  "), text)
	}
	fmt.Fprintln(v.out, text)
}

// line says what goes on now.
func (v *view) line(at time.Time) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := v.now
	if len(v.lanes) > 0 {
		return v.lanesLine(at)
	}
	head := v.head()
	switch {
	case !n.until.IsZero():
		return fmt.Sprintf("%s · waits %s more · %s", head, clock(n.until.Round(0).Sub(at.Round(0))), n.why)
	case n.began.IsZero():
		return head + " · checks"
	}
	parts := []string{head}
	if n.feature != "" {
		parts = append(parts, n.feature)
	}
	parts = append(parts, clock(at.Sub(n.began)))
	if n.spent.CostKnown {
		parts = append(parts, plain.Dollars(n.spent.CostUSD, n.spent.Estimated))
	}
	if does := cmp.Or(v.activities[0].Tool, v.activities[0].Text); does != "" {
		parts = append(parts, does)
	}
	return strings.Join(parts, " · ")
}

// head begins the line: who works, and how far it is.
func (v *view) head() string {
	head := fmt.Sprintf("[%s] ", v.now.agent)
	if v.far != "" {
		head += v.far + " · "
	}
	return head + fmt.Sprintf("iteration %d/%d", v.now.iteration, v.now.limit)
}

// lanesLine says what the lanes do.
func (v *view) lanesLine(at time.Time) string {
	n := v.now
	parts := []string{v.head()}
	if n.spent.CostKnown {
		parts = append(parts, plain.Dollars(n.spent.CostUSD, n.spent.Estimated))
	}
	for _, number := range slices.Sorted(maps.Keys(v.lanes)) {
		one := v.lanes[number]
		does := fmt.Sprintf("%d: %s %s %s", number, one.feature, clock(at.Sub(one.began)), v.activities[number].Tool)
		parts = append(parts, strings.TrimSpace(does))
	}
	return strings.Join(parts, " · ")
}

// inLane begins a line about a session that is in a lane.
func inLane(lane int) string {
	if lane == 0 {
		return ""
	}
	return fmt.Sprintf("lane %d · ", lane)
}

// clock shows a time that runs.
func clock(d time.Duration) string { return max(0, d).Round(time.Second).String() }

// set changes what the changing line shows.
func (v *view) set(change func(*now)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.now)
}

// Begin says which run works which loop.
func (v *view) Begin(r record.Run) {
	with := plain.Line(r.Options.Agent, 80)
	if r.Chain != nil {
		with = "the chain " + plain.Line(r.Chain.Definition, 300)
	}
	if r.Options.Branch != "" {
		with += " on the branch " + plain.Line(r.Options.Branch, 200)
	}
	v.printf("run %s works on the loop %s with %s", r.ID, plain.Line(r.Name, 100), with)
}

// Step says which step works, and when it is over.
func (v *view) Step(r record.Run) {
	step := r.Step()
	v.printf("step %d/%d · %s · at most %s, %s", r.Chain.At+1, len(r.Chain.Steps), plain.Line(step.Agent, 80),
		plain.Count(step.Limit, "iteration"), step.Until())
}

// ShowJudgement says what became of the step with the session that has ended.
func (v *view) ShowJudgement(r record.Run, part record.Part) {
	switch step := r.Step(); {
	case step.Loop && len(part.Checks) == 0: // the loop says how it stands
	case part.Done && !step.Job && !step.Reviews && !step.Loop: // it is done if the loop is complete, too
		v.printf("  %s says that its part is done", plain.Line(step.Agent, 80))
	case part.Done:
		v.printf("  the part of %s is done", plain.Line(step.Agent, 80))
	case part.Failed != "":
		v.printf("  the part of %s is not done: its check failed", plain.Line(step.Agent, 80))
	default:
		v.printf("  %s does not say that its part is done", plain.Line(step.Agent, 80))
	}
}

// Check says which check of a step runs.
func (v *view) Check(line string) { v.printf("  checks its part: %s", plain.Line(line, 200)) }

// Session says what the next session is about.
func (v *view) Session(r record.Run, c *record.Current, s *loop.Step, title string) {
	limit := s.Decision.Limit
	feature := strings.TrimSpace(plain.Line(c.Feature, 80) + " " + plain.Line(title, 100))
	v.set(func(n *now) {
		*n = now{
			agent: plain.Line(r.AgentOf(c), 40), feature: plain.Line(c.Feature, 40), iteration: c.Iteration, limit: limit,
			began: time.Now(), spent: r.Spent,
		}
		v.counts(s)
		v.activities[c.Lane] = agent.Activity{}
		if c.Lane > 0 {
			v.lanes[c.Lane] = *n
		}
	})
	if feature != "" {
		feature = " · " + feature
	}
	if c.Why != "" {
		who := strings.TrimSpace(c.Agent + " " + c.Model)
		feature += fmt.Sprintf(" · %s: %s", plain.Line(who, 160), plain.Line(c.Why, 200))
	}
	if step := r.Step(); step != nil {
		feature = fmt.Sprintf(" · %s %d/%d", plain.Line(step.Agent, 80), step.Iterations+1, step.Limit) + feature
	}
	v.printf("%siteration %d/%d%s", inLane(c.Lane), c.Iteration, limit, feature)
}

// maxShown is how many characters of an agent's text are shown on a line.
const maxShown = 1000

// ShowActivity shows what the agent does.
func (v *view) ShowActivity(lane int, h agent.Activity) {
	h.Tool, h.Text = plain.Line(h.Tool, maxShown), plain.Line(h.Text, maxShown)
	v.mu.Lock()
	was := v.activities[lane]
	v.activities[lane] = h
	v.mu.Unlock()
	if was.KeySource != h.KeySource && h.KeySource != "" && h.KeySource != "none" && v.verbose {
		v.printf("  the agent's key comes from %s", plain.Line(h.KeySource, 80))
	}
	if !v.verbose {
		return
	}
	if h.Tool != "" && h.Tool != was.Tool {
		v.printf("  %s%s", inLane(lane), h.Tool)
	}
	if h.Text != "" && h.Text != was.Text {
		v.printf("  %s%s", inLane(lane), h.Text)
	}
}

// ShowEnd says how the session ended.
func (v *view) ShowEnd(r record.Run, c *record.Current, e agent.Result) {
	v.set(func(n *now) {
		n.began = time.Time{}
		n.spent = r.Spent
		delete(v.lanes, c.Lane)
	})
	how := plain.Line(string(e.Class), 40)
	if e.Class == agent.Done { // its work is not proven yet
		how = "ended"
	}
	text := fmt.Sprintf("  %s%s after %s", inLane(c.Lane), how, plain.Duration(e.Took))
	if c.Worker != "" {
		text += " on " + plain.Line(c.Worker, 80)
	}
	if e.Problem != "" {
		text += ": " + plain.Line(e.Problem, maxShown)
	}
	text += " · " + record.Used(e.Usage)
	if e.Denied > 0 {
		text += " · the agent's permissions refused " + plain.Count(e.Denied, "tool call")
	}
	v.printf("%s", text)
}

// ShowMerge says what became of a lane's work.
func (v *view) ShowMerge(lane int, feature, branch, why string) {
	text := "is merged"
	switch {
	case branch != "":
		text = fmt.Sprintf("waits for a person on the branch %s: %s", plain.Line(branch, 150), plain.Line(why, 300))
	case why != "":
		text = "is not merged: " + plain.Line(why, 300)
	}
	v.printf("  %s%s %s", inLane(lane), cmp.Or(plain.Line(feature, 80), "the work"), text)
}

// ShowCommit says what a run without lanes has committed.
func (v *view) ShowCommit(commit, why string) {
	if commit != "" {
		v.printf("  committed %s", commit[:min(12, len(commit))])
	}
	if why != "" {
		v.printf("  not committed: %s", plain.Line(why, 500))
	}
}

// ShowCount says how the loop stands.
func (v *view) ShowCount(s *loop.Step) {
	v.set(func(*now) { v.counts(s) })
	if s.Decision.Lane > 0 && s.Decision.Verdict == decide.Wait {
		return // the others go on
	}
	a := say.DecisionAnswer(s.Picture, s.Decision)
	if text := strings.TrimPrefix(a.Message, "ralph: "); text != "" && !a.End {
		v.printf("  %s%s", inLane(s.Decision.Lane), text)
	}
}

// counts notes how many features pass, and how long each has taken since the run began or went on. The caller holds the
// lock.
func (v *view) counts(s *loop.Step) {
	list := s.Picture.Snapshot.List
	if len(list.Items) == 0 {
		return
	}
	passed, now := list.Passed(), time.Now()
	if v.since.IsZero() {
		v.since, v.passed = now, passed
	}
	v.far = fmt.Sprintf("%d/%d", passed, len(list.Items))
	if done := passed - v.passed; done > 0 {
		v.far += ", " + plain.Duration(now.Sub(v.since)/time.Duration(done)) + " each"
	}
}

// Wait says for what the run waits.
func (v *view) Wait(until time.Time, why string) {
	why = plain.Line(why, maxShown)
	v.set(func(n *now) {
		n.until = until
		n.why = why
		n.began = time.Time{}
	})
	v.printf("  waiting until %s: %s", say.Clock(until), why)
}

// Warn shows a warning.
func (v *view) Warn(text string) { v.printf("warning: %s", plain.Line(text, 500)) }

// maxFeatures is how many features the end of a run names.
const maxFeatures = 10

// End shows the summary. What a person has to know comes last.
func (v *view) End(s record.Summary) {
	v.close()
	screen := v.screen
	fmt.Fprintln(screen)
	screen.Row("run", s.RunID)
	screen.Row("branch", s.Branch)
	screen.Row("iterations", fmt.Sprintf("%d, in %s", s.Iterations, plain.Count(s.Sessions, "session")))
	screen.Row("time", plain.Duration(s.Took))
	screen.Row("used", s.Spent)
	if s.Denied > 0 {
		screen.Row("refused", plain.Count(s.Denied, "tool call")+", by the agent's permissions")
	}
	if s.Problem != "" {
		screen.Row("last", s.Problem)
	}
	var steps, changes, features []string
	for _, step := range s.Steps {
		if step.Status == "" {
			steps = append(steps, plain.Line(step.Agent, 80)+": "+step.Ended())
			continue
		}
		steps = append(steps, fmt.Sprintf("%s: %s, %d of %s, %s, %s", plain.Line(step.Agent, 80), step.Ended(),
			step.Iterations, plain.Count(step.Limit, "iteration"), plain.Duration(step.Took), record.Bill(step.Spent)))
	}
	for _, one := range s.Switches {
		who := strings.TrimSpace(one.Agent + " " + one.Model)
		changes = append(changes, fmt.Sprintf("session %d: %s: %s", one.Session, who, one.Why))
	}
	for _, w := range s.Worst() {
		text := fmt.Sprintf("%s: %s, %s, %s", s.Feature(w.Feature), plain.Count(w.Attempts, "attempt"),
			plain.Duration(w.Took), record.Bill(w.Spent))
		if w.Checks != "" {
			text += ", " + w.Checks
		}
		features = append(features, text)
	}
	v.rows("steps", steps)
	v.rows("changes", changes)
	if more := len(features) - maxFeatures; more > 0 {
		features = append(features[:maxFeatures], fmt.Sprintf("and %d more, in %s", more, s.File))
	}
	v.rows("features", features)
	v.rows("to merge", s.ToMerge)
	screen.Row("logs", s.Logs)
	fmt.Fprintln(screen)
	fmt.Fprintln(screen, screen.Fold(s.Ending))
}

// rows shows rows below one label.
func (v *view) rows(label string, rows []string) {
	for i, text := range rows {
		if i > 0 {
			label = ""
		}
		v.screen.Row(label, text)
	}
}
