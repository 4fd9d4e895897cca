//go:build faults && linux

package faults

import (
	"context"
	"maps"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// fleets are ralph-runner for runs with workers.
var fleets = map[string]build{
	"runner with steps": steppedRun(),
	"fences nobody": plainRun(change{"internal/jobs", "Worker.ask", `
		a, err = w.askUnbroken(ctx, verb, q, while)
		if err == ErrClaimLost {
			err = nil
		}
		return a, err`}),
	"forgets a worker that is dead": plainRun(change{"internal/jobs", "Hub.judge", ``}),
}

func init() { maps.Copy(runners, fleets) }

// fleetTrial makes a fleet, has it work, and checks what is left.
func fleetTrial(h *harness, f *fleet, what string, count func() int, mischief ...func(context.Context)) {
	begin := time.Now()
	err := f.work(mischief...)
	if err == nil {
		err = f.holds()
	}
	n := count()
	h.Logf("%s: %d faults, %d sessions, %.0f s", what, n, f.begun(), time.Since(begin).Seconds())
	h.many(max(1, n), what, f.told(err))
}

// workerKills returns how many workers were killed.
func (f *fleet) workerKills() (n int) {
	for _, m := range f.machines {
		n += m.kills
	}
	return n
}

// fleetSize is how many features and machines a trial has. A control shall be caught by a short one.
func fleetSize(h *harness, full int) (features, machines int) {
	if testing.Short() || h.broken != "" {
		return 12, 3
	}
	return full, 4
}

// fullRun skips a test in a short run: it takes minutes.
func fullRun(t *testing.T) {
	if testing.Short() {
		t.Skip("make faults without SHORT=1 plays it")
	}
}

// waits has a test run beside others in a short run: it mostly waits.
func waits(t *testing.T) {
	if testing.Short() {
		t.Parallel()
	}
}

// TestFleetWorkers kills workers at each step from the claim to the acknowledgement, and at any moment.
func TestFleetWorkers(t *testing.T) {
	waits(t)
	h := newHarness(t, "workers killed at each step")
	workersAtSteps(h, "runner with steps")
	workersAnytime(h, "runner")
	h.control("forgets a worker that is dead", func(c *harness) { workersAnytime(c, c.broken) })
	h.control("believes checks that fail", func(c *harness) { workersAnytime(c, c.broken) })
}

func workersAtSteps(h *harness, name string) {
	features, machines := fleetSize(h, 60)
	f, err := newFleet(h, name, features, machines, 50*time.Millisecond)
	if err != nil {
		h.Fatal(err)
	}
	s := newStepper(f.world, "deaths", 1, 1, 64, false)
	if testing.Short() {
		s = newStepper(f.world, "deaths", 1+rand.IntN(6), 6, 64, false)
	}
	for _, m := range f.machines {
		m.dies = s.next
	}
	fleetTrial(h, f, "workers at steps", f.workerKills)
	h.Logf("killed before: %q", s.deaths())
}

func workersAnytime(h *harness, name string) {
	features, machines := fleetSize(h, 200)
	f, err := newFleet(h, name, features, machines, 200*time.Millisecond)
	if err != nil {
		h.Fatal(err)
	}
	late := time.Second
	if h.broken != "" { // a worker that comes back gives its feature back itself
		f.still, f.machines[0].gone, late = 40*time.Second, true, time.Millisecond
	}
	fleetTrial(h, f, "workers anytime", f.workerKills, func(ctx context.Context) {
		for n := 0; n < features/4; n++ {
			m := f.machines[n%len(f.machines)]
			if !until(ctx, m.works) || !pause(ctx, rand.N(late)) {
				return
			}
			f.note("kills %s", m.name)
			m.signal(syscall.SIGKILL)
			pause(ctx, time.Second)
		}
	})
}

// TestFleetRun kills the run at each step of a merge, and at any moment, while workers work.
func TestFleetRun(t *testing.T) {
	waits(t)
	h := newHarness(t, "a run with workers killed at each step")
	runAtSteps(h, "runner with steps")
	runAnytime(h, "runner")
	h.control("believes checks that fail", func(c *harness) { runAnytime(c, c.broken) })
}

func runAtSteps(h *harness, name string) {
	features, machines := fleetSize(h, 120)
	f, err := newFleet(h, name, features, machines, 50*time.Millisecond)
	if err != nil {
		h.Fatal(err)
	}
	s := newStepper(f.world, "deaths", 1, 1, 90, true)
	if testing.Short() {
		s = newStepper(f.world, "deaths", 1+rand.IntN(6), 6, 90, true)
	}
	f.dies = s.next
	fleetTrial(h, f, "the run at steps", func() int { return f.kills })
	h.Logf("killed before: %q", s.deaths())
}

func runAnytime(h *harness, name string) {
	features, machines := fleetSize(h, 200)
	f, err := newFleet(h, name, features, machines, 100*time.Millisecond)
	if err != nil {
		h.Fatal(err)
	}
	fleetTrial(h, f, "the run anytime", func() int { return f.kills }, func(ctx context.Context) {
		for n := 1; n <= features/4; n++ {
			at := f.merges() + 1 + rand.IntN(3)
			if !until(ctx, func() bool { return f.merges() >= at }) || !pause(ctx, rand.N(2*time.Second)) {
				return
			}
			f.note("kills the run")
			f.kill()
			pause(ctx, time.Second)
		}
	})
}

// TestFleetStopped stops workers for longer than their lease. When they go on, they have lost their features.
func TestFleetStopped(t *testing.T) {
	fullRun(t)
	h := newHarness(t, "workers stopped past their lease")
	stopped(h, "runner")
	h.control("fences nobody", func(c *harness) { stopped(c, c.broken) })
}

func stopped(h *harness, name string) {
	features, machines := fleetSize(h, 60)
	f, err := newFleet(h, name, 2*features, machines, time.Second)
	if err != nil {
		h.Fatal(err)
	}
	stops := 0
	fleetTrial(h, f, "stopped workers", func() int { return stops }, func(ctx context.Context) {
		for n := 0; n < features/3; n++ {
			m := f.machines[n%len(f.machines)]
			if !until(ctx, m.inSession) || !pause(ctx, rand.N(500*time.Millisecond)) {
				return
			}
			f.note("stops %s", m.name)
			m.signal(syscall.SIGSTOP)
			stops++
			pause(ctx, 5*lease/2)
			f.note("%s goes on", m.name)
			m.signal(syscall.SIGCONT)
		}
	})
	if h.broken == "" && stops == 0 {
		h.Error("no worker was stopped")
	}
}
