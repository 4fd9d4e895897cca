//go:build faults && linux

package faults

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

var seed = flag.Uint64("seed", 0, "of chaos and week; 0 takes the time, and the seed is printed")

// chaos is hooks, commands, an agent and faults at once, on one loop.
func chaos(h *harness, program string, n int) {
	p, err := get(program)
	if err != nil {
		h.Fatal(err)
	}
	const limit = 90000
	c, err := newCrowd(newWorld(h.T, p, inMemory), limit)
	if err != nil {
		h.Fatal(err)
	}
	err = c.come(n, 24, func(i int, w *world) (result, error) {
		r := rand.New(rand.NewPCG(*seed, uint64(i)))
		names := []string{
			"openat", "read", "write", "fsync", "renameat", "unlinkat", "newfstatat", "fstat", "flock", "getdents64",
		}
		name := names[r.IntN(len(names))]
		inject := func(what string) {
			// The one thread that counts; another is Go's own.
			inject := fmt.Sprintf("inject=%s:%s:when=%d", name, what, 1+r.IntN(25))
			w.wrap = []string{"strace", "-qq", "-o", os.DevNull, "-e", "trace=" + name, "-e", inject}
		}
		switch r.IntN(10) {
		case 0, 1:
			inject("signal=KILL")
		case 2:
			inject("error=EIO")
		case 3:
			inject("error=ENOSPC")
		case 4:
			_ = w.write(w.list, listOf([]string{"a", "b"}[:r.IntN(3)]...)) // an agent does not wait for anybody
			return result{}, nil
		case 5:
			verbs := [][]string{
				{"pause"}, {"resume"}, {"cancel"}, {"resume"}, {"resume"},
				{"resume", "+1"}, {"status", "--json"}, {"trust", "--yes"},
			}
			return w.run("", verbs[r.IntN(len(verbs))]...)
		}
		return w.run(stop("s1"), "hook")
	})
	if err == nil {
		err = c.settle()
	}
	if err == nil {
		err = c.sane(limit)
	}
	if err == nil {
		err = c.calm()
	}
	if err != nil {
		err = fmt.Errorf("seed %d: %w", *seed, err)
	}
	h.many(n, "chaos", err)
}

// calm takes the loop to its end when all is over.
func (c *crowd) calm() error {
	w := c.world
	state, err := w.record()
	if err != nil {
		return err
	}
	w.acked = 0
	for iteration := range c.seen {
		w.acked = max(w.acked, iteration)
	}
	if err := do([]step{pass("a"), verb("status", "--all", "--send-due")})(w); err != nil {
		return err
	}
	if state.Status != "IN_PROGRESS" || w.asked() {
		if err := do([]step{verb("resume")})(w); err != nil {
			return err
		}
	}
	end := []step{event(stop("s1"), `"decision":"block"`), pass("a", "b", "c"),
		event(stop("s1"), "Ralph loop COMPLETE")}
	if err := do(end)(w); err != nil {
		return err
	}
	if err := w.settle(); err != nil {
		return err
	}
	told, err := w.told()
	if err != nil || len(told) == 0 || told[len(told)-1].ExitReason != "all_features_pass" {
		return fmt.Errorf("told at the end: %v %w", told, err)
	}
	return w.agree()
}

func TestChaos(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "hooks, commands, an agent, faults at once")
	needStrace(t)
	chaos(h, "one thread", 3000/stride(6))
	h.control("takes no lock", func(h *harness) { chaos(h, h.broken, 300) })
}
