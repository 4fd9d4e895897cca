package run

import (
	"context"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Hands run the sessions of lanes somewhere else.
type Hands interface {
	// Work runs a session, and leaves what it did in the lane's worktree. It returns when the session is over, or ctx
	// ends. It may be called for several lanes at a time.
	Work(ctx context.Context, j Job) Worked
	// Has reports whether a worker has a feature, or has done it, that an earlier process of the run has offered. Work
	// goes on with that session.
	Has(feature string) bool
	// Judge says whether a session was merged. Who works in vain again and again gets less.
	Judge(w Worked, merged bool)
	Close()
}

// Worked is a session of a lane that is over.
type Worked struct {
	agent.Ended
	Worker, Machine string // who has worked it, cleaned; "": this process
}

// Job is a session of a lane. Nobody else uses the lane's worktree while it is worked.
type Job struct {
	Run, Loop string // the run's id, and the loop's name
	Feature   string // id; "": the loop as a whole
	Session   agent.Session
	Repo      *worktree.Repo
	Tree      *worktree.Tree
	List      string           // path of the lane's copy of the list below the project
	Reading   features.Reading // how that is read
	Notes     string           // path of the lane's copy of progress.txt below the project
	Began     time.Time        // when a worker took what an earlier process offered; zero: not known

	// Claimed is called when a worker takes the session, which begins then, or once more. With zero, the worker has
	// lost it.
	Claimed func(time.Time)
}

// work runs a session of a lane, here or by the run's hands.
func (l *lanes) work(one *lane, feature string, began time.Time, s agent.Session) Worked {
	if l.hands == nil {
		return Worked{Ended: s.Run(l.sessions)}
	}
	return l.hands.Work(l.sessions, Job{
		Run: l.Record.ID, Loop: l.At.Name, Feature: feature, Session: s, Repo: l.repo, Tree: one.tree, List: l.list,
		Reading: l.reading, Notes: l.notes,
		Began: began, Claimed: func(at time.Time) { l.heard <- heard{lane: one, claimed: &at} },
	})
}
