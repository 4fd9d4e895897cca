//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// crowd is a loop that many hooks work on at once.
type crowd struct {
	*world
	mu     sync.Mutex
	seen   map[int]int // how often an iteration was printed
	ended  int
	others []string
}

func newCrowd(w *world, limit int) (*crowd, error) {
	c := &crowd{world: w, seen: map[int]int{}}
	return c, do([]step{loopMade, func(w *world) error {
		return w.write(loopFolder+"/ralph.json", fmt.Sprintf(`{"list": "feature_list.json", "bind": "prompt", `+
			`"limits": {"max_iterations": %d, "stagnation": 0}, "on_complete": [%q]}`, limit, w.notifier()))
	}, verb("trust", "--yes"), event(prompt("s1"), "systemMessage")})(w)
}

// come runs n hooks, at most so many at once. how runs one of them.
func (c *crowd) come(n, at int, how func(i int, w *world) (result, error)) error {
	slots := make(chan struct{}, at)
	var all sync.WaitGroup
	var mu sync.Mutex
	var first error
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			w := *c.world // with a wrap of its own
			r, err := how(i, &w)
			if err == nil {
				c.count(r)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = err
			}
		})
	}
	all.Wait()
	return first
}

func (c *crowd) count(r result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	iteration, _ := r.block()
	switch {
	case iteration > 0:
		c.seen[iteration]++
	case strings.Contains(r.stdout, "REACHED_LIMIT"):
		c.ended++
	case r.stdout != "":
		c.others = append(c.others, r.stdout)
	}
}

// sane checks that no iteration began twice, or beyond the record's or the limit.
func (c *crowd) sane(limit int) error {
	state, err := c.record()
	if err != nil {
		return err
	}
	for iteration, times := range c.seen {
		if times > 1 || iteration > state.Iteration || iteration > limit {
			return fmt.Errorf("iteration %d was begun %d times; the record is at %d of %d",
				iteration, times, state.Iteration, limit)
		}
	}
	return nil
}

// storm runs n hooks, more than there are iterations, so many at once.
func storm(h *harness, program string, n, atOnce, limit int) {
	p, err := get(program)
	if err != nil {
		h.Fatal(err)
	}
	c, err := newCrowd(newWorld(h.T, p, inMemory), limit)
	if err != nil {
		h.Fatal(err)
	}
	err = c.come(n, atOnce, func(_ int, w *world) (result, error) { return w.run(stop("s1"), "hook") })
	if err == nil {
		err = c.settle()
	}
	if err == nil {
		err = c.sane(limit)
	}
	if state, unread := c.record(); err == nil {
		told, _ := c.told()
		switch {
		case unread != nil:
			err = unread
		case state.Status != "REACHED_LIMIT" || len(c.seen) != limit-1 || c.ended != 1 || len(c.others) > 0:
			err = fmt.Errorf("%s: %d iterations of %d begun, %d endings printed, %q",
				state.Status, len(c.seen), limit-1, c.ended, c.others)
		case len(told) != 1:
			err = fmt.Errorf("told %d times", len(told))
		}
	}
	h.many(n, "a storm", err)
}

func TestStorm(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "a thousand hooks, up to 200 at once")
	for _, atOnce := range []int{16, 64, 200} {
		storm(h, "product", 1000, atOnce, 700)
	}
	h.control("takes no lock", func(h *harness) { storm(h, h.broken, 200, 32, 100) })
}

// slowly runs a hook that waits at each of its renames, and so do the processes that it
// starts.
func slowly(delay time.Duration) func(int, *world) (result, error) {
	inject := fmt.Sprintf("inject=renameat:delay_enter=%d", delay.Microseconds())
	return func(_ int, w *world) (result, error) {
		w.wrap = []string{"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=renameat", "-e", inject}
		return w.run(stop("s1"), "hook")
	}
}

const (
	racers    = 8
	raceLimit = 100
)

// race has hooks at work on one loop at once.
func race(c *crowd) error {
	err := c.come(racers, racers, slowly(100*time.Millisecond))
	if err == nil {
		err = c.sane(raceLimit)
	}
	if err == nil && len(c.seen) != racers {
		err = fmt.Errorf("%d iterations begun by %d hooks", len(c.seen), racers)
	}
	return err
}

// raceAtEnding has hooks come at once to an ending that nobody has told.
func raceAtEnding(c *crowd) error {
	err := do([]step{pass("a", "b", "c"), event(stop("s1"), "COMPLETE"), unsent})(c.world)
	if err == nil {
		err = c.come(racers, racers, slowly(time.Second)) // until the last one has come
	}
	if err == nil {
		err = c.settle()
	}
	if err != nil {
		return err
	}
	told, err := c.told()
	if err == nil && len(told) != 1 {
		err = fmt.Errorf("told %d times", len(told))
	}
	return errors.Join(err, allTold(c.world))
}

// TestWideRaces has each hook wait at its renames, so that every race is run.
func TestWideRaces(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "eight hooks with slow renames")
	needStrace(t)
	try := func(h *harness, program, what string, run func(*crowd) error) {
		p, err := get(program)
		if err != nil {
			h.Fatal(err)
		}
		c, err := newCrowd(newWorld(h.T, p, inMemory), raceLimit)
		if err != nil {
			h.Fatal(err)
		}
		h.many(racers, what, run(c))
	}
	try(h, "product", "a race", race)
	try(h, "product", "a race at an ending", raceAtEnding)
	h.control("takes no lock", func(h *harness) { try(h, h.broken, "a race", race) })
	h.control("has two senders", func(h *harness) { try(h, h.broken, "a race at an ending", raceAtEnding) })
}
