//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// moods are what agents do to a run; faults/agent has them. ends is the exit status of the run; -1: any. A run that
// does not end COMPLETE goes on with --resume.
var moods = map[string]int{
	"dies at once": 0, "dies after its work": 0, "dies in a line": 0, "hangs": 0, "is deaf": 0, "hangs at last": 0,
	"shuts its output and hangs": 0, "floods": 0, "floods its log": 0, "speaks in bytes": 0, "leaves children": 0,
	"leaves daemons": 0, "leaves a crowd": 0, "leaves what floods": 0, "kills its guard": -1, "fails": 0,
	"says nothing": 0, "meets its limit": 4,
}

// sessionTime is how long a session with an agent in that mood may last. Most end by themselves, late on a busy
// machine.
func sessionTime(mood string) string {
	if strings.Contains(mood, "hangs") || mood == "is deaf" {
		return "1s"
	}
	return "60s"
}

// mostOfRunLog bounds the log of a session with the part that was put aside, with some bytes more.
const mostOfRunLog = 33 << 20

// bearable holds what is true of a run whatever its agent does.
func (t *runTrial) bearable(r result) error {
	for end := time.Now().Add(5 * time.Second); len(t.processes()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("%d processes are left", len(t.processes())), t.quell())
		}
	}
	if r.most > most {
		return fmt.Errorf("the run took %d MB", r.most>>20)
	}
	logs, err := filepath.Glob(filepath.Join(t.project, ".agent-state/logs/*/1.log*"))
	size := int64(0)
	for _, name := range logs {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	if size > mostOfRunLog {
		err = fmt.Errorf("the log of a session has %d MB", size>>20)
	}
	return err
}

// killedWith ends a run while its agent is in that mood. The agent and its children end, too.
func (t *runTrial) killedWith(mood string) error {
	if err := errors.Join(t.put(t.ready), killedAtWork(t.args...)(t.world)); err != nil {
		return fmt.Errorf("killed while its agent %s: %w", mood, err)
	}
	return t.survived(result{})
}

func TestRunAgents(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "agents that die, hang, flood, or leave processes")
	try := func(h *harness, runner, mood string) {
		kind := runKind{name: mood, mood: "work"}
		kind.args = []string{loopName, "--agent", "worker", "--session-timeout", sessionTime(mood), "--wait=0s"}
		runTrials(h, runner, inMemory, []runKind{kind}, func(one *runTrial) error {
			if err := one.put(one.ready); err != nil {
				return err
			}
			if err := runLoop([]string{mood}, "")(one.world); err != nil {
				return err
			}
			var err error
			one.ready, err = one.take()
			if err != nil {
				return err
			}
			r, err := one.execute("", one.args...)
			if want := moods[mood]; err == nil && want >= 0 && r.status != want {
				err = fmt.Errorf("it ends with %d, want %d: %s%s", r.status, want, r.stdout, r.stderr)
			}
			if err == nil {
				err = one.bearable(r)
			}
			if err == nil {
				err = one.survived(r)
			}
			if h.result("an agent that "+mood, errors.Join(err, one.quell())) {
				return nil
			}
			if mood == "kills its guard" { // with the run, nobody is left who could end it
				return nil
			}
			h.result("a run killed while its agent "+mood, errors.Join(one.killedWith(mood), one.quell()))
			return nil
		})
	}
	for mood := range moods {
		try(h, "runner", mood)
	}
	h.control("starts agents without a guard", func(h *harness) { try(h, h.broken, "leaves daemons") })
	h.control("keeps all that an agent prints", func(h *harness) { try(h, h.broken, "floods") })
	if !testing.Short() {
		h.control("lets a session take its time", func(h *harness) { try(h, h.broken, "hangs") })
	}
}
