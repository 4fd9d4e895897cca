//go:build faults && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// stride returns how far apart two points of failure are: far in a short run, else 1.
func stride(far int) int {
	if testing.Short() {
		return far
	}
	return 1
}

// atMost returns a stride of at least far by which a run has at most so many points of
// failure. made is how often the run makes each call.
func atMost(most, far int, made map[string]int) int {
	sum := 0
	for _, c := range calls {
		sum += made[c.name]
	}
	return max(far, (sum+most-1)/most)
}

// made counts the calls that a run without a fault makes.
func (t *trial) made() (count map[string]int, err error) {
	if err := t.put(t.ready); err != nil {
		return nil, err
	}
	trace := t.root + ".trace"
	defer os.Remove(trace)
	t.wrap = []string{"strace", "-qq", "-o", trace}
	_, err = t.act(t.world)
	t.wrap = nil
	if err == nil {
		err = t.settle()
	}
	text, unread := os.ReadFile(trace)
	count = map[string]int{}
	for line := range strings.Lines(string(text)) {
		if name, _, ok := strings.Cut(line, "("); ok {
			count[name]++
		}
	}
	return count, errors.Join(err, unread)
}

// each runs the scenario again and again, with one fault at one call of that name, until
// a run does not reach its fault. With a stride of more than 1 it begins at a call that
// depends on the seed, and ends after as many calls as a run without a fault makes.
func (t *trial) each(h *harness, name, what string, f fault, calls, far int) error {
	const endless = 10000
	for n := 1 + int(*seed%uint64(min(far, calls))); n < endless; n += far {
		if far > 1 && n > calls {
			return nil
		}
		if err := t.put(t.ready); err != nil {
			return err
		}
		at := fmt.Sprintf(what, n)
		r, how, err := t.under(name, at)
		switch {
		case err == nil && how == missed:
			return t.settle()
		case how == foreign:
			if err := t.settle(); err != nil {
				return err
			}
			continue
		case err == nil:
			err = t.survived(r, f)
		default:
			err = errors.Join(err, t.settle())
		}
		h.count(t.scenario.name)
		if h.result(fmt.Sprintf("%s, %s, %s:%s", t.scenario.name, t.place.name, name, at), err) {
			return nil
		}
	}
	return fmt.Errorf("%s is called without end", name)
}

// killedAt kills a run as it enters each of its calls. So every state between two calls
// is seen.
func (t *trial) killedAt(h *harness, everything bool, far int) error {
	made, err := t.made()
	if err != nil {
		return err
	}
	far = atMost(320, far, made)
	var names []string
	for _, c := range calls {
		names = append(names, c.name)
	}
	if everything {
		names = append(names, runtimeCalls...)
	}
	for _, name := range names {
		if made[name] == 0 {
			continue
		}
		if err := t.each(h, name, "signal=KILL:when=%d", fault{}, made[name], far); err != nil || h.enough() {
			return err
		}
	}
	return nil
}

// failed has each call fail: once, and from then on. It interrupts each call only once,
// since Go tries an interrupted call again for ever.
func (t *trial) failed(h *harness, far int) error {
	made, err := t.made()
	if err != nil {
		return err
	}
	if h.broken == "" { // a broken program is tried until it is caught: few of its calls show that it is broken
		far = atMost(400, far, made)
	}
	for _, c := range calls {
		for i, e := range append(c.errors[:len(c.errors):len(c.errors)], "EINTR") {
			if made[c.name] == 0 || len(c.errors) == 0 {
				continue
			}
			far, times := far, []string{"%d", "%d+"}
			if i > 0 {
				far *= 5 // the first one has been everywhere
			}
			if e == "EINTR" {
				times = times[:1]
			}
			f := fault{cleanup: c.name == "unlinkat" || c.name == "getdents64"}
			for _, when := range times {
				if err := t.each(h, c.name, "error="+e+":when="+when, f, made[c.name], far); err != nil || h.enough() {
					return err
				}
			}
		}
	}
	return nil
}

// trials runs do for each scenario at a place, side by side.
func trials(h *harness, p string, at place, of []scenario, do func(*trial) error) {
	program, err := get(p)
	if err != nil {
		h.Fatal(err)
	}
	for _, s := range of {
		h.Run(s.name+" in "+at.name, func(t *testing.T) {
			t.Parallel()
			one, err := newTrial(newWorld(t, program, at), s)
			if err != nil && h.broken != "" {
				h.result(s.name, err) // found out already
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

func TestKilled(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "killed at each system call")
	needStrace(t)
	for _, at := range places {
		of, far := scenarios, 1
		if at.name != inMemory.name {
			far = 9
		}
		if testing.Short() {
			if far *= 19; at.name != inMemory.name {
				of = named("continue", "end with notice")
			}
		}
		trials(h, "one thread", at, of, func(one *trial) error {
			return one.killedAt(h, one.scenario.name == "continue" && at.name == inMemory.name, far)
		})
	}
	h.control("writes in place", func(h *harness) {
		trials(h, h.broken, inMemory, named("continue"), func(one *trial) error { return one.killedAt(h, false, 1) })
	})
	for broken, scenario := range map[string]string{
		"marks before it tells":               "end with notice",
		"tells nothing later":                 "late notice",
		"tells iterations twice":              "continue, told of it",
		"ends what has ended":                 "session end after an API error",
		"takes its own header for a person's": "resume",
		"sweeps under the lock alone":         "init",
	} {
		h.control(broken, func(h *harness) {
			trials(h, h.broken, inMemory, named(scenario), func(one *trial) error { return one.killedAt(h, false, 1) })
		})
	}
}

func TestFails(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "each system call fails")
	needStrace(t)
	of := scenarios
	if testing.Short() {
		of = named("continue", "end with notice", "reopen", "session end", "init", "trust",
			"escalate as an evaluator says", "reopen in a tracker", "hand over", "resume")
	}
	trials(h, "one thread", inMemory, of, func(one *trial) error { return one.failed(h, stride(31)) })
	h.control("keeps a failed write", func(h *harness) {
		trials(h, h.broken, inMemory, named("continue"), func(one *trial) error { return one.failed(h, 1) })
	})
	h.control("believes an evaluator that fails", func(h *harness) {
		trials(h, h.broken, inMemory, named("go on as an evaluator says"),
			func(one *trial) error { return one.failed(h, 1) })
	})
}

// TestDirty kills and fails runs in folders that an earlier kill left with half a
// write in them.
func TestDirty(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "each system call fails after a kill")
	needStrace(t)
	of, far := named("continue", "end with notice", "end at a limit", "reopen", "prove and end", "bind by prompt",
		"session end", "cancel", "give it more", "end as an evaluator says", "reopen in a tracker", "API error", "resume"), 3
	if testing.Short() {
		of, far = of[:2], 31
	}
	dirty := func(h *harness, far int) func(*trial) error {
		return func(one *trial) error {
			if err := one.spoil(); err != nil {
				return err
			}
			if err := one.killedAt(h, false, far); err != nil || h.enough() {
				return err
			}
			return one.failed(h, 3*far)
		}
	}
	trials(h, "one thread", inMemory, of, dirty(h, far))
	h.control("leaves temporary files", func(h *harness) {
		trials(h, h.broken, inMemory, named("continue"), dirty(h, 1))
	})
}

// spoil leaves the folders of a trial as a run leaves them that is killed at its second
// rename, with temporary files of earlier runs.
func (t *trial) spoil() error {
	if err := t.put(t.ready); err != nil {
		return err
	}
	for n := 2; ; n-- {
		_, how, err := t.under("renameat", fmt.Sprintf("signal=KILL:when=%d", n))
		if err := errors.Join(err, t.settle()); err != nil {
			return err
		}
		if how == reached {
			break
		}
		if err := t.put(t.ready); err != nil || n == 1 {
			return errors.Join(err, errors.New("it renames nothing"))
		}
	}
	left := []string{filepath.Join(t.loop(), ".progress.txt123456789012345678")}
	for _, dir := range t.recordDirs() {
		left = append(left, filepath.Join(dir, ".state.json123456789012345678"))
	}
	for _, path := range left {
		if err := os.WriteFile(path, []byte("half a wri"), 0o600); err != nil {
			return err
		}
	}
	var err error
	t.state, err = t.record()
	if err != nil {
		return err
	}
	t.before = t.files()
	t.ready, err = t.take()
	return err
}
