// Package watch has what goes on in all loops and runs of a user: as one picture that never changes, and as a stream of
// newer pictures. It reads files, so the loops of the hook and of the runner look the same, and no daemon is
// needed.
package watch

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// Picture is all loops at one moment. Nobody changes it, so any number of goroutines may read it.
type Picture struct {
	Loops []Loop // those that need somebody first, as Status.Rank says; then the one that changed last
}

// Loop is a loop as it was when it was read last. Its texts are clean.
type Loop struct {
	Key     string `json:"key"` // unique among your loops
	Project string `json:"project"`
	verb.Status
	Run       *Run      `json:"run"`       // its last run; null: it had none
	ChangedAt time.Time `json:"changedAt"` // when its files last changed
	LastSign  time.Time `json:"lastSign"`  // when these, or its agents' output, last changed

	more []string // what 'resume' has to give it, in words
}

// Run is the last run over a loop. It has no command and no prompt, since those may have secrets.
type Run struct {
	ID         string    `json:"id"`
	Agent      string    `json:"agent"`
	Works      bool      `json:"works"` // whether its process runs
	StartedAt  time.Time `json:"startedAt"`
	EndedAt    time.Time `json:"endedAt,omitzero"` // zero: it is not over
	Iterations int       `json:"iterations"`       // sessions that counted
	Sessions   int       `json:"sessions"`
	Session    *Session  `json:"session"`           // the current session; null: none
	Lanes      []Session `json:"lanes,omitempty"`   // with lanes: the current sessions
	ToMerge    []string  `json:"toMerge,omitempty"` // steps to merge all work; only for a single loop
	Done       int       `json:"done"`              // features that it worked on and that pass
	Step       string    `json:"step"`              // the current step of a chain, in words; "": there is none
	MaxCostUSD float64   `json:"maxCostUsd"`        // the most it may cost; 0: unlimited
}

// Session is a session of a run that works now.
type Session struct {
	Number    int       `json:"number"`
	Lane      int       `json:"lane,omitempty"` // 0: no lanes
	Agent     string    `json:"agent"`
	Feature   string    `json:"feature"`
	StartedAt time.Time `json:"startedAt"`
}

// Running returns the sessions that run now. r may be nil.
func (r *Run) Running() []Session {
	switch {
	case r == nil || r.Session == nil:
		return nil
	case len(r.Lanes) == 0:
		return []Session{*r.Session}
	}
	return r.Lanes
}

// RemainingTime says about how long the features that are open take, at the rate of the run; "" if that is not known,
// or if the loop is stuck.
func (l *Loop) RemainingTime() string {
	took := time.Duration(0)
	if l.Works() && l.Phase != verb.Stuck && l.Run != nil && l.Run.Done > 0 {
		each := l.ChangedAt.Sub(l.Run.StartedAt) / time.Duration(l.Run.Done)
		took = each * time.Duration(l.Features.Total-l.Features.Passed)
	}
	switch {
	case took <= 0:
		return ""
	case took < time.Hour:
		return fmt.Sprintf("~%d min left", int(took.Minutes())+1)
	}
	return fmt.Sprintf("~%d h left", int(took.Hours())+1)
}

// Has reports whether the loop's name, project or state has a text, whatever its case.
func (l *Loop) Has(text string) bool {
	return strings.Contains(strings.ToLower(l.Name+" "+l.Project+" "+l.Word()), strings.ToLower(text))
}

// Place is the end of the path of the loop's project.
func (l *Loop) Place() string {
	parts := strings.Split(filepath.ToSlash(l.Project), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// Doing says what goes on; "": nothing, or it waits or is stuck, as Wrong says.
func (l *Loop) Doing() string {
	switch running := l.Run.Running(); {
	case l.Running != "":
		return "runs " + l.Running
	case l.Waits != nil, l.Phase == verb.Stuck:
		return ""
	case len(running) > 0 && running[0].Lane > 0:
		said := []string{}
		for _, one := range running {
			said = append(said, fmt.Sprintf("%d: %s", one.Lane, one.Feature))
		}
		return l.Run.Agent + " · " + strings.Join(said, " · ")
	case len(running) > 0:
		return strings.Trim(l.Run.Agent+" · "+running[0].Feature+" · "+l.Run.Step, " ·")
	case l.Works() && l.Next != "":
		return "next " + l.Next
	}
	return ""
}

// Took returns since when, and how long, the loop, or its run, takes or took; 0 if that is not known, as after a clock
// was set back. It reports whether that goes on, so it depends on files alone and not on the time of the question.
func (l *Loop) Took() (from time.Time, took time.Duration, goesOn bool) {
	from, _ = time.Parse(time.RFC3339, l.StartedAt)
	to := l.ChangedAt
	if ended, err := time.Parse(time.RFC3339, l.EndedAt); err == nil && !l.Works() {
		to = ended
	}
	if from.IsZero() || to.Before(from) {
		return from, 0, l.Works()
	}
	return from, to.Sub(from), l.Works()
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

// Sum returns how many of some loops there are of each rank, and what they have cost.
func Sum(loops []Loop) (ranks [verb.RankEnded + 1]int, cost verb.Spent) {
	for _, l := range loops {
		ranks[l.Rank()]++
		if l.Spent != nil {
			cost.CostUSD += l.Spent.CostUSD
			cost.CostKnown = cost.CostKnown || l.Spent.CostKnown
			cost.Estimated = cost.Estimated || l.Spent.Estimated
			cost.Unknown += l.Spent.Unknown
		}
	}
	return ranks, cost
}

// Look reads all loops that have a record, and those of the project that env is in and of some folders.
func Look(env loop.Env, folders ...string) (*Picture, error) {
	w, err := New(env, folders...)
	return w.Picture(), err
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
		return was || l.IsMissing() && !l.Restorable()
	}), nil
}

func keyOf(at *loopdir.Loop) string { return filepath.Base(at.StatePath()) }

// read reads one loop, and returns its processes. What cannot be read becomes a note of its status.
func read(env loop.Env, at *loopdir.Loop) (found Loop, of []proc.Process) {
	p, err := look(env, at)
	if err != nil {
		found = ofFiles(at)
		found.Status = verb.Unreadable(env, at, err)
		return found, nil
	}
	defer p.Loop.Close()
	return ofPicture(p)
}

// look looks at a loop that a verb for people may use. The caller closes the loop of the picture.
func look(env loop.Env, at *loopdir.Loop) (*loop.Picture, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	l, err := loop.Open(env, at)
	if err != nil {
		return nil, err
	}
	p, err := l.Look()
	if err != nil {
		l.Close()
		return nil, err
	}
	return p, nil
}

func ofFiles(at *loopdir.Loop) Loop {
	changed := lastOf(time.Time{}, at.WatchedFiles())
	return Loop{Key: keyOf(at), Project: plain.Line(at.Project, 4096), ChangedAt: changed, LastSign: changed}
}

func ofPicture(p *loop.Picture) (found Loop, of []proc.Process) {
	l := p.Loop
	found = ofFiles(l.At)
	found.Status = verb.Quick(p)
	state := p.Snapshot.Record()
	found.more = p.More(state)
	of = []proc.Process{{PID: state.SessionPID, Start: state.ClientStart}}
	if r := p.Checking(); r != nil {
		of = append(of, proc.Process{PID: r.PID, Start: r.Start})
	}
	if last, err := record.Load(l.Store); err == nil && last != nil {
		found.Run = runOf(last)
		for _, w := range last.Work {
			if item, is := p.Snapshot.List.Find(w.Feature); is && item.Passes {
				found.Run.Done++
			}
		}
		of = append(of, proc.Process{PID: last.PID, Start: last.Start})
	}
	last, _ := found.LookForSign()
	if last.After(found.LastSign) {
		found.LastSign = last
	}
	return found, of
}

func runOf(r *record.Run) *Run {
	found := &Run{
		ID: plain.Line(r.ID, 40), Agent: plain.Line(r.Working(), 80), StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Works: r.EndedAt.IsZero() && proc.Alive(r.PID, r.Start), Iterations: r.Iterations, Sessions: r.Sessions,
		MaxCostUSD: max(0, r.Options.MaxCostUSD),
	}
	if c := r.Chain; c != nil && len(c.Steps) > 0 {
		found.Step = fmt.Sprintf("step %d of %d: %s", min(c.At+1, len(c.Steps)), len(c.Steps), plain.Line(c.Definition, 200))
	}
	for _, c := range r.AllCurrent() {
		if c.HasEnded() || c.Number == 0 || !found.Works { // 0: no worker has taken it
			continue
		}
		one := Session{
			Number: c.Number, Lane: c.Lane, Agent: plain.Line(r.AgentOf(c), 80), Feature: plain.Line(c.Feature, 80),
			StartedAt: c.StartedAt,
		}
		if found.Session == nil {
			found.Session = &one
		}
		if c.Lane > 0 {
			found.Lanes = append(found.Lanes, one)
		}
	}
	return found
}
