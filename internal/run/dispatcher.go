package run

import (
	"context"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Dispatcher runs the sessions of lanes somewhere else.
type Dispatcher interface {
	// Work runs a session, and leaves what it did in the lane's folder. It returns when the session is over, or ctx
	// ends. It may be called for several lanes at a time.
	Work(ctx context.Context, j Job) SessionResult
	// Leave takes a feature from the worker that has it, if Work was not called for it yet.
	Leave(feature string)
	// Judge says whether a session was merged. Who works in vain again and again gets less.
	Judge(w SessionResult, merged bool)
	Close()
}

// SessionResult is a session of a lane that is over.
type SessionResult struct {
	agent.Result
	Worker, Machine string // who has worked it, cleaned; "": this process
	Confirm         func() // is called when the record has the session's end; nil: nobody waits for that
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

// work runs a session of a lane, here or by the dispatcher.
func (l *lanes) work(
	one *lane, tree *worktree.Tree, feature string, claim *record.Claim, s agent.Session,
) SessionResult {
	if l.dispatcher == nil {
		return SessionResult{Result: s.Run(l.sessions)}
	}
	return l.dispatcher.Work(l.sessions, Job{
		Run: l.Record.ID, Loop: l.At.Name, Feature: feature, Session: s, Repo: l.repo, Tree: tree, List: l.list,
		Reading: l.reading, Notes: l.notes, Claim: claim,
		Save: func(claim *record.Claim) error {
			saved := make(chan error, 1)
			l.messages <- laneMessage{lane: one, claim: &claimMessage{claim, saved}}
			return <-saved
		},
	})
}

// claimMessage is who has the session of a lane. saved gets whether the record has it.
type claimMessage struct {
	claim *record.Claim
	saved chan error
}
