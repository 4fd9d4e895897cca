package run

import (
	"context"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Hands run the sessions of lanes somewhere else.
type Hands interface {
	// Work runs a session, and leaves what it did in the lane's folder. It returns when the session is over, or ctx
	// ends. It may be called for several lanes at a time.
	Work(ctx context.Context, j Job) Worked
	// Leave takes a feature from the worker that has it, if Work was not called for it yet.
	Leave(feature string)
	// Judge says whether a session was merged. Who works in vain again and again gets less.
	Judge(w Worked, merged bool)
	Close()
}

// Worked is a session of a lane that is over.
type Worked struct {
	agent.Ended
	Worker, Machine string // who has worked it, cleaned; "": this process
	Kept            func() // is called when the record has the session's end; nil: nobody waits for that
}

// Job is a session of a lane. Nobody else uses the lane's folder while it is worked.
type Job struct {
	Run, Loop string // the run's id, and the loop's name
	Feature   string // id; "": the loop as a whole
	Session   agent.Session
	Repo      *worktree.Repo
	Tree      *worktree.Tree
	List      string           // path of the lane's copy of the list below the project
	Reading   features.Reading // how that is read
	Notes     string           // path of the lane's copy of progress.txt below the project
	Claim     *record.Claim    // that the record has; nil: no worker has the session

	// Save saves the claim of a worker, before the worker hears of it. The session begins then, or once more. With nil,
	// no worker has the session any more.
	Save func(*record.Claim) error
}

// work runs a session of a lane, here or by the run's hands.
func (l *lanes) work(one *lane, tree *worktree.Tree, feature string, claim *record.Claim, s agent.Session) Worked {
	if l.hands == nil {
		return Worked{Ended: s.Run(l.sessions)}
	}
	return l.hands.Work(l.sessions, Job{
		Run: l.Record.ID, Loop: l.At.Name, Feature: feature, Session: s, Repo: l.repo, Tree: tree, List: l.list,
		Reading: l.reading, Notes: l.notes, Claim: claim,
		Save: func(claim *record.Claim) error {
			saved := make(chan error, 1)
			l.heard <- heard{lane: one, claimed: &claimed{claim, saved}}
			return <-saved
		},
	})
}

// claimed is who has the session of a lane. saved gets whether the record has it.
type claimed struct {
	claim *record.Claim
	saved chan error
}
