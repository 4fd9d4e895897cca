package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// loaded is a loop, and what its folders held.
type loaded struct {
	*loopdir.Store
	snap   decide.Snapshot
	config config.InForce
	points map[string][]string // what features say that only a person can look at
}

// peek loads what it takes to know a bystander.
func peek(s *loopdir.Store, e hookio.Event, now time.Time) (*loaded, error) {
	l := &loaded{Store: s, snap: decide.Snapshot{
		Event: e.Name, Session: e.SessionID, Agent: e.AgentID, Mode: e.PermissionMode, Message: e.LastMessage,
		Reason: e.Reason, Error: e.Error, Bound: s.Bound, Now: now,
		Goal: e.Goal(), Active: e.StopHookActive, BlockCap: blockCap(os.Getenv(blockCapName)),
	}}
	var err error
	if l.snap.State, err = s.State(); err != nil {
		return l, err
	}
	if l.snap.State.Schema == 0 {
		text, err := s.Progress()
		if err != nil {
			return l, err
		}
		l.snap.Header = progress.Parse(text)
		l.snap.FreshClone = tracked(s.Dir, loopdir.ProgressFile)
		// A ralph.json that cannot be read makes no bystander an owner.
		l.snap.Bind = decide.BindPrompt
		if text, err := s.Config(); err == nil {
			if c, err := config.Choose(nil, text); err == nil {
				l.snap.Bind = c.Bind
			}
		}
	}
	var start string
	l.snap.Client, start = client()
	state := l.snap.State
	// A client has one stop of a session at a time, and ends a hook that is late: a
	// second hook at the same time is of a second settings entry.
	if r := state.Running; r != nil && r.PID != os.Getpid() && state.Session == e.SessionID && l.snap.Client > 0 && l.snap.Client == state.SessionPID {
		l.snap.Busy = proc.Known(r.Start) && proc.Alive(r.PID, r.Start)
	}
	l.snap.OwnerKnown = state.SessionPID > 0 && (state.ClientStart == "" || proc.Known(state.ClientStart))
	calls := start != "" && l.snap.Client == state.SessionPID && start == state.ClientStart
	l.snap.OwnerAlive = state.Session != "" && (state.SessionPID == 0 || calls || proc.Alive(state.SessionPID, state.ClientStart))
	return l, nil
}

// load loads the whole snapshot.
func load(s *loopdir.Store, e hookio.Event, now time.Time) (*loaded, error) {
	l, err := peek(s, e, now)
	if err != nil {
		return l, err
	}
	notes, err := s.Progress()
	if err != nil {
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
	l.config, err = config.Choose(trust, text)
	if err != nil {
		l.snap.ConfigErr = fmt.Errorf("%s: %w", filepath.Join(s.Dir, loopdir.ConfigFile), err)
	}
	if l.config.SearchPath != "" {
		// Whoever edits the settings' env must not choose the programs.
		_ = os.Setenv("PATH", l.config.SearchPath)
	}
	l.snap.Header = progress.Parse(notes)
	l.snap.LogIteration = s.LogIteration()
	l.snap.CancelFile = s.CancelAsked()
	l.snap.Limits, l.snap.Limits.Held = l.config.Limits, l.config.Trusted
	if text, path, err := loopdir.UserConfig(); text != nil || err != nil {
		var ceilings decide.Limits
		if err == nil {
			ceilings, err = config.ParseCeilings(text)
		}
		if err != nil && l.snap.ConfigErr == nil {
			l.snap.ConfigErr = fmt.Errorf("%s: %w", path, err)
		}
		l.snap.Limits = l.snap.Limits.Under(ceilings)
	}
	l.snap.Running = wordsRunning(e, l.config.WaitShells)
	if l.snap.Unlisted = l.config.Source.Given(); l.snap.Unlisted {
		l.snap.List = s.SourceList()
	} else {
		l.snap.List = s.List(l.listPath())
	}
	l.snap.Lost = l.lost()
	if l.config.Own && l.snap.List.Err == nil {
		l.points = l.config.AddOwn(l.snap.List.List, l.snap.Lost)
		l.snap.Manual = map[string]bool{}
		for id := range l.points {
			l.snap.Manual[id] = true
		}
	}
	for _, e := range l.config.Active() {
		l.snap.Evaluators = append(l.snap.Evaluators, e.Evaluator)
	}
	l.snap.Recheck, l.snap.Promises = l.config.Recheck, l.config.Promises
	for _, c := range l.config.Checks {
		l.snap.Checks = append(l.snap.Checks, c.Check)
	}
	if len(l.snap.Checks) > 0 {
		if l.snap.Receipts, err = s.Receipts(); err != nil {
			return l, err
		}
	}
	return l, nil
}

// loadNow loads it for a verb, which is no event of the host.
func loadNow(s *loopdir.Store) (*loaded, error) { return load(s, hookio.Event{}, time.Now()) }

// look adds what a decision asked for of the transcript.
func (l *loaded) look(e hookio.Event) {
	var tail decide.Tail
	for _, most := range []int{hookio.TailBytes, hookio.MaxTailBytes} {
		data := loopdir.Tail(e.Transcript, int64(most))
		tail = hookio.ParseTail(data, l.snap.Now)
		if len(data) < most || !tail.ToolCall.IsZero() && tail.Context >= 0 {
			break
		}
		if most == hookio.MaxTailBytes && tail.ToolCall.IsZero() {
			tail.ToolCall = l.snap.Now // so much is not only talk
		}
	}
	l.snap.Tail, l.snap.RetryAt = &tail, hookio.RetryAt(e.LastMessage, l.snap.Now)
}

const blockCapName = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

// blockCap is how many blocks in a row without a tool call the host honours; 0 is
// any number, and so is one below it.
func blockCap(text string) int {
	const theirs = 8 // where nobody has set another, as measured with 2.1.329
	n, err := strconv.Atoi(text)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return theirs
	}
	return max(n, 0)
}

// listPath is where the list of a loaded loop is, as features.Named reads it.
func (l *loaded) listPath() string {
	return l.ListPath(l.config.List, l.snap.State.List)
}

// listName is what people and the agent know the list by.
func (l *loaded) listName() string {
	if l.config.Source.Given() {
		return "the list of " + strings.Join(l.config.Source.List.Argv, " ")
	}
	return wordsList(l.listPath())
}

// tracked tells whether git tracks the file name in dir. A loop whose
// progress.txt came with a clone is somebody else's until a person takes it up.
func tracked(dir, name string) bool {
	if loopdir.RepoRoot(dir) == "" {
		return false
	}
	r := proc.Run(context.Background(), proc.Git(dir, "--literal-pathspecs", "ls-files", "--error-unmatch", "--", name))
	// 1 is git's no. A git that is missing, refuses to look or was stopped
	// leaves it open, and then the loop is not ours to begin.
	return r.ExitCode != 1
}

// client is the host's process and when it started, 0 where it does not say.
var client = sync.OnceValues(func() (pid int, start string) {
	pid, err := strconv.Atoi(os.Getenv("CLAUDE_PID"))
	if err != nil || pid <= 0 {
		return 0, ""
	}
	return pid, proc.Start(pid)
})
