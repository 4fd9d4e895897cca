package watch

import (
	"cmp"
	"context"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Detail is a loop with all that its files tell of it.
type Detail struct {
	Loop
	Task       string           `json:"task"`
	Items      []Item           `json:"items"`
	Iterations []record.Session `json:"iterations"`       // the first one first; the files keep only the last ones
	ByLane     []record.LaneSum `json:"byLane,omitempty"` // of a run with lanes
	Checked    []verb.Checked   `json:"checked"`          // the last checks that ran, the latest first
	Log        string           `json:"log"`              // the end of hook.log
	Output     []string         `json:"output"`           // what the agent of the last session said and did

}

// Item is a feature. State is open, claimed, proven, stale, blocked or dropped.
type Item struct {
	verb.Item
	Checks []Receipt `json:"checks"` // that have proven it
}

// The states of an item that are not those of `list`.
const (
	Claimed = "claimed" // the list says that it passes, and no check has proven that
	Proven  = "proven"
	Stale   = "stale" // proven, but files have changed since
)

// Receipt is a check that passed.
type Receipt struct {
	Name       string    `json:"name"`
	At         time.Time `json:"at"`
	DurationMS int64     `json:"durationMs"`
}

const (
	maxIterations = 10_000  // stops of the hook that are shown
	maxChecked    = 30      // checks
	maxLog        = 20_000  // bytes of hook.log
	maxOutput     = 1 << 20 // bytes of a session's log
	maxTold       = 200     // lines of a session
)

// Open reads a loop in detail. tree says whether the work tree is hashed: only then is it known which proofs are stale.
// That takes git, and about a second in a large project.
func Open(ctx context.Context, env loop.Env, dir string, tree bool) (*Detail, error) {
	at, err := env.Where().Recorded(dir)
	if err != nil {
		return nil, err
	}
	l, err := open(env, at)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	p, err := l.Look()
	if err != nil {
		return nil, err
	}
	d := &Detail{Task: plain.Line(p.Config.Task, 500)}
	d.Loop, _ = read(env, at)
	if tree && len(p.Snapshot.Checks) > 0 && !p.Snapshot.NoList {
		p.Snapshot.Contents = p.Contents(ctx)
		d.StaleProofs = p.Snapshot.Proof().Stale
	}
	d.Items = items(p)
	d.Checked = verb.Checks(l, maxChecked)
	d.Log = plain.Text(string(l.Store.LogTail(maxLog)), maxLog)
	if d.Run == nil {
		d.Iterations = stops(verb.Verdicts(l, maxIterations))
		return d, nil
	}
	d.Iterations = record.Sessions(at.Project, d.Run.ID)
	d.ByLane = record.ByLane(d.Iterations)
	d.Output = output(env, at, p, d.Run)
	return d, nil
}

// items returns the features with what is known of their proofs.
func items(p *loop.Picture) []Item {
	s := &p.Snapshot
	proofs, receipts := s.Proofs(), map[string][]Receipt{}
	for _, r := range s.Receipts {
		receipts[r.Feature] = append(receipts[r.Feature], Receipt{plain.Line(r.Name, 80), r.At, r.DurationMS})
	}
	all := []Item{}
	for _, item := range verb.Items(s.List.List) {
		proof := proofs[item.ID]
		one := Item{Item: item, Checks: []Receipt{}}
		if item.State == "done" {
			switch {
			case proof.Proven && proof.Stale:
				one.State = Stale
			case proof.Proven:
				one.State = Proven
			default:
				one.State = Claimed
			}
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

// output returns what the run's last session has printed, as a person reads it.
func output(env loop.Env, at *loopdir.Loop, p *loop.Picture, r *Run) []string {
	if r.Sessions == 0 {
		return nil
	}
	log := record.SessionLog(at.Project, r.ID, r.Sessions, maxOutput)
	row := agent.Row{Output: agent.OutputText}
	if agents, err := roster.New(env, at.Project, p); err == nil {
		if found, err := agents.Find(r.Agent); err == nil {
			row = found
		}
	}
	return row.Told(log, len(log) == maxOutput, maxTold)
}

// Heading names the item: its id, and its title if that says more.
func (i Item) Heading() string {
	if i.Title == i.ID {
		return i.ID
	}
	return cmp.Or(i.Title, i.ID)
}
