// Package watch has what goes on in all loops and runs of a user: as one picture that never changes, and as a stream of
// newer pictures. It reads files alone, so the loops of the hook and of the runner look the same, and no daemon is
// needed.
package watch

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Picture is all loops at one moment. Nobody changes it, so any number of goroutines may read it.
type Picture struct {
	At    time.Time
	Loops []Loop // those that are at work first, then the one that changed last
}

// Loop is a loop as it was when it was read last. Its texts are clean.
type Loop struct {
	Key     string `json:"key"` // names the loop among all of this user
	Project string `json:"project"`
	verb.Status
	Run       *Run      `json:"run"`       // its last run; null: it had none
	ChangedAt time.Time `json:"changedAt"` // when one of its files changed last

	LastChecks []CheckTook `json:"lastChecks"` // each check that ran lately, once
}

// CheckTook is how long a check took when it ran last.
type CheckTook struct {
	Name       string `json:"name"`
	DurationMS int64  `json:"durationMs"`
}

// Run is the last run over a loop. It has no command and no prompt, since those may have secrets.
type Run struct {
	ID         string    `json:"id"`
	Agent      string    `json:"agent"`
	Works      bool      `json:"works"` // its process runs
	StartedAt  time.Time `json:"startedAt"`
	EndedAt    time.Time `json:"endedAt,omitzero"` // zero: it is not over
	Iterations int       `json:"iterations"`       // sessions that counted
	Sessions   int       `json:"sessions"`
	Session    *Session  `json:"session"`         // that runs now; null: none
	Lanes      []Session `json:"lanes,omitempty"` // of a run with lanes, those that run now; Session is the first one
	Left       []Left    `json:"left,omitempty"`  // the branches that a person is to merge
	WaitsFor   string    `json:"waitsFor"`        // "": it does not wait
	WaitsTill  time.Time `json:"waitsTill"`       // zero: it does not wait
	Tokens     int64     `json:"tokens"`
	CostUSD    float64   `json:"costUsd"`
	CostKnown  bool      `json:"costKnown"` // false: no session has told its cost
	Unknown    int       `json:"unknown"`   // sessions that did not tell it
	Bill       string    `json:"bill"`      // tokens and cost, in words
	Leg        string    `json:"leg"`       // of a chain of agents, which one works, in words; "": there is no chain
}

// Left is a feature whose proven work is on a branch, for a person to merge.
type Left struct {
	Feature string `json:"feature"`
	Branch  string `json:"branch"`
}

// Session is a session of a run that works now.
type Session struct {
	Number    int       `json:"number"`
	Lane      int       `json:"lane,omitempty"` // 0: there are no lanes
	Feature   string    `json:"feature"`
	StartedAt time.Time `json:"startedAt"`
}

// Features names what a run works on now.
func (r *Run) Features() string {
	if len(r.Lanes) == 0 {
		return r.Session.Feature
	}
	names := make([]string, len(r.Lanes))
	for i, one := range r.Lanes {
		names[i] = one.Feature
	}
	return strings.Join(names, ", ")
}

// Works reports whether the loop is at work: a session or a run works on it.
func (l *Loop) Works() bool {
	return l.Status.Status == decide.InProgress && l.Session != "" && !l.Stale && !l.Waits
}

// Find returns the loop of a key, of a run's id, or of a name that only one loop has; nil if there is none.
func (p *Picture) Find(name string) *Loop {
	var found *Loop
	for i := range p.Loops {
		l := &p.Loops[i]
		switch {
		case l.Key == name, l.Run != nil && l.Run.ID == name:
			return l
		case l.Name == name && found != nil:
			return nil
		case l.Name == name:
			found = l
		}
	}
	return found
}

// Look reads all loops that have a record, and those of the project that env is in and of some folders.
func Look(env loop.Env, folders ...string) (*Picture, error) {
	all, err := find(env, folders)
	if err != nil {
		return nil, err
	}
	loops := make([]Loop, len(all))
	each(len(all), func(i int) { loops[i], _ = read(env, all[i]) })
	return picture(loops), nil
}

// each calls do for each number below n, on all processors.
func each(n int, do func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

func picture(loops []Loop) *Picture {
	slices.SortFunc(loops, func(a, b Loop) int {
		if a.Works() != b.Works() {
			if a.Works() {
				return -1
			}
			return 1
		}
		return cmp.Or(b.ChangedAt.Compare(a.ChangedAt), strings.Compare(a.Name, b.Name), strings.Compare(a.Key, b.Key))
	})
	return &Picture{At: time.Now(), Loops: loops}
}

// find returns the loops of this user, each once.
func find(env loop.Env, folders []string) ([]*loopdir.Loop, error) {
	all, err := env.Where().Known()
	if err != nil {
		return nil, err
	}
	for _, folder := range append([]string{env.Cwd}, folders...) {
		where := env.Where()
		where.Cwd = folder
		where.ProjectDir = ""
		where.LoopDir = ""
		here, err := where.All()
		if err != nil {
			continue // it is no project that can be read
		}
		all = append(all, here...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(l *loopdir.Loop) bool {
		was := seen[l.Dir]
		seen[l.Dir] = true
		return was
	}), nil
}

func keyOf(at *loopdir.Loop) string { return filepath.Base(at.StatePath()) }

// maxLast is how many of the last checks are known of each loop.
const maxLast = 20

// read reads one loop, and returns its processes. What cannot be read becomes a note of its status.
func read(env loop.Env, at *loopdir.Loop) (found Loop, of []proc.Process) {
	found = Loop{LastChecks: []CheckTook{}, Key: keyOf(at), Project: plain.Line(at.Project, 4096), ChangedAt: changed(at)}
	l, err := open(env, at)
	if err != nil {
		found.Status = verb.Unreadable(at, err)
		return found, nil
	}
	defer l.Close()
	p, err := l.Look()
	if err != nil {
		found.Status = verb.Unreadable(at, err)
		return found, nil
	}
	found.Status = verb.Quick(p)
	for _, c := range verb.Checks(l, maxLast) {
		if !slices.ContainsFunc(found.LastChecks, func(t CheckTook) bool { return t.Name == c.Name }) {
			found.LastChecks = append(found.LastChecks, CheckTook{c.Name, c.DurationMS})
		}
	}
	state := p.Snapshot.Record()
	of = []proc.Process{{PID: state.SessionPID, Start: state.ClientStart}}
	if state.Running != nil {
		of = append(of, proc.Process{PID: state.Running.PID, Start: state.Running.Start})
	}
	if record, err := record.Load(l.Store); err == nil && record != nil {
		found.Run = runOf(record)
		of = append(of, proc.Process{PID: record.PID, Start: record.Start})
	}
	return found, of
}

// open opens a loop that a verb for people may use.
func open(env loop.Env, at *loopdir.Loop) (*loop.Loop, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	return loop.Open(env, at)
}

func runOf(r *record.Run) *Run {
	found := &Run{
		ID: plain.Line(r.ID, 40), Agent: plain.Line(r.Working(), 80), StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Works: r.EndedAt.IsZero() && proc.Alive(r.PID, r.Start), Iterations: r.Iterations, Sessions: r.Sessions,
		Tokens: record.AllTokens(r.Spent.Usage), CostUSD: r.Spent.CostUSD, CostKnown: r.Spent.CostKnown,
		Unknown: r.Spent.Unknown, Bill: record.Bill(r.Spent),
	}
	if r.Waiting != nil && found.Works {
		found.WaitsFor, found.WaitsTill = plain.Line(r.Waiting.Why, 200), r.Waiting.Until
	}
	if c := r.Chain; c != nil && len(c.Legs) > 0 {
		found.Leg = fmt.Sprintf("leg %d of %d: %s", min(c.At+1, len(c.Legs)), len(c.Legs), plain.Line(c.Definition, 200))
	}
	for _, one := range r.Left {
		found.Left = append(found.Left, Left{plain.Line(one.Feature, 80), plain.Line(one.Branch, 150)})
	}
	for _, c := range r.AllCurrent() {
		if c.Ended != nil || !found.Works {
			continue
		}
		one := Session{Number: c.Session, Lane: c.Lane, Feature: plain.Line(c.Feature, 80), StartedAt: c.StartedAt}
		if found.Session == nil {
			found.Session = &one
		}
		if c.Lane > 0 {
			found.Lanes = append(found.Lanes, one)
		}
	}
	return found
}
