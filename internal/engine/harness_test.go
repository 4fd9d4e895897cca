package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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
	for i := 0; i < h.features && h.c.Waiting() < 16; i++ {
		ready := !h.merged[i] && !h.offered[i]
		for _, before := range needs(i) {
			ready = ready && h.merged[before]
		}
		if ready {
			h.offered[i] = true
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
		select {
		case s, more := <-h.c.Submissions():
			if !more {
				h.t.Errorf("the coordinator has ended: %v", h.c.Err())
				return
			}
			h.merge(s)
			if mischief != nil {
				mischief(len(h.merged))
			}
		case <-time.After(time.Minute):
			h.t.Errorf("nothing came for a minute; holders %+v", h.c.Holders())
			return
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
		_ = h.c.GiveBack(h.ctx, s.Feature, s.Attempt, "a check fails")
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
	_ = h.c.Accept(h.ctx, s.Feature, s.Attempt, "commit") // the coordinator tries on by itself
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
		_ = conn.putMessage(h.ctx, conn.work(claim.holder)+"report", nil, func(err error) error { return err })
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
	dir := h.c.home.dir
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
	if z := h.zombies.Load(); z == 0 || h.fenced.Load() != z || h.vanished.Load() == 0 {
		t.Errorf("the faults were not made, or %d of %d zombies were not refused", z-h.fenced.Load(), z)
	}
}

// unfenced are keys whose revisions nobody heeds.
type unfenced struct{ jetstream.KeyValue }

func (u unfenced) Update(ctx context.Context, key string, value []byte, _ uint64) (uint64, error) {
	return u.Put(ctx, key, value)
}

// The control: without fencing, a zombie's work is merged a second time, and the harness says so. The worker heeds no
// revision, and whoever merges takes what a record has, whatever the attempt.
func TestFaultsUnfenced(t *testing.T) {
	t.Parallel()
	c := open(t)
	h := newHarness(t, 2, c)
	first, second := join(t, c, "first"), join(t, c, "second")
	first.conn.kv = unfenced{first.conn.kv}
	h.ctx = t.Context()
	h.offer()
	claims := []*Claim{take(t, first), take(t, first)}
	for _, claim := range claims {
		h.workers.Go(func() { h.zombie(claim) })
	}
	for range claims {
		check(t, take(t, second).SubmitBytes(t.Context(), nil, nil))
		h.merge(next(t, c))
	}
	h.workers.Wait()
	for _, claim := range claims {
		is, _, _, err := c.conn.read(t.Context(), claim.Feature)
		check(t, err)
		if is.State == stateSubmitted {
			h.merge(c.submission(submitted{claim.Feature, is}))
		}
	}
	if len(h.twice) != 2 || h.fenced.Load() != 0 {
		t.Errorf("control: without fencing the harness counts %s", h.counts())
	}
}
