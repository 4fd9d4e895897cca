//go:build faults && linux

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// runners are ralph-runner, and ralph-runner with one thing broken.
var runners = map[string]build{
	"runner":               plainRun(),
	"runner of one thread": tracedRun(),

	"forgets the session that was killed": tracedRun(change{"internal/run", "Run.pendingSession", `return nil`}),
	"writes a session down again":         tracedRun(change{"internal/record", "Files.has", `return false`}),
	"forgets that the loop has ended":     tracedRun(change{"internal/run", "Run.finalStep", `return nil, nil`}),
	"does not tell what nobody told":      tracedRun(change{"internal/run", "Run.finishPending", `return nil`}),
	"goes on when its record is not saved": tracedRun(change{"internal/run", "Run.save", `
		_ = r.saveUnbroken()
		return nil`}),

	"acknowledges what it cannot keep": plainRun(change{"internal/loopdir", "Store.SaveAgent", `
		_ = s.SaveAgentUnbroken(name, data)
		return nil`}),
	"leaves an ending half done": steppedRun(change{"internal/mcp", "desk.finish", ``}),

	"forgets a session":    tracedRun(change{"internal/run", "Run.pendingSession", `return nil`}),
	"tells an ending anew": tracedRun(change{"internal/loop", "Loop.mark", `return nil`}),

	"writes its record in place": plainRun(change{"internal/loopdir", "rename", `
		return root.WriteFile(name, data, perm)`}),
	"believes checks that fail": plainRun(change{"internal/run", "lanes.prove", `
		all, _, err = l.proveUnbroken(ctx, commit, features)
		for i := range all {
			all[i].Passed = true
		}
		return all, refusal{}, err`}),
	"leaves lanes": plainRun(change{"internal/run", "lanes.tidy", ``}),

	"ends at a list that is half saved": plainRun(change{"internal/run", "lanes.listReady", `return true`},
		change{"internal/run", "lanes.turn", `
		t := l.turnUnbroken(ev, one)
		t.patient = false
		return t`}),

	"shows every run at work": plainRun(change{"internal/verb", "phase", `return Working, time.Time{}`}),
	"works a loop that another run works": plainRun(change{"internal/loopdir", "Store.LockRun", `return func() {}, nil`},
		change{"internal/decide", "Snapshot.ownerLives", `return false`}),
	"starts agents without a guard": plainRun(change{"internal/agent", "Session.Run", `
		s.Guard = ""
		return s.RunUnbroken(ctx)`}),
	"lets a session take its time": plainRun(change{"internal/agent", "Session.Run", `
		s.Limit = 24 * time.Hour
		return s.RunUnbroken(ctx)`}),
	"keeps all that an agent prints": plainRun(change{"internal/record", "sessionLog.Write", `
		l.size = 0
		return l.WriteUnbroken(p)`}),
}

// agentBuilt builds the agent of the runs, once, and returns its path.
var agentBuilt = sync.OnceValues(func() (string, error) {
	path := filepath.Join(bin, "agent")
	cmd := exec.Command("go", "build", "-o", path, "./faults/agent")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("the agent cannot be built: %w\n%s", err, out)
	}
	return path, err
})

// runKind is a run that is tried, in a world that is made for it.
type runKind struct {
	name string
	mood string // of the agent that works
	make []step // after the loop is there
	args []string
	ends int      // the exit status without a fault
	more []string // how it is resumed
}

const runChain = "planner:3 -> worker:5 -> reviewer:2"

var (
	oneAgent = runKind{name: "run", mood: "work", args: []string{loopName, "--agent", "worker"}}
	chained  = runKind{name: "chain", mood: "work", args: []string{loopName, "--chain", runChain}}
)

var runKinds = []runKind{
	oneAgent, chained,
	{name: "resume at a limit", mood: "work", args: []string{"--resume", "--max-iterations", "9"},
		make: []step{runs(1, loopName, "--agent", "worker", "--max-iterations", "1")}},
	{name: "reach a limit", mood: "work", args: []string{loopName, "--agent", "worker", "--max-iterations", "1"}, ends: 1,
		more: []string{"--max-iterations", "9"}},
	{name: "resume after a kill", mood: "hangs", args: []string{"--resume"},
		make: []step{killedAtWork(loopName, "--agent", "worker")}},
	{name: "fallback", mood: "work", args: []string{loopName, "--agent", "limited", "--fallback", "worker"}},
}

// runs has ralph-runner end with that status.
func runs(status int, args ...string) step {
	return func(w *world) error {
		r, err := w.execute("", args...)
		if err == nil && r.status != status {
			err = fmt.Errorf("%q ends with %d, want %d: %s%s", args, r.status, status, r.stdout, r.stderr)
		}
		return err
	}
}

// killedAtWork kills a run while its first agent works.
func killedAtWork(args ...string) step {
	return func(w *world) error {
		cmd := exec.Command(w.path, args...)
		cmd.Dir, cmd.Env = w.project, w.env
		if err := cmd.Start(); err != nil {
			return err
		}
		for end := time.Now().Add(patience); w.sessions() == 0 && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return w.settle()
	}
}

// diary is the folder where the agent notes its sessions.
func (w *world) diary() string { return filepath.Dir(w.notices) }

// sessions returns how many sessions the agent has begun.
func (w *world) sessions() int {
	text, _ := os.ReadFile(filepath.Join(w.diary(), "agent"))
	return bytes.Count(text, []byte("\n"))
}

// runLoop makes a loop that a run can work. more are keys of its ralph.json.
func runLoop(mood []string, more string) step {
	return func(w *world) error {
		path, err := agentBuilt()
		if err != nil {
			return err
		}
		row := func(mood ...string) map[string]any {
			return map[string]any{"command": append([]string{path, w.diary()}, mood...), "output": "claude"}
		}
		planner, reviewer := row("plan"), row("review")
		planner["checks"], reviewer["complete_on"] = []string{"test -e PLAN"}, []string{"marker"}
		agents, err := json.Marshal(map[string]any{"agents": map[string]any{
			"worker": row(mood...), "limited": row("meets its limit"), "planner": planner, "reviewer": reviewer,
		}})
		if err != nil {
			return err
		}
		config := filepath.Join(w.root, "home", ".config", "ralph-stop-hook", "config.json")
		err = os.MkdirAll(filepath.Dir(config), 0o700)
		if err == nil {
			err = os.WriteFile(config, agents, 0o600)
		}
		if err != nil {
			return err
		}
		return do([]step{pass("c"), trusting(more)})(w)
	}
}

// trusting makes the ralph.json of a loop that a run can work.
func trusting(more string) step {
	return func(w *world) error {
		text, err := json.Marshal(map[string]any{
			"list": w.list, "bind": "prompt", "on_complete": []string{w.notifier()},
			"post_iteration": []string{"ulimit -f unlimited; cat >> " + filepath.Join(w.diary(), "after")},
			"checks":         []any{map[string]any{"command": "test -e " + w.list, "when": "claim"}},
		})
		if err != nil {
			return err
		}
		return do([]step{
			write(loopFolder+"/ralph.json", strings.TrimSuffix(string(text), "}")+more+"}"),
			verb("trust", loopName, "--yes"),
		})(w)
	}
}

// runTrial is a run in one world, ready to be tried again and again.
type runTrial struct {
	runKind
	*world
	ready   picture
	earlier string // id of a run that was over before this one
}

// newRunTrial makes the world of a run, and looks at a run without a fault.
func newRunTrial(w *world, k runKind) (*runTrial, error) {
	t := &runTrial{runKind: k, world: w}
	if err := do([]step{runLoop([]string{k.mood}, ""), do(k.make)})(w); err != nil {
		return nil, fmt.Errorf("%s cannot be made: %w", k.name, err)
	}
	var err error
	t.ready, err = w.take()
	if err != nil {
		return nil, err
	}
	r, err := w.execute("", k.args...)
	if err == nil && r.status != k.ends {
		err = fmt.Errorf("it ends with %d: %s%s", r.status, r.stdout, r.stderr)
	}
	if err == nil {
		err = t.survived(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s without a fault: %w", k.name, err)
	}
	return t, nil
}

// try makes the world as it was, and runs the run. wrap runs the program: strace and its arguments, say.
func (t *runTrial) try(wrap ...string) (result, error) {
	if err := t.put(t.ready); err != nil {
		return result{}, err
	}
	t.wrap = wrap
	defer func() { t.wrap = nil }()
	return t.execute("", t.args...)
}

// runTrials runs do for each kind of run, side by side.
func runTrials(h *harness, p string, at place, of []runKind, do func(*runTrial) error) {
	program, err := get(p)
	if err != nil {
		h.Fatal(err)
	}
	for _, k := range of {
		h.Run(k.name+" in "+at.name, func(t *testing.T) {
			t.Parallel()
			one, err := newRunTrial(newWorld(t, program, at), k)
			if err != nil && h.broken != "" {
				h.result(k.name, err) // found out already
				return
			}
			if err == nil {
				err = do(one)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// kindsOf returns the kinds of run with those names.
func kindsOf(names ...string) (of []runKind) {
	for _, k := range runKinds {
		if slices.Contains(names, k.name) {
			of = append(of, k)
		}
	}
	return of
}
