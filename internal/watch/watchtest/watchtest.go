// Package watchtest makes loops for the tests of what shows them: by their files, as the programs leave them.
package watchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// World is a user with projects and loops.
type World struct {
	testing.TB
	Env loop.Env
	Dir string
}

// New makes a user without loops.
func New(t testing.TB) World {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := loop.Env{
		Catch:   context.WithCancel,
		Vars:    []string{"PATH=" + os.Getenv("PATH")},
		Program: "ralph-runner", Agent: "claude", Cwd: dir, StateDir: filepath.Join(dir, "state"),
		Clients: func(string) (ask, resume []string) { return []string{"client"}, []string{"client", "--resume"} },
	}
	return World{t, env, dir}
}

// Write writes a file.
func (w World) Write(path, text string) {
	w.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

// List returns a list of n features, of which some pass.
func List(n, passed int) string {
	var items []map[string]any
	for i := range n {
		item := map[string]any{"id": fmt.Sprint("f", i), "title": fmt.Sprint("Feature ", i), "passes": i < passed}
		items = append(items, item)
	}
	text, _ := json.Marshal(items)
	return string(text)
}

// Loop makes a loop at work, in a project of its own.
func (w World) Loop(name string) *loopdir.Loop {
	w.Helper()
	folder := filepath.Join(w.Dir, "projects", name, loopdir.Below, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		w.Fatal(err)
	}
	w.Write(filepath.Join(folder, loopdir.ListFile), List(10, 3))
	where := w.Env.Where()
	where.LoopDir = folder
	at, err := loopdir.Find(where)
	if err != nil {
		w.Fatal(err)
	}
	w.Commit(at, func(*decide.State) {})
	return at
}

// Check has this process run a check of a loop.
func (w World) Check(at *loopdir.Loop) {
	w.Helper()
	store, err := at.Open()
	if err != nil {
		w.Fatal(err)
	}
	defer store.Close()
	pid := os.Getpid()
	store.BeginStop(decide.Running{PID: pid, Start: proc.Start(pid), Since: time.Now(), What: "a check"})
}

// Commit changes the record of a loop.
func (w World) Commit(at *loopdir.Loop, edit func(*decide.State)) {
	w.Helper()
	store, err := at.Open()
	if err != nil {
		w.Fatal(err)
	}
	defer store.Close()
	err = store.Locked(time.Minute, func() error {
		state, err := store.State()
		if err != nil {
			return err
		}
		if state.Schema == 0 {
			state = decide.State{
				Schema:  decide.SchemaVersion,
				Loop:    at.Dir,
				Ending:  decide.Ending{Status: decide.InProgress, StartedAt: time.Now()},
				Counted: decide.Counted{Iteration: 1},
				Owner:   decide.Owner{Session: "s1", SessionPID: os.Getpid(), ClientStart: proc.Start(os.Getpid())},
			}
		}
		edit(&state)
		unshown, err := store.Commit(state)
		return errors.Join(unshown, err)
	})
	if err != nil {
		w.Fatal(err)
	}
}

// Run gives the loop a run.
func (w World) Run(at *loopdir.Loop, r record.Run) {
	w.Helper()
	store, err := at.Open()
	if err != nil {
		w.Fatal(err)
	}
	defer store.Close()
	r.Schema, r.Loop, r.Name, r.Options.SessionTimeout = record.Schema, at.Dir, at.Name, time.Hour
	text, err := json.Marshal(r)
	if err == nil {
		err = store.SaveRun(text)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// Situation is a loop in one of the situations in which a person looks at it, and what answers the five questions.
type Situation struct {
	Name                  string // of the loop
	Works, Progress, Cost string
	Wrong                 string // "": nothing
	Do                    string // "": nothing

	features, passed int
	checks           string // in checks.jsonl
	state            func(*decide.State)
	run              *record.Run
	list             string // "": as many features as there are
	settings         string // ralph.json; "": none
}

// Situations makes ten loops, each in another situation.
func (w World) Situations() []Situation {
	w.Helper()
	now := time.Now().UTC()
	alive, gone := os.Getpid(), 1<<30
	run := func(pid int, usd float64) *record.Run {
		return &record.Run{
			ID: "run1", PID: pid, Start: proc.Start(pid), StartedAt: now.Add(-20 * time.Minute), Iterations: 5, Sessions: 6,
			Options: record.Options{Agent: "claude"},
			Spent:   record.Sum{Usage: agent.Usage{Input: 47_600, CostUSD: usd, TokensKnown: true, CostKnown: true}},
		}
	}
	ended := func(status decide.Status, reason, needs string) func(*decide.State) {
		return func(s *decide.State) {
			s.Status, s.ExitReason, s.Needs, s.EndedAt = status, reason, needs, now
		}
	}
	byRun := func(s *decide.State) { s.Session = decide.RunSession("run1") }
	working := run(alive, 7.76)
	working.Current = &record.Current{Session: record.Session{
		Number: 6, Iteration: 6, Feature: "f4", StartedAt: now.Add(-17 * time.Second),
	}}
	working.Work = []record.Work{{Feature: "f0", Attempts: 2, Took: time.Minute, Spent: working.Spent}}
	waiting := run(alive, 1.5)
	waiting.Waiting = &record.Waiting{Until: now.Add(time.Hour), Why: "a limit of the provider"}
	failing := `{"checks": [{"name": "tests", "command": ["go", "test"], "when": "claim"}]}`
	output := fmt.Sprintf(`{"start": "%s", "check": "tests", "feature": "f1", "outcome": "exit status 1", "durationMs": `+
		`812, "output": "--- FAIL: TestLogin\n    login_test.go:12: got 3, want 4\nFAIL"}`+"\n",
		now.Format("2006-01-02T15:04:05Z"))
	all := []Situation{
		{
			Name: "working", Works: "RUNNING", Progress: "4/10", Cost: "$7.76", passed: 4, features: 10,
			state: func(s *decide.State) { byRun(s); s.Proven = 3 },
			run:   working,
		},
		{
			Name: "provider", Works: "WAITING", Progress: "2/3", Cost: "$1.50",
			Wrong: "waits: a limit of the provider, until 20", passed: 2, features: 3, state: byRun, run: waiting,
		},
		{
			Name: "idle", Works: "NEEDS YOU", Progress: "1/3", Wrong: "no session works on it",
			Do: "type anything in its session", passed: 1, features: 3,
			state: func(s *decide.State) { s.Idle = now.Add(-time.Hour) },
		},
		{
			Name: "question", Works: "BLOCKED", Progress: "0/3", Cost: "$0.21", Wrong: "an API key of the search provider",
			Do: "note question ANSWER", features: 3, run: run(gone, 0.21),
			state: ended(decide.Blocked, decide.Asks, "an API key of the search provider"),
		},
		{
			Name: "failing", Works: "RUNNING", Progress: "1/3", Cost: "$0.71", Wrong: "got 3, want 4", features: 3, passed: 1,
			settings: failing, checks: output, state: byRun, run: run(alive, 0.71),
		},
		{
			Name: "lost", Works: "NEEDS YOU", Progress: "1/3", Wrong: "no session works on it",
			Do: "client", passed: 1, features: 3,
			state: func(s *decide.State) { s.SessionPID, s.ClientStart = gone, proc.Start(alive) },
		},
		{
			Name: "dead", Works: "NEEDS YOU", Progress: "1/3", Cost: "$2.00", Wrong: "no session works on it",
			Do:     "ralph-runner resume dead",
			passed: 1, features: 3, run: run(gone, 2),
			state: func(s *decide.State) { byRun(s); s.SessionPID, s.ClientStart = gone, proc.Start(alive) },
		},
		{
			Name: "complete", Works: "COMPLETE", Progress: "6/6", Cost: "$1.10", passed: 6, features: 6, run: run(gone, 1.1),
			state: func(s *decide.State) { ended(decide.Complete, "all_features_pass", "")(s); s.Proven = 5 },
		},
		{
			Name: "limit", Works: "REACHED_LIMIT", Progress: "2/3", Wrong: "max iterations", Do: "resume limit +15", passed: 2,
			features: 3,
			state: func(s *decide.State) {
				ended(decide.ReachedLimit, decide.MaxIterations, "")(s)
				s.Iteration = decide.DefaultIterations
			},
		},
		{Name: "broken", Works: "RUNNING", Wrong: "line 1, column 11", list: `[{"id": 1,]`},
	}
	for _, one := range all {
		w.make(one)
	}
	return all
}

// make makes the loop of a situation.
func (w World) make(one Situation) {
	w.Helper()
	at := w.Loop(one.Name)
	if one.list == "" {
		one.list = List(one.features, one.passed)
	}
	w.Write(filepath.Join(at.Dir, loopdir.ListFile), one.list)
	if one.settings != "" {
		w.Trust(at, one.settings, one.list)
	}
	if one.checks != "" {
		w.Write(filepath.Join(at.Dir, loopdir.CheckLines), one.checks)
	}
	if one.state != nil {
		w.Commit(at, one.state)
	}
	if one.run != nil {
		w.Run(at, *one.run)
	}
}

// Trust writes a loop's ralph.json, as a person who has trusted it, and a list.
func (w World) Trust(at *loopdir.Loop, settings, list string) {
	w.Helper()
	w.Write(filepath.Join(at.Dir, loopdir.ConfigFile), settings)
	trust := config.NewTrust([]byte(settings), os.Getenv("PATH"))
	trust.SetList(list)
	store, err := at.Open()
	if err == nil {
		err = store.SetTrust(trust)
		store.Close()
	}
	if err != nil {
		w.Fatal(err)
	}
}

// commits makes a repository with a merge of a feature in each minute.
func (w World) commits(dir string, n int, begin time.Time) {
	w.Helper()
	var text bytes.Buffer
	for i := range n {
		message := fmt.Sprintf("Merge feature %d of the list into the branch of the run\n\nRalph-Feature: f%d\n", i, i)
		code := strings.Repeat(fmt.Sprintf("line %d\n", i), 20)
		fmt.Fprintf(&text, "commit refs/heads/main\ncommitter A <a@example.com> %d +0000\ndata %d\n%s\n"+
			"M 100644 inline f%d.txt\ndata %d\n%s\n", begin.Unix()+int64(60*i), len(message), message, i, len(code), code)
	}
	for _, words := range [][]string{{"init", "-q", "-b", "main"}, {"fast-import", "--quiet"}} {
		git := exec.Command("git", words...) // init reads no input
		git.Dir, git.Stdin = dir, bytes.NewReader(text.Bytes())
		if out, err := git.CombinedOutput(); err != nil {
			w.Fatalf("git %s: %v: %s", words[0], err, out)
		}
	}
}

// Remove deletes a file or a folder.
func (w World) Remove(path string) {
	w.Helper()
	if err := os.RemoveAll(path); err != nil {
		w.Fatal(err)
	}
}

// Lanes makes a loop whose run worked n features in some lanes, and checked all of them after each session. Up to 60
// have a commit each.
func (w World) Lanes(name string, n, lanes int) *loopdir.Loop {
	w.Helper()
	at := w.Loop(name)
	w.Write(filepath.Join(at.Dir, loopdir.ListFile), List(min(n, 60), min(n, 60)-1))
	begin := time.Now().Add(-time.Duration(n) * time.Minute).UTC().Truncate(time.Second)
	r := record.Run{ID: "run1", StartedAt: begin, Iterations: n, Sessions: n, Options: record.Options{Agent: "claude"}}
	var lines bytes.Buffer
	cost := 0.25
	for i := range n {
		one := record.Session{
			RunID: r.ID, Number: i + 1, Iteration: i + 1, Counted: true, Lane: i%lanes + 1, Agent: "claude",
			Feature: fmt.Sprint("f", i%60), StartedAt: begin.Add(time.Duration(i) * time.Minute), Outcome: "done",
			DurationSec: float64(60 * lanes),
			EndedAt:     begin.Add(time.Duration(i+lanes) * time.Minute), Merge: record.Merged, CostUSD: &cost,
		}
		for k := range min(i, 60) {
			one.Checks = append(one.Checks, record.Check{Name: "its tests", Feature: fmt.Sprint("f", k), Passed: k != i-1})
		}
		if n > 1000 {
			one.Checks = one.Checks[:min(1, len(one.Checks))]
		}
		work := r.WorkOn(one.Feature)
		work.Attempts, work.Took = work.Attempts+1, work.Took+time.Minute
		work.Spent.Add(agent.Usage{CostUSD: cost, CostKnown: true})
		r.Spent.Add(agent.Usage{CostUSD: cost, CostKnown: true})
		text, err := json.Marshal(one)
		if err != nil {
			w.Fatal(err)
		}
		lines.Write(append(text, '\n'))
	}
	folder := filepath.Join(at.Project, record.Folder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		w.Fatal(err)
	}
	w.Write(filepath.Join(folder, record.Iterations), lines.String())
	if n <= 60 {
		w.commits(at.Project, n, begin)
	}
	w.Run(at, r)
	return at
}

// Silent makes a loop whose run works in lanes, each of which printed something for the last time so long ago; with one
// time alone, without lanes.
func (w World) Silent(name string, ago ...time.Duration) (at *loopdir.Loop, r record.Run) {
	w.Helper()
	at = w.Loop(name)
	w.Commit(at, func(s *decide.State) { s.Session = decide.RunSession("run1") })
	begin := time.Now().Add(-time.Hour)
	r = record.Run{
		ID: "run1", PID: os.Getpid(), Start: proc.Start(os.Getpid()), StartedAt: begin, Sessions: len(ago),
		Options: record.Options{Agent: "claude"}, Work: []record.Work{{Feature: "f0", Attempts: 1}},
	}
	for i, each := range ago {
		c := record.Current{Session: record.Session{
			Number: i + 1, Lane: i + 1, Feature: fmt.Sprint("f", i+3), StartedAt: begin,
		}}
		r.Lanes = append(r.Lanes, record.Lane{Number: c.Lane, Current: &c})
		w.Printed(at, c.Number, "the last line\n", each)
	}
	if len(ago) == 1 {
		r.Current, r.Lanes = r.Lanes[0].Current, nil
		r.Current.Lane = 0
	}
	w.Run(at, r)
	return at, r
}

// Printed writes what a session of a run has printed, so long ago.
func (w World) Printed(at *loopdir.Loop, session int, text string, ago time.Duration) {
	w.Helper()
	path := filepath.Join(at.Project, record.Folder, loopdir.SessionLog("run1", session))
	then := time.Now().Add(-ago)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	w.Write(path, text)
	err = errors.Join(err, os.Chtimes(path, then, then))
	if err != nil {
		w.Fatal(err)
	}
}
