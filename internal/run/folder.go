package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
)

// Folder is the folder in the project that has a run's files for people and scripts. Nothing reads them back: an agent
// can write them.
const Folder = loopdir.RunFolder

// folder is that folder, open. Trouble with it stops no run. If it cannot be opened, nothing is written.
type folder struct {
	root    *os.Root // nil: nothing is written
	id      string   // of the run
	trouble error    // why nothing is written
	lines   [][]byte // for iterations.jsonl, which could not be written yet
}

// openFolder makes and opens the folder. It follows no link out of the project.
func openFolder(project, id string) (*folder, error) {
	top, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	f := &folder{id: id}
	if f.trouble = top.MkdirAll(Folder, 0o755); f.trouble != nil {
		return f, nil
	}
	root, err := top.OpenRoot(Folder)
	if err != nil {
		f.trouble = err
		return f, nil
	}
	f.root = root
	if _, err := f.root.Lstat(".gitignore"); err != nil {
		f.text(".gitignore", "*\n")
	}
	return f, nil
}

func (f *folder) close() {
	if f.root != nil {
		f.root.Close()
	}
}

func (f *folder) text(name, text string) {
	if f.root != nil {
		_ = loopdir.Replace(f.root, name, []byte(text), 0o644)
	}
}

func (f *folder) write(name string, value any) {
	if data, err := json.MarshalIndent(value, "", "  "); err == nil {
		f.text(name, string(data)+"\n")
	}
}

// log opens the log of a session, which gets all that the agent prints.
func (f *folder) log(session int) io.WriteCloser {
	dir := filepath.Join("logs", f.id)
	if f.root == nil || f.root.MkdirAll(dir, 0o755) != nil {
		return nothing{}
	}
	root, err := f.root.OpenRoot(dir)
	if err != nil {
		return nothing{}
	}
	return &sessionLog{root: root, name: fmt.Sprintf("%d.log", session)}
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }

// maxLog is how many bytes a session's log may have. Then it becomes N.log.1, and a new one begins.
const maxLog = 16 << 20

// sessionLog is a log that keeps its last maxLog bytes, and up to as many before them.
type sessionLog struct {
	root *os.Root
	name string
	file *os.File
	size int64
}

func (l *sessionLog) Write(p []byte) (int, error) {
	if l.file != nil && l.size+int64(len(p)) > maxLog {
		l.file.Close()
		l.file = nil
		_ = l.root.Rename(l.name, l.name+".1")
	}
	if l.file == nil {
		_ = l.root.Remove(l.name) // somebody may have put a link there
		f, err := l.root.OpenFile(l.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return len(p), nil
		}
		l.file, l.size = f, 0
	}
	n, _ := l.file.Write(p)
	l.size += int64(n)
	return len(p), nil
}

func (l *sessionLog) Close() error {
	if l.file != nil {
		l.file.Close()
	}
	return l.root.Close()
}

// line is a line of iterations.jsonl: a session.
type line struct {
	RunID       string      `json:"runId"`
	Session     int         `json:"session"`
	Iteration   int         `json:"iteration"`
	Counted     bool        `json:"counted"`       // false: it was an interruption, and the same iteration went on
	Leg         int         `json:"leg,omitempty"` // of a chain, the first one 1
	Agent       string      `json:"agent"`
	Model       string      `json:"model"`
	Why         string      `json:"why,omitempty"` // why this agent and this model; "": they are the usual ones
	Feature     string      `json:"feature"`
	StartedAt   time.Time   `json:"startedAt"`
	EndedAt     time.Time   `json:"endedAt"`
	DurationSec float64     `json:"durationSec"`
	ExitCode    int         `json:"exitCode"`
	Outcome     string      `json:"outcome"`
	Problem     string      `json:"problem,omitempty"`
	Signals     []string    `json:"signals"`
	Tokens      lineTokens  `json:"tokens"`
	CostUSD     *float64    `json:"costUsd"`                 // null: unknown
	Estimated   bool        `json:"costEstimated,omitempty"` // reckoned from tokens and a price
	Denied      int         `json:"denied"`
	Checks      []lineCheck `json:"checks"`
}

type lineTokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
}

type lineCheck struct {
	Name    string `json:"name"`
	Feature string `json:"feature,omitempty"`
	Passed  bool   `json:"passed"`
}

const iterations = "iterations.jsonl"

// iteration adds the line of a session that has ended. s is the step after it; nil if the session did not count, or if
// the step was taken by a process that was killed since.
func (f *folder) iteration(r *Record, c *Current, s *loop.Step, counted bool) {
	if f.root == nil || c == nil || c.Ended == nil || f.has(r.ID, c.Session) {
		return
	}
	e := c.Ended
	l := line{
		RunID: r.ID, Session: c.Session, Iteration: c.Iteration, Counted: counted,
		Agent: cmp.Or(c.Agent, r.Options.Agent), Model: e.Model, Why: c.Why,
		Feature: c.Feature, StartedAt: c.StartedAt, EndedAt: c.StartedAt.Add(e.Took), DurationSec: e.Took.Seconds(),
		ExitCode: e.ExitCode, Outcome: string(e.Class), Problem: e.Problem, Signals: append([]string{}, e.Signals...),
		Tokens: lineTokens{e.Used.Input, e.Used.Output, e.Used.CacheRead, e.Used.CacheWrite}, Denied: e.Denied,
		Checks: []lineCheck{},
	}
	if r.Leg() != nil {
		l.Leg = r.Chain.At + 1
	}
	if e.Own != nil {
		l.Checks = append(l.Checks, e.Own.Checks...)
	}
	if e.Used.CostKnown {
		l.CostUSD, l.Estimated = &e.Used.CostUSD, e.Used.Estimated
	}
	if s != nil {
		for _, r := range s.Picture.Snapshot.Results {
			l.Checks = append(l.Checks, lineCheck{r.Name, r.Feature, r.Passed})
		}
	}
	if data, err := json.Marshal(l); err == nil {
		f.lines = append(f.lines, append(data, '\n'))
		_ = f.catchUp()
	}
}

// catchUp writes the lines that are not written yet. On a full disk they wait for the next time.
func (f *folder) catchUp() error {
	for len(f.lines) > 0 {
		if err := loopdir.AppendLog(f.root, iterations, f.lines[0]); err != nil {
			return err
		}
		f.lines = f.lines[1:]
	}
	return nil
}

// has reports whether the last line is that of a session: a process that was killed may have written it.
func (f *folder) has(id string, session int) bool {
	text := bytes.TrimRight(loopdir.LogTail(f.root, iterations, 1<<20), "\n")
	last := string(text[bytes.LastIndexByte(text, '\n')+1:])
	return strings.HasPrefix(last, fmt.Sprintf(`{"runId":%q,"session":%d,`, id, session))
}
