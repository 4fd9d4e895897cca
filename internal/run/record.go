// Package run works a loop with fresh sessions of an agent: one process for each iteration.
package run

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Options are what a person asks of a run. The record keeps them, so that a resumed run is the same.
type Options struct {
	Agent    string      `json:"agent"`              // a name, as Find takes it
	Fallback []string    `json:"fallback,omitempty"` // the agents that stand in for it, in their order
	Asked    agent.Asked `json:"asked"`
	Escalate []string    `json:"escalate,omitempty"` // the models for the first, the second … attempt at a feature

	MaxIterations int     `json:"maxIterations"` // of this run; 0: the loop's own limit alone
	MaxCostUSD    float64 `json:"maxCostUsd"`    // 0: no bound
	MaxTokens     int64   `json:"maxTokens"`     // 0: no bound

	SessionTimeout time.Duration `json:"sessionTimeout"`
	IdleTimeout    time.Duration `json:"idleTimeout"`    // 0: a session may be silent
	KeepBackground time.Duration `json:"keepBackground"` // for what a session left in the background
	Wait           time.Duration `json:"wait"`           // for a provider's limit, at most; 0: the run does not wait

	Prompt     string   `json:"prompt"` // a text before each prompt; "": none
	Hooks      []Hook   `json:"hooks"`
	OnComplete string   `json:"onComplete"` // a line for the shell
	CompleteOn []string `json:"completeOn"` // Signals; none: a marker alone
	Pattern    string   `json:"pattern"`    // a regular expression for a line that claims that all is done
	InSession  bool     `json:"inSession"`  // a Stop hook drives each session
}

// Record is what is kept of a run, in the user's state folder. A run that was killed at any point goes on from it.
type Record struct {
	Schema  int     `json:"schema"`
	ID      string  `json:"id"`
	Loop    string  `json:"loop"` // absolute path of the loop's folder
	Name    string  `json:"name"` // the loop's name
	Options Options `json:"options"`

	PID   int    `json:"pid"` // of the process that works it, or worked it last
	Start string `json:"start"`

	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt,omitzero"` // zero: the run is not over

	Status     decide.Status `json:"status"` // of the loop
	ExitReason string        `json:"exitReason,omitempty"`
	Iterations int           `json:"iterations"` // sessions that counted
	Sessions   int           `json:"sessions"`   // sessions that were started
	Spent      Sum           `json:"spent"`
	Denied     int           `json:"denied"`            // uses of tools that the agent's permissions refused
	Work       []Work        `json:"work"`              // by feature, in the order of their first session
	Waiting    *Waiting      `json:"waiting,omitempty"` // nil: the run does not wait
	Current    *Current      `json:"current,omitempty"` // nil: no session runs, and none is to be counted
	Chain      *Chain        `json:"chain,omitempty"`   // nil: one agent works the run

	Cooling  []Cooling `json:"cooling,omitempty"`
	Switches []Switch  `json:"switches,omitempty"`
}

// Sum is what sessions used together.
type Sum struct {
	agent.Usage
	Unknown int `json:"unknown"` // sessions that did not tell their cost
}

// add adds what a session used.
func (s *Sum) add(u agent.Usage) {
	s.Input, s.Output = s.Input+u.Input, s.Output+u.Output
	s.CacheRead, s.CacheWrite = s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite
	s.CostUSD += u.CostUSD
	s.TokensKnown, s.CostKnown = s.TokensKnown || u.TokensKnown, s.CostKnown || u.CostKnown
	s.Estimated = s.Estimated || u.Estimated
	if !u.CostKnown {
		s.Unknown++
	}
}

// tokens returns all tokens: those of the cache cost less, but they are work of the provider, too.
func tokens(u agent.Usage) int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Work is what a feature took.
type Work struct {
	Feature  string        `json:"feature"` // id; "": no feature
	Attempts int           `json:"attempts"`
	Took     time.Duration `json:"took"`
	Spent    Sum           `json:"spent"`
	Checks   string        `json:"checks"` // how the last checks of it ended, in words; "": none ran
}

// Waiting says for what a run waits.
type Waiting struct {
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
}

// Current is a session that was started, and whose end the loop's record may not have yet.
type Current struct {
	Session   int       `json:"session"`   // its number in the run
	Iteration int       `json:"iteration"` // of the loop
	Feature   string    `json:"feature"`
	Agent     string    `json:"agent"`
	Model     string    `json:"model"`         // that it was asked for; "": the agent's own choice
	Why       string    `json:"why,omitempty"` // why this agent and this model; "": they are the usual ones
	StartedAt time.Time `json:"startedAt"`
	PID       int       `json:"pid"` // of the guard that started the agent
	Start     string    `json:"start"`
	Ended     *Finished `json:"ended,omitempty"` // nil: it has not ended, as far as is known
}

// Finished is how a session ended. What it used is in the record's sum by then.
type Finished struct {
	Class    agent.Class   `json:"class"`
	Message  string        `json:"message"` // its end, at most maxMessage bytes
	Problem  string        `json:"problem"`
	ExitCode int           `json:"exitCode"`
	Took     time.Duration `json:"took"`
	Model    string        `json:"model"`
	Denied   int           `json:"denied"`
	Refused  string        `json:"refused"` // the last tool that the agent's permissions refused; "": none, or not known
	Used     agent.Usage   `json:"used"`
	Claimed  bool          `json:"claimed"` // a signal other than the marker says that all is done
	Signals  []string      `json:"signals"`
	Own      *Own          `json:"own,omitempty"` // nil: there is no leg, or it has not been judged yet
}

// maxMessage is how much of a final answer is kept. Its last line says how the loop stands.
const maxMessage = 256 << 10

// newID returns a name for a run that no other run has.
func newID() string { return strings.ToLower(rand.Text()[:10]) }

const schema = 1

// Load returns the record of the last run over a loop, or nil if there is none.
func Load(store *loopdir.Store) (*Record, error) {
	data, err := store.Run()
	if err != nil || data == nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("the record of the run cannot be used: %w; begin a new run without --resume", err)
	}
	switch {
	case r.Schema > schema:
		return nil, errors.New("a later version wrote the record of the run; use that version")
	case r.Schema < 1 || r.ID == "" || r.Loop == "" || r.Chain != nil && (r.Chain.At < 0 || len(r.Chain.Legs) == 0):
		return nil, errors.New("the record of the run makes no sense; begin a new run without --resume")
	}
	return &r, nil
}

func (r *Record) save(store *loopdir.Store) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return store.SaveRun(append(data, '\n'))
}

// session is the name by which the loop knows the run.
func (r *Record) session() string { return decide.RunSession(r.ID) }

// work returns the entry of a feature.
func (r *Record) work(feature string) *Work {
	for i := range r.Work {
		if r.Work[i].Feature == feature {
			return &r.Work[i]
		}
	}
	r.Work = append(r.Work, Work{Feature: feature})
	return &r.Work[len(r.Work)-1]
}
