package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Detail is a loop with all that its files tell of it.
type Detail struct {
	Loop
	Task       string           `json:"task"`
	Items      []Item           `json:"items"`
	Iterations []record.Session `json:"iterations"`       // in order, only the last ones
	Gone       int              `json:"gone"`             // earlier sessions that were removed
	ByLane     []record.LaneSum `json:"byLane,omitempty"` // for a run with lanes
	Checked    []verb.Checked   `json:"checked"`          // newest first
	Log        string           `json:"log"`              // the end of hook.log
	Live       []Live           `json:"live"`             // the current sessions, or else the last one

	Commands []string `json:"-"` // for the actions that make sense now, as a person types them
}

// MoreChecked reports whether there may be checks before those that are shown.
func (d *Detail) MoreChecked() bool { return len(d.Checked) >= verb.MaxChecked }

// Live is a session with what its agent said and did lately.
type Live struct {
	Session
	Lines []string `json:"lines"`
}

// Item is a feature.
type Item struct {
	verb.Item
	Checks   []Receipt     `json:"checks"` // those that proved it
	Failed   bool          `json:"failed"` // whether a check failed and has not passed since
	Attempts int           `json:"attempts"`
	Took     time.Duration `json:"-"`
	TookSec  int64         `json:"tookSec"`
	Spent    record.Sum    `json:"spent"`
}

// Cost says what a feature cost, as far as it is known.
func (i *Item) Cost() string {
	if i.Spent.CostUSD == 0 && !i.Spent.CostKnown {
		return ""
	}
	return record.Cost(i.Spent)
}

// Receipt is a check that passed.
type Receipt struct {
	Name       string    `json:"name"`
	At         time.Time `json:"at"`
	DurationMS int64     `json:"durationMs"`
}

const (
	maxIterations = 10_000  // stops of the hook that are shown
	maxLog        = 20_000  // bytes of hook.log
	maxOutput     = 1 << 20 // bytes of a session's log
	maxSearched   = 1 << 25 // bytes of all of it: as many as are kept
	maxLogLines   = 200     // last lines of a session that works
	linesPerPage  = 500     // lines of a session's log
)

// Open reads a loop in detail.
func Open(env loop.Env, dir string) (*Detail, error) {
	p, err := lookIn(env, dir)
	if err != nil {
		return nil, err
	}
	l := p.Loop
	defer l.Close()
	d := &Detail{Task: plain.Line(p.Config.Task, 500)}
	d.Loop, _ = ofPicture(p)
	d.NotUsed = say.LastFilesNotCounted(p)
	for _, a := range d.Actions() {
		d.Commands = append(d.Commands, a.commandLine(l))
	}
	d.Items = items(p)
	d.Live = []Live{}
	d.Checked = d.Loop.Status.Checked
	d.Log = plain.Text(string(l.Store.LogTail(maxLog)), maxLog)
	if d.Run == nil {
		d.Iterations = stops(verb.Verdicts(l, maxIterations))
		if len(d.Iterations) > 0 {
			d.Gone = max(0, d.Iterations[0].Iteration-2) // the first stop begins the second iteration
		}
		d.sum(sums(d.Iterations))
		d.failing()
		return d, nil
	}
	d.Iterations = record.Sessions(l.At.Project, d.Run.ID)
	d.failing()
	d.ByLane = record.ByLane(d.AllSessions())
	// Lanes end in any order.
	slices.SortStableFunc(d.Iterations, func(a, b record.Session) int { return a.Iteration - b.Iteration })
	d.Gone = max(0, d.Run.Sessions-len(d.Iterations)-len(d.Run.Running()))
	if r, err := record.Load(l.Store); err == nil && r != nil {
		d.sum(r.Work)
		d.Run.ToMerge = d.Unmerged
	}
	d.live(env, l.At, p)
	return d, nil
}

// AllSessions returns the sessions that have ended, and those that run now, until the loop's last sign of life. One
// that is silent has that as its problem.
func (d *Detail) AllSessions() []record.Session {
	all := slices.Clone(d.Iterations)
	for _, one := range d.Run.Running() {
		took := max(time.Second, d.LastSign.Sub(one.StartedAt))
		all = append(all, record.Session{
			Number: one.Number, Lane: one.Lane, Agent: one.Agent, Feature: one.Feature, StartedAt: one.StartedAt,
			EndedAt: one.StartedAt.Add(took), DurationSec: took.Seconds(), Problem: d.SilentIn(one.Lane),
		})
	}
	return all
}

// sum notes what the features took.
func (d *Detail) sum(all []record.Work) {
	of := map[string]record.Work{}
	for _, w := range all {
		of[plain.Line(w.Feature, 80)] = w
	}
	for i := range d.Items {
		w := of[d.Items[i].ID]
		d.Items[i].Attempts, d.Items[i].Took, d.Items[i].Spent = w.Attempts, w.Took, w.Spent
		d.Items[i].TookSec = int64(w.Took.Seconds())
	}
}

// failing notes which features have a check that failed, and did not pass since, as far as the files tell.
func (d *Detail) failing() {
	passed := map[[2]string]bool{} // when it ran last, by feature and what both are called
	for _, i := range d.Iterations {
		for _, c := range i.Checks {
			passed[[2]string{c.Feature, strings.TrimSpace(c.Name + " " + c.Feature)}] = c.Passed
		}
	}
	for _, c := range slices.Backward(d.Checked) {
		passed[[2]string{c.Feature, c.Name}] = c.Passed()
	}
	failed := map[string]bool{}
	for of, did := range passed {
		failed[of[0]] = failed[of[0]] || !did
	}
	for i := range d.Items {
		d.Items[i].Failed = failed[d.Items[i].ID] && d.Items[i].State != decide.FeatureProven
	}
}

// sums returns how many iterations of a loop of the hook were given to each feature. An interrupted one is taken again.
func sums(stops []record.Session) []record.Work {
	var r record.Run
	given := 0
	for _, one := range stops {
		if gives := one.Outcome == string(decide.Take) || one.Counted; gives && one.Iteration != given {
			given = one.Iteration
			r.WorkOn(one.Feature).Attempts++
		}
	}
	return r.Work
}

// items returns the features with what is known of their proofs.
func items(p *loop.Picture) []Item {
	receipts := map[string][]Receipt{}
	for _, r := range p.Snapshot.Receipts {
		if !r.Passed {
			continue
		}
		receipts[r.Feature] = append(receipts[r.Feature], Receipt{plain.Line(r.Name, 80), r.At, r.DurationMS})
	}
	all := []Item{}
	for _, item := range verb.Items(p) {
		one := Item{Item: item, Checks: []Receipt{}}
		if item.State == decide.FeatureClaimed || item.State == decide.FeatureProven {
			one.Checks = append(one.Checks, receipts[item.ID]...)
		}
		one.ID = plain.Line(item.ID, 80)
		one.Title = plain.Line(item.Title, 300)
		one.Why = plain.Line(item.Why, 300)
		one.Model = plain.Line(item.Model, 80)
		all = append(all, one)
	}
	return all
}

// stops returns the iterations of a loop of the hook. The verdicts are the latest first.
func stops(verdicts []verb.Verdict) []record.Session {
	all := make([]record.Session, 0, len(verdicts))
	for i := len(verdicts) - 1; i >= 0; i-- {
		v := verdicts[i]
		all = append(all, record.Session{
			Iteration: v.Iteration, Feature: v.Feature, EndedAt: v.Time, Outcome: v.Verdict, Why: v.Reason,
			Signals: []string{}, Checks: []record.Check{},
			Counted: v.Verdict == string(decide.Continue) || v.Verdict == string(decide.End),
		})
	}
	return all
}

// live reads what the sessions print that run now, or else what the last one has printed.
func (d *Detail) live(env loop.Env, at *loopdir.Loop, p *loop.Picture) {
	running := d.Run.Running()
	if last := d.Run.Sessions; len(running) == 0 && last > 0 {
		running = []Session{{Number: last, Agent: d.Run.agentOf(d.Iterations, last)}}
	}
	for _, one := range running {
		log := record.SessionLog(at.Project, d.Run.ID, one.Number, maxOutput)
		row := rowOf(env, p, one.Agent)
		d.Live = append(d.Live, Live{one, row.LogLines(log, len(log) == maxOutput, maxLogLines)})
	}
}

// agentOf returns the agent of a session of the run, of which some have ended.
func (r *Run) agentOf(ended []record.Session, number int) string {
	for _, one := range r.Running() {
		if one.Number == number {
			return one.Agent
		}
	}
	for _, one := range ended {
		if one.Number == number && one.Agent != "" {
			return one.Agent
		}
	}
	return r.Agent
}

// Agents names the agents that have worked in the run, as far as its sessions are known.
func (d *Detail) Agents() string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, one := range d.Iterations {
		add(one.Agent)
	}
	for _, one := range d.Run.Running() {
		add(one.Agent)
	}
	if len(names) == 0 {
		add(d.Run.Agent)
	}
	return strings.Join(names, ", ")
}

// rowOf returns the row of an agent, which can read what its sessions print.
func rowOf(env loop.Env, p *loop.Picture, name string) agent.Row {
	if agents, err := roster.New(env, p.Loop.At.Project, p); err == nil {
		if row, err := agents.Find(name); err == nil {
			return row
		}
	}
	return agent.Row{Output: agent.OutputText}
}

// lookIn looks at the loop of a folder.
func lookIn(env loop.Env, dir string) (*loop.Picture, error) {
	at, err := env.Where().Recorded(dir)
	if err != nil {
		return nil, err
	}
	return look(env, at)
}

// Log is what the agent of a session said and did, a page of it.
type Log struct {
	Lines []LogLine
	Total int    // lines that are kept
	Found int    // those that have what is searched
	Page  int    // that is shown, from 1
	Pages int    // of those that are found
	Cut   bool   // there was more before what is kept
	Lacks string // why there is no log; "": there is one
}

// LogLine is a line of a log.
type LogLine struct {
	N    int    // from 1
	Page int    // of the whole log that has it
	Kind string // said or tool
	Mark string // before it
	Text string
}

// tool is how a line begins that says what the agent did.
const tool = "→ "

// ReadLog returns a page of what the agent of a session of the last run said and did; the last one for page 0. With a
// query it is one of those lines that have it, whatever their case.
func ReadLog(env loop.Env, dir string, session int, query string, page int) (told Log, err error) {
	p, err := lookIn(env, dir)
	if err != nil {
		return told, err
	}
	defer p.Loop.Close()
	l, _ := ofPicture(p)
	if l.Run == nil {
		told.Lacks = "The loop had no run: its client keeps the conversation."
		_, err := record.Load(p.Loop.Store) // else it had one, whose record cannot be read
		return told, err
	}
	log := record.SessionLog(p.Loop.At.Project, l.Run.ID, session, maxSearched)
	switch {
	case len(log) > 0:
	case session > l.Run.Sessions:
		told.Lacks = "The last run had no such session."
	case slices.ContainsFunc(l.Run.Running(), func(s Session) bool { return s.Number == session }):
		told.Lacks = "The session has printed nothing yet."
	default:
		told.Lacks = "The log of this session is empty, or is gone."
	}
	told.Cut = len(log) == maxSearched
	by := l.Run.agentOf(record.Sessions(p.Loop.At.Project, l.Run.ID), session)
	lines := rowOf(env, p, by).LogLines(log, told.Cut, len(log)+1)
	told.Total = len(lines)
	wanted := []int{}
	for i, line := range lines {
		if query == "" || strings.Contains(strings.ToLower(line), strings.ToLower(query)) {
			wanted = append(wanted, i)
		}
	}
	told.Found = len(wanted)
	told.Pages = max(1, (told.Found+linesPerPage-1)/linesPerPage)
	told.Page = max(1, min(page, told.Pages))
	if page == 0 {
		told.Page = told.Pages
	}
	for _, i := range wanted[(told.Page-1)*linesPerPage : min(told.Page*linesPerPage, told.Found)] {
		one := LogLine{N: i + 1, Page: i/linesPerPage + 1, Kind: "said", Text: lines[i]}
		if text, is := strings.CutPrefix(lines[i], tool); is {
			one.Kind, one.Mark, one.Text = "tool", strings.TrimSpace(tool), text
		}
		told.Lines = append(told.Lines, one)
	}
	return told, nil
}
