package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// stop lets the hook answer a stop of the loop.
func stop(w watchtest.World, at *loopdir.Loop) {
	w.Helper()
	env := w.Env
	env.LoopDir = at.Dir
	ev := loop.Event{
		Report: decide.Report{Event: decide.EventStop, Session: "s1", Client: os.Getpid()},
		Name:   "Stop", At: time.Now(), Timeout: time.Minute,
	}
	l, err := loop.Find(env, ev)
	if err != nil {
		w.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Step(context.Background(), ev); err != nil {
		w.Fatal(err)
	}
}

// TestOpen reads a loop of the hook in detail: one feature is proven, and one claim failed.
func TestOpen(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("demo")
	w.Write(filepath.Join(at.Dir, loopdir.ConfigFile), `{"task": "the task", "checks": [
		{"name": "there", "file_exists": "made-f0", "when": "claim", "features": ["f0"]},
		{"name": "too", "file_exists": "made-f1", "when": "claim", "features": ["f1"]}]}`)
	w.Write(filepath.Join(at.Dir, loopdir.ListFile), watchtest.List(4, 2))
	w.Write(filepath.Join(at.Project, "made-f0"), "")
	stop(w, at)
	d, err := Open(w.Env, at.Dir)
	if err != nil {
		t.Fatal(err)
	}
	states := []string{}
	for _, item := range d.Items {
		states = append(states, item.ID+" "+item.State)
	}
	if want := []string{"f0 proven", "f1 open", "f2 open", "f3 open"}; !slices.Equal(states, want) {
		t.Errorf("the features are %q, want %q", states, want)
	}
	if !d.Items[1].Failed || d.Items[0].Failed || d.Items[2].Failed {
		t.Errorf("a check of f1 alone failed: %+v", d.Items)
	}
	if d.Task != "the task" || len(d.Items[0].Checks) != 1 || d.Items[0].Checks[0].Name != "there" {
		t.Errorf("the task is %q, the receipts are %+v", d.Task, d.Items[0].Checks)
	}
	if len(d.Checked) != 2 || d.Checked[0].Name != "too f1" || len(d.Iterations) != 1 ||
		d.Iterations[0].Outcome != "continue" || !strings.Contains(d.Log, "reopen f1") {
		t.Errorf("checks %+v, iterations %+v, log %q", d.Checked, d.Iterations, d.Log)
	}
}

// TestOpenRun reads a loop with a run in detail.
func TestOpenRun(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("demo")
	w.Run(at, record.Run{ID: "r1", Sessions: 2, Options: record.Options{Agent: "claude"}})
	dir := filepath.Join(at.Project, record.Folder, "logs", "r1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Write(filepath.Join(dir, "2.log"),
		`{"type":"assistant","message":{"content":[{"type":"text","text":"Hello <b>"}]}}`)
	w.Write(filepath.Join(at.Project, record.Folder, "iterations.jsonl"), strings.Join([]string{
		`{"runId":"r0","session":1,"iteration":1}`,
		`no JSON`,
		`{"runId":"r1","session":1,"iteration":1,"counted":true,"feature":"f0\u001b[1m","costUsd":0.5,"outcome":"done",` +
			`"startedAt":"2026-11-22T10:00:00Z","endedAt":"2026-11-22T10:01:00Z","tokens":{"input":1,"cacheRead":2},` +
			`"checks":[{"name":"tests","passed":true},{"name":"tests","feature":"f4"},{"name":"tests","feature":"f5"}]}`,
		`{"runId":"r1","session":2,"iteration":2,"checks":[{"name":"tests","feature":"f4","passed":true}]}`,
	}, "\n")+"\n")
	d, err := Open(w.Env, at.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if d.Items[4].Failed || !d.Items[5].Failed {
		t.Errorf("the check of f4 passed at last, that of f5 did not: %+v", d.Items)
	}
	if len(d.Iterations) != 2 || len(d.Live) != 1 || !slices.Equal(d.Live[0].Lines, []string{"Hello <b>"}) {
		t.Fatalf("iterations %+v, output %+v", d.Iterations, d.Live)
	}
	if i := d.Iterations[0]; i.Feature != "f0" || i.Took() != time.Minute || i.Cost() != "$0.50" ||
		i.Tokens.Sum() != 3 ||
		!i.Counted || len(i.Checks) != 3 || !i.Checks[0].Passed {
		t.Errorf("the iteration is %+v", i)
	}
}

// TestReadLog reads a log that is longer than what is shown. A search finds what is in it from its first line on.
func TestReadLog(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("demo")
	w.Run(at, record.Run{ID: "r1", Sessions: 2, Options: record.Options{Agent: "sh"}})
	path := filepath.Join(at.Project, record.Folder, loopdir.SessionLog("r1", 1))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	w.Write(path+".1", "The first line\n")
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "some line %06d\n", i)
	}
	w.Write(path, text.String())
	const total = 100_001
	for _, tc := range []struct {
		query                   string
		page                    int
		lines, found, at, pages int
		number, pageOfLine      int
	}{
		{"", 0, 1, total, 201, 201, 100_001, 201},
		{"", 1, 500, total, 1, 201, 1, 1},
		{"", 2, 500, total, 2, 201, 501, 2},
		{"", 999, 1, total, 201, 201, 100_001, 201},
		{"FIRST", 0, 1, 1, 1, 1, 1, 1},
		{"line 0005", 1, 100, 100, 1, 1, 502, 2},
		{"some", 2, 500, 100_000, 2, 200, 502, 2},
		{"no such", 0, 0, 0, 1, 1, 0, 0},
	} {
		got, err := ReadLog(w.Env, at.Dir, 1, tc.query, tc.page)
		if err != nil || len(got.Lines) != tc.lines || got.Found != tc.found || got.Page != tc.at || got.Pages != tc.pages ||
			got.Total != total || got.Cut || got.Lacks != "" {
			t.Errorf("%q, page %d: %d lines of %d, page %d of %d, %v", tc.query, tc.page, len(got.Lines), got.Found, got.Page,
				got.Pages, err)
			continue
		}
		if tc.lines == 0 {
			continue
		}
		if one := got.Lines[0]; one.N != tc.number || one.Page != tc.pageOfLine || one.Kind != "said" {
			t.Errorf("%q, page %d begins with %+v", tc.query, tc.page, one)
		}
	}
	for session, want := range map[int]string{2: "is gone", 3: "no such session"} {
		if got, err := ReadLog(w.Env, at.Dir, session, "", 0); err != nil || !strings.Contains(got.Lacks, want) {
			t.Errorf("session %d: %+v, %v", session, got, err)
		}
	}
	w.Write(filepath.Join(at.StatePath(), "run.json"), `{"schema": 4, "id": "r1", "name": "demo"}`)
	if got, err := ReadLog(w.Env, at.Dir, 1, "", 0); err == nil || !strings.Contains(err.Error(), "a later version") {
		t.Errorf("a run of a later version: %+v, %v", got, err)
	}
}

// TestDo does what the verbs do.
func TestDo(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("demo")
	find := func(name string) Action {
		p, err := Look(w.Env)
		if err != nil {
			t.Fatal(err)
		}
		all := p.Find("demo").Actions()
		return all[slices.IndexFunc(all, func(a Action) bool { return a.Name == name })]
	}
	for _, tc := range []struct {
		name, says string
		status     decide.Status
	}{
		{"pause", "paused at iteration 1", decide.Paused},
		{"resume", "continues at iteration 1", decide.InProgress},
		{"more", "at most 25 iterations", decide.InProgress},
		{"cancel", "cancelled at iteration 1", decide.Cancelled},
	} {
		said, err := Do(w.Env, at.Dir, find(tc.name))
		p, _ := Look(w.Env)
		if err != nil || !strings.Contains(said, tc.says) || p.Find("demo").Status.Status != tc.status {
			t.Errorf("%s says %q, %v; the loop is %s", tc.name, said, err, p.Find("demo").Status.Status)
		}
	}
	agents := w.Env
	agents.ByAgent = true
	if _, err := Do(agents, at.Dir, find("resume")); err == nil {
		t.Error("an agent can resume a loop")
	}
}

// TestCan offers nothing that would leave a loop without its run, whose own limit has ended it.
func TestCan(t *testing.T) {
	for reason, want := range map[string]int{decide.MaxIterations: 2, decide.Budget: 0} {
		l := &Loop{Status: verb.Status{Status: decide.ReachedLimit, ExitReason: reason, MaxIterations: 9}}
		can := l.Actions()
		if len(can) != want {
			t.Errorf("%s: %+v", reason, can)
		}
	}
}

// TestLongLines reads a loop whose agent prints lines of a megabyte, and whose list has such titles. What is shown of
// them is short and harmless.
func TestLongLines(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("demo")
	hostile := strings.Repeat("\x1b[31m\u202e<script>", 1<<16)
	title, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(filepath.Join(at.Dir, loopdir.ListFile), `[{"id": "a", "title": `+string(title)+`, "passes": false}]`)
	w.Run(at, record.Run{ID: "r1", Sessions: 1, Options: record.Options{Agent: "sh"}})
	dir := filepath.Join(at.Project, record.Folder, "logs", "r1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Write(filepath.Join(dir, "1.log"), "first\n"+hostile+"\n"+hostile[:9000]+"\nlast\n")
	d, err := Open(w.Env, at.Dir)
	if err != nil {
		t.Fatal(err)
	}
	output := d.Live[0].Lines
	if len(output) == 0 || output[len(output)-1] != "last" {
		t.Fatalf("the output is %d lines", len(output))
	}
	for _, text := range append(output, d.Items[0].Title, d.Next) {
		if len(text) > 4000 || strings.ContainsAny(text, "\x1b\u202e\n") {
			t.Errorf("%d bytes are shown: %.80q", len(text), text)
		}
	}
}
