package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Iterations is the name of the file with a line for each session of the project's runs, in Folder.
const Iterations = "iterations.jsonl"

// Folder is the folder in the project that has a run's files for people and scripts. An agent can write them, so no run
// reads them back.
const Folder = loopdir.RunFolder

// Session is a session of a run: of the record while the loop has not counted it, then a line of iterations.jsonl, and
// what people are shown of it. A stop of a session of the hook is shown as one, too.
type Session struct {
	RunID       string     `json:"runId"`
	Number      int        `json:"session"` // in the run; 0: a stop of the hook
	Iteration   int        `json:"iteration"`
	Counted     bool       `json:"counted"`           // false: it was interrupted, and the same iteration continued
	Step        int        `json:"step,omitempty"`    // in a chain, from 1
	Lane        int        `json:"lane,omitempty"`    // from 1
	Worker      string     `json:"worker,omitempty"`  // the worker's name; "": none
	Machine     string     `json:"machine,omitempty"` // the worker's machine
	Merge       string     `json:"merge,omitempty"`   // what happened to a lane's work
	Agent       string     `json:"agent"`
	Model       string     `json:"model"`
	Why         string     `json:"why,omitempty"` // why another agent or model worked; "": none
	Feature     string     `json:"feature"`
	StartedAt   time.Time  `json:"startedAt"` // zero: not known
	EndedAt     time.Time  `json:"endedAt"`
	DurationSec float64    `json:"durationSec"`
	ExitCode    int        `json:"exitCode"`
	Outcome     string     `json:"outcome"` // how it ended, or the verdict of a stop; "": its end is not known
	Problem     string     `json:"problem,omitempty"`
	Signals     []string   `json:"signals"`
	Tokens      LineTokens `json:"tokens"`
	CostUSD     *float64   `json:"costUsd"`                 // null: unknown
	Estimated   bool       `json:"costEstimated,omitempty"` // from tokens and a price
	Denied      int        `json:"denied"`
	Checks      []Check    `json:"checks"`
}

// LineTokens are the tokens that a session used.
type LineTokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
}

// TokensOf returns the tokens of a usage.
func TokensOf(u agent.Usage) LineTokens {
	return LineTokens{u.Input, u.Output, u.CacheRead, u.CacheWrite}
}

// HasEnded reports whether the end of the session is known.
func (l Session) HasEnded() bool { return l.Outcome != "" }

// Class returns how the session ended.
func (l Session) Class() agent.Class { return agent.Class(l.Outcome) }

// End notes how the session ended.
func (l *Session) End(e agent.Result) {
	l.EndedAt, l.DurationSec = l.StartedAt.Add(e.Took), e.Took.Seconds()
	l.Outcome, l.Problem, l.ExitCode = string(e.Class), e.Problem, e.ExitCode
	l.Model = cmp.Or(e.Activity.Model, l.Model)
	l.Denied = e.Denied

	used := e.Usage
	l.Tokens = TokensOf(used)
	if used.CostKnown {
		l.CostUSD, l.Estimated = &used.CostUSD, used.Estimated
	}
}

// Check is how a check ended.
type Check struct {
	Name    string `json:"name"`
	Feature string `json:"feature,omitempty"`
	Passed  bool   `json:"passed"`
}

// Sessions returns the sessions of a run that iterations.jsonl still has, the first one first. An agent can write that
// file, so the texts are cleaned, and nothing else is known of them.
func Sessions(project, id string) []Session {
	all := []Session{}
	root, err := openFiles(project)
	if err != nil {
		return all
	}
	defer root.Close()
	for _, name := range []string{Iterations + ".1", Iterations} {
		for text := range bytes.Lines(loopdir.LogTail(root, name, maxLines)) {
			if l, is := parseLine(text); is && l.RunID == id {
				all = append(all, l)
			}
		}
	}
	return all
}

func parseLine(text []byte) (l Session, is bool) {
	if json.Unmarshal(text, &l) != nil {
		return l, false
	}
	return l.clean(), true
}

// maxLines is how many bytes of a file with lines are read.
const maxLines = 8 << 20

// maxShown is the most dollars or tokens that a session can have used.
const maxShown = 1e12

func (l Session) clean() Session {
	l.Worker, l.Machine = plain.Line(l.Worker, 80), plain.Line(l.Machine, 80)
	l.Agent = plain.Line(l.Agent, 80)
	l.Model = plain.Line(l.Model, 80)
	l.Feature = plain.Line(l.Feature, 80)
	l.Merge = plain.Line(l.Merge, 20)
	l.Outcome = plain.Line(l.Outcome, 40)
	l.Problem = plain.Line(l.Problem, 300)
	l.Why = plain.Line(l.Why, 200)
	if c := l.CostUSD; c != nil && !(*c >= 0 && *c <= maxShown) {
		l.CostUSD = nil
	}
	for _, n := range []*int64{&l.Tokens.Input, &l.Tokens.Output, &l.Tokens.CacheRead, &l.Tokens.CacheWrite} {
		*n = min(max(*n, 0), maxShown)
	}
	l.Signals = append([]string{}, l.Signals...)
	l.Checks = append([]Check{}, l.Checks...)
	for i := range l.Signals {
		l.Signals[i] = plain.Line(l.Signals[i], 80)
	}
	for i, c := range l.Checks {
		l.Checks[i].Name, l.Checks[i].Feature = plain.Line(c.Name, 80), plain.Line(c.Feature, 80)
	}
	return l
}

// Took returns how long the session took, 0 if that is not known.
func (l Session) Took() time.Duration {
	if l.StartedAt.IsZero() {
		return 0
	}
	return max(0, l.EndedAt.Sub(l.StartedAt))
}

// Cost says what the session cost.
func (l Session) Cost() string {
	if l.CostUSD == nil {
		return ""
	}
	return plain.Dollars(*l.CostUSD, l.Estimated)
}

// Result says in a word or two how the session ended. That its agent is done says less than what became of its work, or
// that a check failed after it.
func (l Session) Result() string {
	failed := slices.ContainsFunc(l.Checks, func(c Check) bool { return !c.Passed })
	switch {
	case l.Outcome != string(agent.Done):
		return l.Outcome
	case l.Merge == "" && failed:
		return "check failed"
	}
	return cmp.Or(l.Merge, l.Outcome)
}

// Reason says what went wrong, or else which agent worked and why it, or its model, was not the usual one.
func (l Session) Reason() string {
	if l.Problem == "" && l.Why != "" && l.Agent != "" {
		return l.Agent + ": " + l.Why
	}
	return cmp.Or(l.Problem, l.Why)
}

// Sum returns all tokens.
func (t LineTokens) Sum() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// SessionLog returns the end of what a session of a run has printed, most bytes of it; nil if there is nothing.
func SessionLog(project, id string, session int, most int64) []byte {
	root, err := openFiles(project)
	if err != nil {
		return nil
	}
	defer root.Close()
	last := loopdir.LogTail(root, loopdir.SessionLog(id, session), most)
	if left := most - int64(len(last)); left > 0 {
		return append(loopdir.LogTail(root, loopdir.SessionLog(id, session)+".1", left), last...)
	}
	return last
}

// openFiles opens the folder of runs in a project. It follows no link out of the project.
func openFiles(project string) (*os.Root, error) {
	top, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	return loopdir.OpenFolder(top, Folder)
}

// NoteChecks notes how checks ended, at the feature that each was for. Those of the whole tree were for the one that
// was worked on.
func (r *Run) NoteChecks(worked string, results []decide.Receipt) {
	of := map[string][]decide.Receipt{}
	for _, one := range results {
		feature := cmp.Or(one.Feature, worked)
		of[feature] = append(of[feature], one)
	}
	for i := range r.Work {
		w := &r.Work[i]
		w.Checks = cmp.Or(inWords(of[w.Feature]), w.Checks)
	}
}

// inWords says how checks ended.
func inWords(results []decide.Receipt) string {
	if len(results) == 0 {
		return ""
	}
	if i := slices.IndexFunc(results, func(r decide.Receipt) bool { return !r.Passed }); i >= 0 {
		return plain.Line(results[i].Name, 80) + " " + results[i].Outcome()
	}
	return plain.Count(len(results), "check") + " passed"
}
