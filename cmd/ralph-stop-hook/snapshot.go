package main

import (
	"context"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// loaded is what a loop's folders held.
type loaded struct {
	snap     decide.Snapshot
	config   config.InForce
	progress []byte
	project  string
}

// peek loads what it takes to know a bystander.
func peek(s *loopdir.Store, e hookio.Event) (loaded, error) {
	l := loaded{project: s.Project, snap: decide.Snapshot{
		Event: e.Name, Session: e.SessionID, Agent: e.AgentID, Mode: e.PermissionMode, Message: e.LastMessage,
	}}
	var err error
	if l.snap.State, err = s.State(); err != nil {
		return l, err
	}
	if l.snap.State.Schema == 0 {
		if l.progress, err = s.Progress(); err != nil {
			return l, err
		}
		l.snap.Header = progress.Parse(l.progress)
		l.snap.FreshClone = tracked(s.Dir, loopdir.ProgressFile)
	}
	return l, nil
}

// load loads the whole snapshot.
func load(s *loopdir.Store, e hookio.Event, now time.Time) (loaded, error) {
	l, err := peek(s, e)
	if err != nil {
		return l, err
	}
	if l.progress, err = s.Progress(); err != nil {
		return l, err
	}
	trust, err := s.Trust()
	if err != nil {
		return l, err
	}
	text, err := s.Config()
	if err != nil {
		return l, err
	}
	l.config, l.snap.Config = config.Choose(trust, text)
	l.snap.Header = progress.Parse(l.progress)
	l.snap.LogIteration = s.LogIteration()
	l.snap.CancelFile = s.CancelAsked()
	l.snap.Limits = l.config.Limits
	l.snap.List = s.List(s.ListPath(l.config.List, l.snap.State.List))
	l.snap.Now = now
	return l, nil
}

// listPath is where the list of a loaded loop is.
func (l loaded) listPath(s *loopdir.Store) string {
	return s.ListPath(l.config.List, l.snap.State.List)
}

// tracked tells whether git tracks the file name in dir. A loop whose
// progress.txt came with a clone is somebody else's until a person takes it up.
func tracked(dir, name string) bool {
	if loopdir.RepoRoot(dir) == "" {
		return false
	}
	return proc.Run(context.Background(), proc.Cmd{
		Argv: []string{"git", "-c", "core.fsmonitor=false", "--literal-pathspecs", "ls-files", "--error-unmatch", "--", name},
		Dir:  dir, Timeout: 5 * time.Second,
	}).Err == nil
}
