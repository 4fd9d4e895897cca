// Package record has what is kept of a run: what a person asked of it, and what became of it. It is in the user's state
// folder. It also reads the lines that a run leaves in the project for people and scripts.
package record

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/worktree"
)

// Options are what a person asks of a run. The record keeps them, so that a resumed run is the same.
type Options struct {
	Agent        string        `json:"agent"`              // a name, as package roster finds it
	Fallback     []string      `json:"fallback,omitempty"` // the agents that stand in for it, in their order
	AgentOptions agent.Options `json:"asked"`
	Escalate     []string      `json:"escalate,omitempty"` // the models for the first, the second … attempt at a feature

	MaxIterations int     `json:"maxIterations"` // of this run; 0: the loop's own limit alone
	MaxCostUSD    float64 `json:"maxCostUsd"`    // 0: no bound
	MaxTokens     int64   `json:"maxTokens"`     // 0: no bound

	SessionTimeout time.Duration `json:"sessionTimeout"`
	IdleTimeout    time.Duration `json:"idleTimeout"` // 0: a session may be silent
	Wait           time.Duration `json:"wait"`        // for a provider's limit, at most; 0: the run does not wait

	Prompt     string   `json:"prompt"` // a text before each prompt; "": none
	Hooks      []Hook   `json:"hooks"`
	OnComplete string   `json:"onComplete"`        // a line for the shell
	CompleteOn []string `json:"completeOn"`        // Signals; none: a marker alone
	Pattern    string   `json:"pattern"`           // a regular expression for a line that claims that all is done
	Workers    int      `json:"workers,omitempty"` // how many lanes work at once; 0: no lane, but the project itself
	NoMerge    bool     `json:"noMerge,omitempty"` // the work stays on the run's branch, for people to merge
	Branch     string   `json:"branch,omitempty"`  // that the run checks out in the project; "": the one that is there
	Engine     string   `json:"engine,omitempty"`  // the URL of what carries the sessions to workers; "": they run here
	Listen     string   `json:"listen,omitempty"`  // where an embedded engine listens; "": on loopback

	Lease time.Duration `json:"lease,omitempty"` // how long a worker may give no sign; 0: the engine's usual one
}

// Run is what is kept of a run, in the user's state folder. A run that was killed at any point goes on from it.
type Run struct {
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
	Problem    string        `json:"problem,omitempty"` // what went wrong in the last session
	Denied     int           `json:"denied"`            // uses of tools that the agent's permissions refused
	Work       []Work        `json:"work,omitempty"`    // by feature, in the order of their first session
	Waiting    *Waiting      `json:"waiting,omitempty"` // nil: the run does not wait
	Current    *Current      `json:"current,omitempty"` // nil: no session runs, and none is to be counted
	Chain      *Chain        `json:"chain,omitempty"`   // nil: one agent works the run

	Lanes      []Lane      `json:"lanes,omitempty"`      // none: the run works in the project itself
	Workspaces []Workspace `json:"workspaces,omitempty"` // that no lane has now: their work waits, or they have none
	Merges     Merges      `json:"merges,omitzero"`
	Backup     string      `json:"backup,omitempty"` // the tag of the commit before the first merge; "": no lanes

	Unmerged []Branch `json:"unmerged,omitempty"` // of earlier runs

	Commits *Commits `json:"commits,omitempty"` // in the project itself; nil: the run makes none there

	// Found has the size and time of each signal file, by path: before the first session, or after the last session
	// that broke off. "": there was no such file.
	Found map[string]string `json:"found,omitempty"`

	Cooling  []Cooling `json:"cooling,omitempty"`
	Switches []Switch  `json:"switches,omitempty"`

	encoded []encodedWork // Work when it was encoded last
}

// Sum is what sessions used together.
type Sum struct {
	agent.Usage
	Unknown  int     `json:"unknown"`            // sessions whose cost is not fully known
	Dearest  float64 `json:"dearest,omitempty"`  // dollars of the most expensive session with known cost
	Presumed float64 `json:"presumed,omitempty"` // dollars presumed beyond known costs

	UnknownTokens  int   `json:"unknownTokens,omitempty"`  // sessions whose tokens are not fully known
	MostTokens     int64 `json:"mostTokens,omitempty"`     // tokens of the largest session with known tokens
	PresumedTokens int64 `json:"presumedTokens,omitempty"` // tokens presumed beyond known ones
}

// Add adds what a session used.
func (s *Sum) Add(u agent.Usage) {
	s.Input, s.Output = s.Input+u.Input, s.Output+u.Output
	s.CacheRead, s.CacheWrite = s.CacheRead+u.CacheRead, s.CacheWrite+u.CacheWrite
	s.CostUSD += u.CostUSD
	s.TokensKnown, s.CostKnown = s.TokensKnown || u.TokensKnown, s.CostKnown || u.CostKnown
	s.Estimated = s.Estimated || u.Estimated
	if u.TokensKnown {
		s.MostTokens = max(s.MostTokens, u.Tokens())
	} else {
		s.UnknownTokens++
		s.PresumedTokens += max(0, s.MostTokens-u.Tokens())
	}
	if u.CostKnown {
		s.Dearest = max(s.Dearest, u.CostUSD)
		return
	}
	s.Unknown++
	s.Presumed += max(0, s.Dearest-u.CostUSD)
}

// Work is what a feature took.
type Work struct {
	Feature  string        `json:"feature"` // id; "": no feature
	Attempts int           `json:"attempts"`
	Took     time.Duration `json:"took"`
	Spent    Sum           `json:"spent"`
	Checks   string        `json:"checks"` // how the last checks of it ended, in words; "": none ran
}

// Commits is what a run without lanes knows of its commits.
type Commits struct {
	Folder      string                    `json:"folder"`      // of the project; see worktree.Options
	Drafts      map[string]worktree.Draft `json:"drafts"`      // what was not committed when the run began
	Features    []string                  `json:"features"`    // those that were done then, or are committed since
	Uncommitted string                    `json:"uncommitted"` // why the last work is not committed, or not all of it
}

// IsCutOff reports whether a run was killed or interrupted, so that what it did last is in no commit.
func (r *Run) IsCutOff() bool {
	return r != nil && (r.Status == decide.InProgress || r.Status == decide.Interrupted)
}

// Uncommitted says why the last work is not committed, or not all of it; "": it is, or the run makes no commits in the
// project.
func (r *Run) Uncommitted() string {
	if r.Commits == nil {
		return ""
	}
	return plain.Line(r.Commits.Uncommitted, 500)
}

// Waiting says for what a run waits.
type Waiting struct {
	Until  time.Time `json:"until"`
	Why    string    `json:"why"`
	Worker bool      `json:"worker,omitempty"` // a worker would end that
}

// Current is a session that was started, and whose end the loop's record may not have yet. What it used is in the
// record's sum as soon as it has ended. Its Number is 0 while it is offered, and no worker has taken it.
type Current struct {
	Session
	Claim   *Claim `json:"claim,omitempty"` // of the worker that has it, or had it when it ended; nil: none
	PID     int    `json:"pid"`             // of the guard that started the agent
	Start   string `json:"start"`
	Message string `json:"message"`        // its end, at most MaxMessage bytes
	Refused string `json:"refused"`        // the last tool that the agent's permissions refused; "": none, or not known
	Claimed bool   `json:"claimed"`        // a signal other than the marker says that all is done
	Part    *Part  `json:"part,omitempty"` // nil: there is no step, or it has not been judged yet
}

// Claim says which worker elsewhere has a session. It is saved before the worker hears of it.
type Claim struct {
	ID      string    `json:"id"`      // the worker's name, a dot, and a text that nobody else has
	Attempt int       `json:"attempt"` // how often the session was given to a worker
	Machine string    `json:"machine"` // of the worker, cleaned
	Commit  string    `json:"commit"`  // with which it begins
	Since   time.Time `json:"since"`
}

// MaxMessage is how many bytes of a final answer are kept. Its last line says how the loop stands.
const MaxMessage = 256 << 10

// NewID returns a name for a run that no other run has.
func NewID() string { return strings.ToLower(rand.Text()[:10]) }

// Schema is the version of the record that this program writes, and the only one that it goes on from.
const Schema = 3

// Load returns the record of the last run over a loop, or nil if there is none.
func Load(store *loopdir.Store) (*Run, error) {
	data, err := store.Run()
	if err != nil || data == nil {
		return nil, err
	}
	return parse(data)
}

func parse(data []byte) (*Run, error) {
	var r Run
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("the record of the run cannot be used: %w; start a new run without --resume", err)
	}
	switch {
	case r.Schema > Schema:
		return nil, errors.New("a later version wrote the record of the run; use that version")
	case r.Schema != Schema || !isID(r.ID) || r.Loop == "" || !r.Options.bounded() || !r.Chain.makesSense():
		return nil, errors.New("the record of the run makes no sense; start a new run without --resume")
	}
	return &r, nil
}

// isID reports whether text can be the id of a run. It is part of the names of files.
func isID(text string) bool {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return text != ""
}

// bounded reports whether each limit is one: a session without a time may hang for ever.
func (o *Options) bounded() bool {
	return o.SessionTimeout > 0 && min(o.IdleTimeout, o.Wait) >= 0 &&
		o.MaxIterations >= 0 && o.MaxTokens >= 0 && o.MaxCostUSD >= 0
}

// makesSense reports whether the chain has steps, each with a limit, and one of them works, or all are over. c may be
// nil.
func (c *Chain) makesSense() bool {
	return c == nil || len(c.Steps) > 0 && c.At >= 0 && c.At <= len(c.Steps) && !c.Steps[0].Reviews &&
		!slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Limit < 1 })
}

// encodedWork is an entry of Work as JSON.
type encodedWork struct {
	work Work
	text []byte
}

// Encode returns the record as JSON. A run over a long list has much work and saves often, so each entry is encoded
// once for each change of it, on a line of its own.
func (r *Run) Encode() ([]byte, error) {
	rest := *r
	rest.Work = nil
	data, err := jsontext.Indent(&rest)
	if err != nil || len(r.Work) == 0 {
		return data, err
	}
	data = bytes.TrimSuffix(data, []byte("\n}\n"))
	between := ",\n  \"work\": [\n    "
	for i, w := range r.Work {
		if i == len(r.encoded) {
			r.encoded = append(r.encoded, encodedWork{})
		}
		one := &r.encoded[i]
		if one.text == nil || one.work != w {
			one.work = w
			one.text, err = json.Marshal(w)
			if err != nil {
				return nil, err
			}
		}
		data = append(append(data, between...), one.text...)
		between = ",\n    "
	}
	return append(data, "\n  ]\n}\n"...), nil
}

// Save writes the record.
func (r *Run) Save(store *loopdir.Store) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	return store.SaveRun(data)
}

// Session returns the name by which the loop knows the run.
func (r *Run) Session() string { return decide.RunSession(r.ID) }

// WorkOn returns the entry of a feature.
func (r *Run) WorkOn(feature string) *Work {
	for i := range r.Work {
		if r.Work[i].Feature == feature {
			return &r.Work[i]
		}
	}
	r.Work = append(r.Work, Work{Feature: feature})
	return &r.Work[len(r.Work)-1]
}
