//go:build faults && linux

package faults

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run/runtest"
)

// month is a loop that is worked by one run after the other. Its person opens two features again for each run.
type month struct {
	*runTrial
	rand    *rand.Rand
	ahead   time.Duration // its clock, of the system's
	before  record        // when the last run was over
	lacking bool          // a run has said that a file of its lacks something
	warned  string        // the warnings of runs that could not remove a lane
}

// git calls git in the project.
func (m *month) git(args ...string) (string, error) { return (&laneTrial{world: m.world}).git(args...) }

// aMonth is how long the runs of a loop take together, by the clock that its programs see.
const aMonth = 30 * 24 * time.Hour

func newMonth(w *world, n int) (*month, error) {
	m := &month{runTrial: &runTrial{world: w}, rand: rand.New(rand.NewPCG(*seed, uint64(n)))}
	m.more = []string{"--max-iterations", "60"}
	chance := []string{"chance", fmt.Sprint(m.rand.Uint64())}
	if err := runLoop(chance, `, "limits": {"max_iterations": 50000}`)(w); err != nil || !w.place.git {
		return m, err
	}
	for _, args := range [][]string{
		{"config", "user.name", "me"}, {"config", "user.email", "me@example.com"}, {"add", "-A"},
		{"commit", "-qm", "Base"},
	} {
		if _, err := m.git(args...); err != nil {
			return m, err
		}
	}
	return m, nil
}

// round is one run, and what a person does until its loop is complete.
func (m *month) round(least time.Duration) error {
	m.ahead += time.Duration((0.5 + m.rand.Float64()) * float64(least))
	m.setClock(m.ahead)
	steps := []step{pass("c")}
	if m.before.Schema > 0 {
		steps = append(steps, func(*world) error { return m.hook("resume", loopName) })
	}
	if err := do(steps)(m.world); err != nil {
		return err
	}
	m.args = []string{loopName, "--agent", "worker", "--wait=0s"}
	switch {
	case m.place.git:
		m.args = append(m.args, "--workers", "2")
	case m.rand.IntN(5) == 0:
		m.args = []string{loopName, "--chain", runChain, "--wait=0s"}
	}
	if last, err := m.lastRun(); err == nil {
		m.earlier = last.ID
	}
	m.wrap = m.fault()
	r, err := m.execute("", m.args...)
	m.wrap = nil
	if err != nil {
		return err
	}
	after, err := m.goesOn(r)
	if err == nil {
		err = m.kept(r.stdout + r.stderr + after)
	}
	if err != nil {
		err = fmt.Errorf("%w\n--- it said:\n%s%s--- and then:\n%s", err, r.stdout, r.stderr, after)
	}
	return err
}

// fault is what happens to one run in six: it is killed at some moment or at some call, or a call fails.
func (m *month) fault() (wrap []string) {
	r := m.rand
	switch r.IntN(12) {
	case 0:
		return []string{"timeout", "-s", "KILL", fmt.Sprintf("%.3f", 0.005+r.Float64()/4)}
	case 1:
		name := []string{"openat", "read", "write", "fsync", "renameat", "newfstatat", "mkdirat", "unlinkat"}[r.IntN(8)]
		what := []string{"signal=KILL", "error=EIO", "error=ENOSPC"}[r.IntN(3)]
		inject := fmt.Sprintf("inject=%s:%s:when=%d", name, what, 1+r.IntN(120))
		return []string{"strace", "-qq", "-o", os.DevNull, "-e", "trace=" + name, "-e", inject}
	}
	return nil
}

// kept holds what is true of the loop when a run of it is over, however it went. said is what the run printed.
func (m *month) kept(said string) error {
	if err := m.settle(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(m.diary(), "two")); err == nil {
		return errors.New("two agents worked at once")
	}
	state, err := m.record()
	if err == nil {
		err = m.shown(state)
	}
	if err != nil {
		return err
	}
	folder := filepath.Join(m.project, ".agent-state")
	for line := range strings.Lines(said) {
		if strings.Contains(line, "nothing is lost if you delete it") {
			m.warned += line
		}
	}
	if strings.Contains(said, "warning: ") {
		m.lacking = true
	} else if err := runtest.CheckFiles(m.runRecord(), folder); err != nil &&
		(!errors.Is(err, runtest.ErrCost) || !strings.Contains(said, "cannot save")) {
		return err
	}
	lines, err := os.ReadFile(filepath.Join(folder, "iterations.jsonl"))
	if err != nil {
		return err
	}
	counted := bytes.Count(lines, []byte(`"counted":true`))
	if counted > state.Iteration || counted < state.Iteration && !m.lacking {
		return fmt.Errorf("the loop is at iteration %d, and its runs counted %d", state.Iteration, counted)
	}
	if state.Iteration <= m.before.Iteration || state.Endings <= m.before.Endings {
		return fmt.Errorf("a run took the loop from iteration %d and ending %d to %d and %d", m.before.Iteration,
			m.before.Endings, state.Iteration, state.Endings)
	}
	m.before = state
	return errors.Join(m.hooksOnce(), m.allEndingsTold(state))
}

// allEndingsTold checks that each ending so far was told, with an id of its own.
func (m *month) allEndingsTold(state record) error {
	all, err := m.told()
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, one := range all {
		if !one.ofTrouble() {
			times[one.DeliveryID]++
		}
	}
	if len(times) != state.Endings || len(state.pending()) > 0 {
		return fmt.Errorf("%d endings, %d are told, and %v wait", state.Endings, len(times), state.pending())
	}
	for id, n := range times {
		if n > 3 {
			return fmt.Errorf("%s is told %d times", id, n)
		}
	}
	return nil
}

// small holds that what the runs leave for the loop does not grow with their number.
func (m *month) small() error {
	if err := fewAndSmall(append(m.recordDirs(), m.loop(), filepath.Join(m.project, ".agent-state"))...); err != nil {
		return err
	}
	if m.place.git {
		branches, err := m.git("for-each-ref", "--format=%(refname:short)", "refs/heads")
		if err != nil {
			return err
		}
		folders, err := filepath.Glob(filepath.Join(m.root, "home", ".cache", "ralph", "*", "lane-*"))
		if err != nil {
			return err
		}
		for _, name := range append(folders, strings.Fields(branches)...) {
			left := filepath.IsAbs(name) || strings.HasPrefix(name, "ralph/")
			if left && !strings.Contains(m.warned, name) {
				return fmt.Errorf("%s is left, and no run has said so", name)
			}
		}
	}
	return m.sweptByNext()
}

// months lives n loops, each with so many runs.
func months(h *harness, runner string, n, rounds int) {
	program, err := get(runner)
	if err != nil {
		h.Fatal(err)
	}
	for i := range n {
		h.Run(fmt.Sprint("loop ", i), func(t *testing.T) {
			t.Parallel()
			at := inMemory
			at.git = i%5 == 4
			m, err := newMonth(newWorld(t, program, at), i)
			done := 0
			for ; err == nil && done < rounds && !h.enough(); done++ {
				err = m.round(aMonth / time.Duration(rounds))
			}
			if err == nil {
				err = m.small()
			}
			if err != nil {
				err = fmt.Errorf("seed %d, run %d: %w", *seed, done, err)
			}
			h.many(max(1, done), fmt.Sprint("loop ", i), err)
		})
	}
}

func TestMonth(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "a month of runs, one in six with a fault")
	needStrace(t)
	if testing.Short() {
		months(h, "runner of one thread", 5, 20)
	} else {
		months(h, "runner of one thread", 100, 100)
	}
	for _, broken := range []string{"forgets a session", "tells an ending anew"}[:2/stride(2)] {
		h.control(broken, func(h *harness) { months(h, h.broken, 2, 60) })
	}
}
