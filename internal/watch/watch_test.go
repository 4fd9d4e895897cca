package watch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

// TestLook reads a loop of the hook and one with a run.
func TestLook(t *testing.T) {
	w := watchtest.New(t)
	w.Commit(w.Loop("hook"), func(s *decide.State) { s.Status, s.ExitReason = decide.Complete, "promise" })
	r := record.Run{
		ID: "abc", PID: os.Getpid(), Start: proc.Start(os.Getpid()), StartedAt: time.Now(), Iterations: 2, Sessions: 3,
		Current: &record.Current{Session: record.Session{Number: 3, Feature: "f3\x1b[31m"}},
		Spent:   record.Sum{Usage: agent.Usage{Input: 7, CostUSD: 1.5, TokensKnown: true, CostKnown: true}},
	}
	r.Options.Agent, r.Options.OnComplete = "claude", "curl -H secret"
	steps := []record.Step{{Step: chain.Step{Limit: 1}}, {Step: chain.Step{Limit: 2}}}
	r.Chain = &record.Chain{Definition: "a:1 -> b:2\x1b[1m", At: 1, Steps: steps}
	w.Run(w.Loop("runner"), r)
	p, err := Look(w.Env)
	if err != nil || len(p.Loops) != 2 {
		t.Fatal(p, err)
	}
	first, second := p.Loops[0], p.Loops[1]
	if first.Name != "runner" || second.Name != "hook" || second.Works() || second.Run != nil {
		t.Errorf("the loops are %s and %s; want the one at work first", first.Name, second.Name)
	}
	got := first.Run
	if !first.Works() || first.Features.Total != 10 || first.Features.Passed != 3 || got == nil || !got.Works ||
		got.Session == nil || got.Session.Feature != "f3" || first.Spent.CostUSD != 1.5 || first.Spent.Tokens() != 7 ||
		got.Step != "step 2 of 2: a:1 -> b:2" {
		t.Errorf("the run is %+v of %+v", got, first)
	}
	for name, want := range map[string]string{"runner": "runner", "abc": "runner", first.Key: "runner", "no": ""} {
		if l := p.Find(name); (l == nil) != (want == "") || l != nil && l.Name != want {
			t.Errorf("Find(%q) = %v", name, l)
		}
	}
	w.Write(filepath.Join(w.Dir, "projects", "hook", loopdir.Below, "hook", loopdir.ListFile), "[")
	w.Write(filepath.Join(w.Env.StateDir, "loops", second.Key, "state.json"), "{}")
	p, err = Look(w.Env, filepath.Join(w.Dir, "projects", "hook"))
	if err != nil || p.Find("hook") == nil ||
		p.Find("hook").Status.Status != "UNKNOWN" {
		t.Errorf("a loop that cannot be read: %+v, %v", p, err)
	}
}

// follow starts a watcher and returns a function that waits until its picture is as wanted.
func follow(w watchtest.World) (await func(what string, is func(*Picture) bool)) {
	w.Helper()
	watcher, err := New(w.Env)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { watcher.Run(ctx); close(done) }()
	w.Cleanup(func() { cancel(); <-done })
	return func(what string, is func(*Picture) bool) {
		w.Helper()
		late := time.After(20 * time.Second)
		for !is(watcher.Picture()) {
			select {
			case <-watcher.Changes:
			case <-late:
				w.Fatalf("%s: the picture is still %+v", what, watcher.Picture())
			}
		}
	}
}

// TestLanes reads what the lanes of a run work on.
func TestLanes(t *testing.T) {
	r := record.Run{ID: "abc", PID: os.Getpid(), Start: proc.Start(os.Getpid()), Lanes: []record.Lane{
		{Number: 1, Current: &record.Current{Session: record.Session{Number: 4, Lane: 1, Feature: "a\x1b[31m"}}},
		{Number: 2, Current: &record.Current{Session: record.Session{Number: 2, Lane: 2, Feature: "x", Outcome: "done"}}},
		{Number: 3, Current: &record.Current{Session: record.Session{Number: 3, Lane: 3, Feature: "b"}}},
	}}
	got := runOf(&r)
	if len(got.Lanes) != 2 || got.Lanes[1].Lane != 3 || got.Session == nil || got.Lanes[0].Feature != "a" ||
		got.Lanes[1].Feature != "b" {
		t.Errorf("the run is %+v", got)
	}
	r.PID = 0
	if got := runOf(&r); got.Session != nil || got.Lanes != nil {
		t.Errorf("nobody works the run, and it works on %+v", got.Lanes)
	}
}

// TestFollow changes loops in every way.
func TestFollow(t *testing.T) {
	t.Parallel()
	w := watchtest.New(t)
	a := w.Loop("a")
	w.Loop("b")
	await := follow(w)
	loopIs := func(name string, is func(l *Loop) bool) func(*Picture) bool {
		return func(p *Picture) bool { l := p.Find(name); return l != nil && is(l) }
	}
	await("at first", func(p *Picture) bool { return len(p.Loops) == 2 })

	path := filepath.Join(a.Dir, loopdir.ListFile)
	w.Write(path+".new", watchtest.List(10, 4))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	await("a rename over the list", loopIs("a", func(l *Loop) bool { return l.Features.Passed == 4 }))

	w.Write(path, watchtest.List(10, 5))
	past := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	await("a clock that was set back", loopIs("a", func(l *Loop) bool { return l.Features.Passed == 5 }))

	w.Commit(a, func(s *decide.State) { s.Iteration = 7 })
	await("a new record", loopIs("a", func(l *Loop) bool { return l.Iteration == 7 }))

	w.Loop("c")
	await("a new loop", loopIs("c", func(l *Loop) bool { return l.Works() }))

	if err := os.RemoveAll(a.Dir); err != nil {
		t.Fatal(err)
	}
	await("a loop whose folder was deleted", loopIs("a", func(l *Loop) bool { return l.Status.Status == "UNKNOWN" }))
	w.Loop("a")
	w.Commit(a, func(s *decide.State) { s.Iteration = 9 })
	await("a loop that is there again", loopIs("a", func(l *Loop) bool { return l.Iteration == 9 }))
	w.Write(path, watchtest.List(10, 6))
	await("its list", loopIs("a", func(l *Loop) bool { return l.Features.Passed == 6 }))
}

// TestEnded sees that the client of a loop was closed or killed: no file changes then.
func TestEnded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sleep")
	}
	w := watchtest.New(t)
	client := exec.Command("sleep", "60")
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	w.Commit(w.Loop("a"), func(s *decide.State) {
		s.SessionPID, s.ClientStart = client.Process.Pid, proc.Start(client.Process.Pid)
	})
	await := follow(w)
	await("at first", func(p *Picture) bool { return p.Find("a").Works() })
	_ = client.Process.Kill()
	_ = client.Wait()
	await("a client that is gone", func(p *Picture) bool { return p.Find("a").Phase == verb.NeedsYou })
}

// TestEndedMeanwhile kills the client of a loop while the loop is read.
func TestEndedMeanwhile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sleep")
	}
	w := watchtest.New(t)
	at := w.Loop("a")
	watcher, err := New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	watcher.sweep() // a list that is new is read twice
	for i := range 100 {
		client := exec.Command("sleep", "60")
		if err := client.Start(); err != nil {
			t.Fatal(err)
		}
		w.Commit(at, func(s *decide.State) {
			s.SessionPID, s.ClientStart = client.Process.Pid, proc.Start(client.Process.Pid)
		})
		killed := make(chan error)
		go func() {
			time.Sleep(time.Duration(i) * 5 * time.Microsecond)
			_ = client.Process.Kill()
			killed <- client.Wait()
		}()
		watcher.sweep()
		<-killed
		watcher.sweep()
		if watcher.Picture().Find("a").Phase != verb.NeedsYou {
			t.Fatalf("killed %d µs after its loop was looked at, the client seems to run", i*5)
		}
	}
}

// TestSlowReader sends more changes than the reader takes. It gets the last picture, and no queue grows.
func TestSlowReader(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("a")
	watcher, err := New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2; i <= 20; i++ {
		w.Commit(at, func(s *decide.State) { s.Iteration = i })
		watcher.sweep()
	}
	<-watcher.Changes
	if got := watcher.Picture().Find("a").Iteration; got != 20 {
		t.Errorf("the reader sees iteration %d, want 20", got)
	}
	select {
	case <-watcher.Changes:
		t.Error("a second change was kept for the reader")
	default:
	}
}

// TestCost compares the work for one change among many loops with that for all of them.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes 200 loops")
	}
	w := watchtest.New(t)
	var one *loopdir.Loop
	for i := range 200 {
		one = w.Loop(fmt.Sprint("l", i))
	}
	begin := time.Now()
	watcher, err := New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	first := time.Since(begin)
	begin = time.Now()
	watcher.sweep() // the lists were new, so their loops are read once more
	second := time.Since(begin)
	begin = time.Now()
	watcher.sweep()
	idle := time.Since(begin)
	w.Commit(one, func(s *decide.State) { s.Iteration = 5 })
	begin = time.Now()
	watcher.look()
	change := time.Since(begin)
	t.Logf("first picture %s, second %s, a look without changes %s, one change %s", first, second, idle, change)
	if watcher.Picture().Find(keyOf(one)).Iteration != 5 {
		t.Error("the change is not in the picture")
	}
	if change > first/4 {
		t.Errorf("one change among 200 loops takes %s; all of them take %s", change, first)
	}
}

// TestWeek sends the events of a week: memory does not grow with them.
func TestWeek(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes a record thousands of times")
	}
	w := watchtest.New(t)
	at := w.Loop("a")
	watcher, err := New(w.Env)
	if err != nil {
		t.Fatal(err)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	path := filepath.Join(at.Dir, loopdir.ListFile)
	events := func(n int) {
		for i := range n {
			w.Write(path, watchtest.List(10, i%10)+fmt.Sprintf("%*s", i%7, ""))
			watcher.look()
		}
	}
	events(100)
	before := heap()
	events(7 * 24 * 12) // one every five minutes
	if after := heap(); after > before+before/2+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// TestSign follows sessions that write nothing but a log, or the conversation. That is a sign of life, and no change of
// the loop.
func TestSign(t *testing.T) {
	w := watchtest.New(t)
	at := w.Loop("demo")
	w.Run(at, record.Run{
		ID: "r1", PID: os.Getpid(), Start: proc.Start(os.Getpid()), Sessions: 2,
		Current: &record.Current{Session: record.Session{Number: 2}},
	})
	log := filepath.Join(at.Project, record.Folder, loopdir.SessionLog("r1", 2))
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		t.Fatal(err)
	}
	talk := filepath.Join(w.Dir, "talk.jsonl")
	w.Commit(w.Loop("hook"), func(s *decide.State) { s.Transcript = talk })
	await := follow(w)
	first := time.Time{}
	await("at first", func(p *Picture) bool { first = p.Find("demo").LastSign; return !first.IsZero() })
	later := time.Now().Add(time.Minute).Truncate(time.Second)
	for name, path := range map[string]string{"demo": log, "hook": talk} {
		w.Write(path, "a line\n")
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
		await("a session that writes", func(p *Picture) bool { return p.Find(name).LastSign.Equal(later) })
	}
	if p, err := Look(w.Env); err != nil || !p.Find("demo").ChangedAt.Equal(first) {
		t.Errorf("the loop changed, too: %+v, %v", p.Find("demo"), err)
	}
}
