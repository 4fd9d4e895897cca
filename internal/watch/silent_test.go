package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
)

const long = 22 * time.Minute

// TestStuck makes sessions silent. A loop is stuck if nobody else is at work, as far as can be known.
func TestStuck(t *testing.T) {
	byRun := func(edit func(at *loopdir.Loop, r *record.Run), ago ...time.Duration) func(w watchtest.World) {
		return func(w watchtest.World) {
			at, r := w.Silent("demo", ago...)
			if edit != nil {
				edit(at, &r)
				w.Run(at, r)
			}
		}
	}
	state := func(w watchtest.World, edit func(s *decide.State)) {
		w.Commit(w.Loop("demo"), edit)
	}
	hook := func(edit func(s *decide.State)) func(w watchtest.World) {
		return func(w watchtest.World) {
			talk := filepath.Join(w.Dir, "talk.jsonl")
			then := time.Now().Add(-long)
			w.Write(talk, "a line\n")
			if err := os.Chtimes(talk, then, then); err != nil {
				t.Fatal(err)
			}
			state(w, func(s *decide.State) { s.Transcript, s.Seen = talk, then; edit(s) })
		}
	}
	const look, terminal = "look at its log; '", "look at the terminal of its session; '"
	const one, lanes = "session silent 22 min, log: ", "lane 1 silent 22 min, log: "
	for what, tc := range map[string]struct {
		world             func(w watchtest.World)
		word, wrong, then string
	}{
		"a session":     {byRun(nil, long), "STUCK", one, look},
		"for less long": {byRun(nil, 9*time.Minute), "RUNNING", "", "none: "},
		"each lane":     {byRun(nil, long, time.Hour), "STUCK", lanes, look},
		"a lane of two": {byRun(nil, long, time.Minute), "RUNNING", lanes, "none: "},
		"before any line": {byRun(func(at *loopdir.Loop, _ *record.Run) {
			if err := os.Remove(filepath.Join(at.Project, record.Folder, loopdir.SessionLog("run1", 1))); err != nil {
				t.Fatal(err)
			}
		}, long), "STUCK", "session silent 60 min, log: ", look},
		"a session that began": {byRun(func(_ *loopdir.Loop, r *record.Run) {
			r.Current.StartedAt = time.Now()
		}, long), "RUNNING", "", "none: "},
		"a lane, and work of the other is tested": {byRun(func(_ *loopdir.Loop, r *record.Run) {
			r.Lanes[1].Current.Outcome = "done"
		}, long, long), "RUNNING", lanes, "none: "},
		"a lane, and the others are done": {byRun(func(_ *loopdir.Loop, r *record.Run) {
			r.Lanes[1].Current = nil
		}, long, long), "STUCK", lanes, look},
		"while the run waits": {byRun(func(_ *loopdir.Loop, r *record.Run) {
			r.Waiting = &record.Waiting{Why: "a limit", Until: time.Now().Add(time.Hour)}
		}, long), "WAITING", "waits: a limit", "none: "},
		"of workers elsewhere": {byRun(func(_ *loopdir.Loop, r *record.Run) {
			r.Options.Engine = "nats://x"
		}, long, long), "RUNNING", "", "none: "},
		"without logs": {byRun(func(at *loopdir.Loop, _ *record.Run) {
			if err := os.RemoveAll(filepath.Join(at.Project, record.Folder)); err != nil {
				t.Fatal(err)
			}
		}, long), "RUNNING", "", "none: "},
		"of a run that is gone": {byRun(func(_ *loopdir.Loop, r *record.Run) {
			r.PID = 1 << 30
		}, long), "RUNNING", "", "none: "},
		"a hook's": {hook(func(*decide.State) {}), "STUCK", one, terminal},
		"a hook's, in a check": {func(w watchtest.World) {
			hook(func(*decide.State) {})(w)
			w.Check(w.Loop("demo"))
		}, "RUNNING", "", "none: "},
		"a hook's, after a stop": {hook(func(s *decide.State) { s.Seen = time.Now() }), "RUNNING", "", "none: "},
		"a hook's, idle": {hook(func(s *decide.State) {
			s.Idle = time.Now().Add(-long)
		}), "NEEDS YOU", "no session works", "type anything in its session"},
		"a hook's, in the background": {hook(func(s *decide.State) {
			s.WaitingFor, s.WaitingSince = "a subagent", time.Now().Add(-long)
		}), "WAITING", "waits: a subagent", "none: "},
		"a hook's, unheard": {hook(func(s *decide.State) { s.Transcript = "" }), "RUNNING", "", "none: "},
		"a hook's, hidden":  {hook(func(s *decide.State) { s.Transcript += "l" }), "RUNNING", "", "none: "},
		"a run's that is paused": {func(w watchtest.World) {
			at, _ := w.Silent("demo", long)
			w.Commit(at, func(s *decide.State) { s.Status = decide.Paused })
		}, "STUCK", one, look},
	} {
		w := watchtest.New(t)
		tc.world(w)
		p, err := Look(w.Env)
		if err != nil {
			t.Fatal(err)
		}
		l := p.Find("demo")
		if l.Word() != tc.word || !strings.HasPrefix(l.Wrong(), tc.wrong) || (l.Wrong() == "") != (tc.wrong == "") ||
			!strings.HasPrefix(l.Then, tc.then) {
			t.Errorf("silent, %s: it is %s; wrong: %q; to do: %q", what, l.Word(), l.Wrong(), l.Then)
		}
		if stuck := tc.word == "STUCK"; stuck && (l.RemainingTime() != "" || !l.Works() || l.Doing() != "") ||
			tc.wrong == lanes && !stuck && l.RemainingTime() == "" {
			t.Errorf("silent, %s: left %q, works %v, doing %q", what, l.RemainingTime(), l.Works(), l.Doing())
		}
	}
}

// TestFallSilent follows a session that falls silent, and one that goes on.
func TestFallSilent(t *testing.T) {
	t.Parallel()
	w := watchtest.New(t)
	at, _ := w.Silent("demo", 10*time.Minute-2*time.Second)
	await := follow(w)
	await("at first", func(p *Picture) bool { return p.Find("demo").Word() == "RUNNING" })
	await("no line for ten minutes", func(p *Picture) bool { return p.Find("demo").Word() == "STUCK" })
	w.Printed(at, 1, "another line\n", 0)
	await("another line", func(p *Picture) bool { return p.Find("demo").Word() == "RUNNING" })
}
