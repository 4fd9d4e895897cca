//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// together starts programs at once, each in a world with a wrap of its own, and returns the first error.
func (w *world) together(all ...func(*world) error) error {
	errs := make([]error, len(all))
	var group sync.WaitGroup
	for i, one := range all {
		group.Go(func() {
			own := *w
			errs[i] = one(&own)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// crowded are runs that are started on one loop at once. One of them works on the loop; the others say that it does.
func crowded(t *runTrial) error {
	var mu sync.Mutex
	done, refused := 0, 0
	var all []func(*world) error
	for range racers {
		all = append(all, func(w *world) error {
			r, err := w.execute("", loopName, "--agent", "worker")
			mu.Lock()
			defer mu.Unlock()
			said := r.stdout + r.stderr
			switch {
			case err != nil:
				return err
			case r.status == 0 && strings.Contains(said, "Ralph loop COMPLETE"):
				done++
			case r.status == 4 && (strings.Contains(said, "works on the loop") || strings.Contains(said, "COMPLETE")):
				refused++
			default:
				return fmt.Errorf("exit status %d: %s", r.status, said)
			}
			return nil
		})
	}
	if err := t.together(all...); err != nil {
		return err
	}
	if done != 1 || refused != racers-1 {
		return fmt.Errorf("of %d runs %d completed the loop, and %d were refused", racers, done, refused)
	}
	return t.holds(true)
}

// visited is a run while sessions of Claude Code come to its loop: with its prompt, with stops, and to their end.
func visited(hook program) func(t *runTrial) error {
	return func(t *runTrial) error {
		all := []func(*world) error{runs(0, loopName, "--agent", "worker")}
		for n := range racers {
			all = append(all, func(w *world) error {
				w.program = hook
				session := fmt.Sprint("s", n)
				time.Sleep(time.Duration(20+10*n) * time.Millisecond) // the run has begun
				for _, stdin := range []string{prompt(session), stop(session), sessionEnd(session)} {
					if w.sessions() == 0 {
						continue // the loop is nobody's yet
					}
					if r, err := w.run(stdin, "hook"); err != nil || strings.Contains(r.stdout, `"decision":"block"`) {
						return fmt.Errorf("session %s got %s: %w", session, r.stdout, err)
					}
				}
				return nil
			})
		}
		if err := t.together(all...); err != nil {
			return err
		}
		return t.holds(true)
	}
}

func TestRunStorm(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "eight runs or sessions of one loop")
	try := func(h *harness, runner, hook string, rounds int, crowds, visits bool) {
		its, err := get(hook)
		if err != nil {
			h.Fatal(err)
		}
		runTrials(h, runner, inMemory, []runKind{oneAgent}, func(one *runTrial) error {
			for n := range rounds {
				for what, storm := range map[string]func(*runTrial) error{"runs": crowded, "sessions": visited(its)} {
					if what == "runs" && !crowds || what == "sessions" && !visits {
						continue
					}
					err := one.put(one.ready)
					if err == nil {
						err = storm(one)
					}
					h.many(racers, fmt.Sprintf("a storm of %s, number %d", what, n), err)
					if h.enough() {
						return nil
					}
				}
			}
			return nil
		})
	}
	try(h, "runner", "product", 60/stride(10), true, true)
	h.control("works a loop that another run works", func(h *harness) { try(h, h.broken, "product", 10, true, false) })
	h.control("takes a loop from a run", func(h *harness) { try(h, "runner", h.broken, 200, false, true) })
}

// upset starts runs, sessions and verbs at once, kills some of them, and says what a person does then.
func (t *runTrial) upset(r *rand.Rand, hook program) error {
	var all []func(*world) error
	for n := range 6 {
		wait, kill := time.Duration(r.IntN(80))*time.Millisecond, 0.01+r.Float64()/8
		spare, verb := r.IntN(2) == 0, []string{"pause", "resume", "cancel", "status", "pause --now", "resume"}[r.IntN(6)]
		all = append(all, func(w *world) error {
			time.Sleep(wait)
			if n%3 < 2 && !spare {
				w.wrap = []string{"timeout", "-s", "KILL", fmt.Sprintf("%.3f", kill)}
			}
			switch n % 3 {
			case 0:
				_, err := w.execute("", loopName, "--agent", "worker")
				return err
			case 1:
				_, err := w.execute("", "--resume")
				return err
			}
			if n == 5 {
				w.program = hook
				_, err := w.run(stop("s1"), "hook")
				return err
			}
			words := strings.Fields(verb)
			_, err := w.execute("", append([]string{words[0], loopName}, words[1:]...)...)
			return err
		})
	}
	return t.together(all...)
}

func TestRunChaos(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "runs, commands, hooks and kills at once")
	try := func(h *harness, runner string, rounds int) {
		hook, err := get("product")
		if err != nil {
			h.Fatal(err)
		}
		runTrials(h, runner, inMemory, []runKind{oneAgent, chained}, func(one *runTrial) error {
			r := rand.New(rand.NewPCG(*seed, uint64(len(one.name))))
			for n := range rounds {
				one.persons = true
				err := one.put(one.ready)
				if err == nil {
					err = one.upset(r, hook)
				}
				if err == nil {
					err = one.survived(result{})
				}
				h.many(6, fmt.Sprintf("seed %d, %s, round %d", *seed, one.name, n), err)
				if h.enough() {
					return nil
				}
			}
			return nil
		})
	}
	try(h, "runner", 200/stride(20))
	h.control("works a loop that another run works", func(h *harness) { try(h, h.broken, 20) })
}
