package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// harness is a run over features with dependencies: what is merged is in memory, as in git, and outlives coordinators.
type harness struct {
	t        testing.TB
	features int
	merged   map[int]bool // what is done; the coordinator's goroutine alone has it
	offered  map[int]bool
	twice    []int // merged a second time
	early    []int // merged before a feature that it depends on
	given    map[int]bool

	c       *Coordinator
	ctx     context.Context // ends when all is merged
	done    []chan struct{} // of each feature, closed when it is merged
	faults  bool
	workers sync.WaitGroup

	claims, vanished, zombies, fenced, late, dropped atomic.Int64
}

func newHarness(t testing.TB, features int, c *Coordinator) *harness {
	h := &harness{
		t: t, features: features, c: c, merged: map[int]bool{}, offered: map[int]bool{}, given: map[int]bool{},
		done: make([]chan struct{}, features),
	}
	for i := range h.done {
		h.done[i] = make(chan struct{})
	}
	return h
}

// needs returns on what a feature depends.
func needs(i int) (all []int) {
	for _, back := range []int{3, 17} {
		if i >= back && i%back == 0 {
			all = append(all, i-back)
		}
	}
	return all
}

func name(i int) string { return fmt.Sprint("F.", i) }

// offer offers what can be taken soon.
func (h *harness) offer() {
	for i := 0; i < h.features && waiting(h.c) < 16; i++ {
		ready := !h.merged[i] && !h.offered[i]
		for _, before := range needs(i) {
			ready = ready && h.merged[before]
		}
		if ready {
			h.offered[i] = true
			if _, has := h.c.Resume(name(i)); has {
				continue
			}
			_ = h.c.Offer(h.ctx, Job{Feature: name(i)}) // the coordinator tries on by itself
		}
	}
}

// run merges until all is merged, or nothing came for a long time. mischief is called after each submission.
func (h *harness) run(workers []*Worker, mischief func(merged int)) {
	ctx, end := context.WithCancel(h.t.Context())
	h.ctx = ctx
	defer h.workers.Wait()
	defer end()
	for i, w := range workers {
		h.lane(w, uint64(i))
	}
	for len(h.merged) < h.features {
		h.offer()
		s := next(h.t, h.c)
		h.merge(s)
		if mischief != nil {
			mischief(len(h.merged))
		}
	}
}

func (h *harness) merge(s Submission) {
	var i int
	if _, err := fmt.Sscanf(s.Feature, "F.%d", &i); err != nil {
		h.t.Errorf("feature %q: %v", s.Feature, err)
	}
	if i%10 == 0 && !h.given[i] && h.faults {
		h.given[i] = true
		_ = h.c.End(h.ctx, s.Feature, false)
		_ = h.c.Offer(h.ctx, Job{Feature: s.Feature})
		return
	}
	for _, before := range needs(i) {
		if !h.merged[before] {
			h.early = append(h.early, i)
		}
	}
	if h.merged[i] {
		h.twice = append(h.twice, i)
	} else {
		h.merged[i] = true
		close(h.done[i])
	}
	_ = h.c.End(h.ctx, s.Feature, true) // the coordinator tries on by itself
}

// lane works until all is merged. Some of its claims go wrong.
func (h *harness) lane(w *Worker, seed uint64) {
	random := rand.New(rand.NewPCG(seed, seed))
	h.workers.Go(func() {
		for {
			claim, err := w.Take(h.ctx)
			if err != nil {
				return
			}
			h.claims.Add(1)
			time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
			h.work(claim, random.IntN(40))
		}
	})
}

func (h *harness) work(claim *Claim, fault int) {
	if !h.faults {
		fault = -1
	}
	switch fault {
	case 0, 1: // the worker vanishes
		h.vanished.Add(1)
		claim.end(errDone)
	case 2: // it vanishes after it has stored its work
		h.vanished.Add(1)
		conn := claim.worker.conn
		_, _ = conn.put(h.ctx, conn.claim(claim.holder)+"0", []byte("bundle"))
		claim.end(errDone)
	case 3, 4: // it is stopped for longer than its lease, and goes on
		h.workers.Go(func() { h.zombie(claim) })
	case 5:
		h.dropped.Add(1)
		_ = claim.Drop(h.ctx, "no disk", true)
	default:
		if err := claim.SubmitBytes(h.ctx, []byte("report"), []byte("bundle")); errors.Is(err, ErrFenced) {
			h.late.Add(1)
		}
	}
}

// zombie goes on after its feature was merged by another worker.
func (h *harness) zombie(claim *Claim) {
	h.zombies.Add(1)
	goOn := stop(claim)
	var i int
	fmt.Sscanf(claim.Feature, "F.%d", &i)
	<-h.done[i]
	goOn()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), 10*time.Second)
	defer cancel()
	if err := claim.SubmitBytes(ctx, []byte("late"), nil); err != nil {
		h.fenced.Add(1)
	}
}

// reopen ends the coordinator and starts another one, which knows nothing but what is merged.
func (h *harness) reopen() {
	dir := h.c.opts.Dir
	check(h.t, h.c.Close())
	h.c = open(h.t, func(o *Options) { o.Dir = dir })
	clear(h.offered)
}

func (h *harness) counts() string {
	return fmt.Sprintf("%d claims, %d vanished, %d zombies, %d fenced, %d late, %d dropped; lost %d, twice %v, early %v",
		h.claims.Load(), h.vanished.Load(), h.zombies.Load(), h.fenced.Load(), h.late.Load(), h.dropped.Load(),
		h.features-len(h.merged), h.twice, h.early)
}

// All faults at once: every feature is merged once, after those that it depends on.
func TestFaultsMixed(t *testing.T) {
	t.Parallel()
	features := 200
	if testing.Short() {
		features = 60
	}
	c := open(t)
	h := newHarness(t, features, c)
	h.faults = true
	var workers []*Worker
	for i := range 8 {
		workers = append(workers, join(t, c, fmt.Sprint("w", i)))
	}
	h.run(workers, func(merged int) {
		switch {
		case merged%23 == 5:
			check(t, h.c.server.restart())
		case merged%41 == 7:
			h.reopen()
		case merged == features/2:
			h.c.server.stop()
			check(t, os.RemoveAll(h.c.server.opts.StoreDir))
			check(t, h.c.server.start())
		}
	})
	t.Log(h.counts())
	if len(h.merged) != features || len(h.twice)+len(h.early) > 0 {
		t.Error("features are lost, merged twice, or too early")
	}
	// A zombie that has not heard yet that its claim is lost hands in its work. The run does not take it: nothing is
	// twice.
	if h.zombies.Load() == 0 || h.vanished.Load() == 0 {
		t.Error("the faults were not made")
	}
}

// The control: without fencing, a zombie's work is merged a second time, and the harness says so. The coordinator takes
// what a worker says for an order that is not the last one, and the worker does not ask whether its claim is lost.
func TestFaultsUnfenced(t *testing.T) {
	t.Parallel()
	c := open(t)
	h := newHarness(t, 1, c)
	h.ctx = t.Context()
	h.offer()
	claim := take(t, join(t, c, "first"))
	stop(claim)
	check(t, take(t, join(t, c, "second")).SubmitBytes(t.Context(), nil, nil))
	h.merge(next(t, c))
	said := claim.said
	said.State = stateSubmitted
	text, err := json.Marshal(said)
	check(t, err)
	subject := c.conn.claim(claim.holder) + "say"
	c.mu.Lock()
	k := c.jobs[claim.Feature]
	k.State, k.ID, k.Holder, k.said = stateOpen, claim.order.ID, claim.holder, word{} // as if nothing had been since
	c.note(c.workers["first"], "first", message{subject: subject, data: text, seq: 1 << 40})
	c.unlock()
	h.merge(next(t, c))
	if len(h.twice) != 1 {
		t.Errorf("control: without fencing the harness counts %s", h.counts())
	}
}

// SubmitBytes is Submit for work that is in memory.
func (c *Claim) SubmitBytes(ctx context.Context, report, bundle []byte) error {
	return c.Submit(ctx, report, bytes.NewReader(bundle))
}
