package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// halt ends the goroutines of a coordinator. Its server runs on.
func halt(c *Coordinator) {
	c.end(errors.New("halted by a test"))
	c.gone.Wait()
}

// outside returns options for another machine that coordinates over the server of c.
func outside(t testing.TB, c *Coordinator) Options {
	t.Helper()
	var is about
	check(t, load(c.home.dir, aboutFile, &is))
	seed := filepath.Join(t.TempDir(), "seed")
	check(t, os.WriteFile(seed, []byte(is.Seed), 0o600))
	return Options{
		URL: is.Local, Loop: is.Loop, Creds: seed, Dir: t.TempDir(), Lease: short, Machine: "elsewhere", Log: logs(t),
	}
}

// Of two coordinators on one server, the second one waits for the first one's lease, and the first one ends when it has
// lost the lead.
func TestTwoLeaders(t *testing.T) {
	t.Parallel()
	first := open(t)
	o := outside(t, first)
	if c, err := Open(t.Context(), o); !errors.Is(err, ErrLed) {
		t.Fatalf("the second coordinator: %v, %v", c, err)
	}
	halt(first)
	second, err := Open(t.Context(), o)
	check(t, err)
	defer second.Close()
	if err := first.writeLeader(t.Context(), first.leader.rev); !errors.Is(err, ErrLed) {
		t.Errorf("the first coordinator goes on: %v", err)
	}
	w := join(t, first, "w")
	check(t, second.Offer(t.Context(), Job{Feature: "a"}))
	check(t, take(t, w).SubmitBytes(t.Context(), []byte("work"), nil))
	if s := next(t, second); string(s.Report) != "work" {
		t.Errorf("submission %+v", s)
	}
}

// A coordinator that was stopped for a while judges nobody by the time before. The control is the next round.
func TestLateRound(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Lease = UsualLease })
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w"))
	stop(claim)
	waitUntil(t, func() bool { return len(c.Holders()) == 1 })
	halt(c)
	c.ctx = t.Context() // what follows is the test's own round
	attempt := func(last time.Duration) int {
		long := time.Now().Add(-2 * UsualLease)
		c.leader.last, c.leader.live = time.Now().Add(-last), long
		c.leader.heard = c.leader.rev
		c.jobs["a"].seen.moved = long
		c.tick()
		return c.jobs["a"].attempt
	}
	if got := attempt(UsualLease); got != 1 {
		t.Errorf("after a pause the claim is dead: attempt %d", got)
	}
	if got := attempt(0); got != 2 {
		t.Errorf("control: the claim lives on: attempt %d", got)
	}
}

func waitUntil(t testing.TB, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come true")
		}
	}
}

// A coordinator withdraws what one that was killed has offered: who works on it loses it, and nobody gets the old job.
func TestWithdrawAnew(t *testing.T) {
	t.Parallel()
	first := open(t)
	for _, feature := range []string{"a", "b"} {
		check(t, first.Offer(t.Context(), Job{Feature: feature, Body: []byte("old")}))
	}
	w := join(t, first, "w")
	claim := take(t, w)
	halt(first)
	second, err := Open(t.Context(), outside(t, first))
	check(t, err)
	defer second.Close()
	for _, feature := range []string{"a", "b", "c"} {
		check(t, second.Withdraw(t.Context(), feature))
		check(t, second.Offer(t.Context(), Job{Feature: feature, Body: []byte("new")}))
	}
	if err := claim.SubmitBytes(t.Context(), nil, nil); !errors.Is(err, ErrFenced) {
		t.Errorf("the work on the old job: %v", err)
	}
	for range 3 {
		if got := take(t, w); string(got.Body) != "new" {
			t.Errorf("%s is the job %q", got.Feature, got.Body)
		}
	}
}

// What a worker writes into a record is a claim, and no more: the feature is offered again.
func TestLies(t *testing.T) {
	t.Parallel()
	for what, lie := range map[string]any{
		"merged":    record{State: stateMerged, Attempt: 1},
		"withdrawn": record{State: stateWithdrawn, Attempt: 1},
		"far":       record{State: stateClaimed, Attempt: 77, Holder: "x.y"},
		"huge":      record{State: stateOpen, Attempt: maxAttempt + 1},
		"negative":  record{State: stateClaimed, Attempt: -1},
		"unknown":   record{State: "mine", Attempt: 1},
		"garbage":   "garbage",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := open(t)
			liar, honest := join(t, c, "liar"), join(t, c, "honest")
			check(t, c.Offer(t.Context(), Job{Feature: "a"}))
			take(t, liar) // its message is gone
			text, err := json.Marshal(lie)
			check(t, err)
			_, err = liar.conn.kv.Put(t.Context(), "c.a", text)
			check(t, err)
			check(t, take(t, honest).SubmitBytes(t.Context(), []byte("work"), nil))
			if s := next(t, c); s.Worker != "honest" {
				t.Errorf("submission %+v", s)
			}
		})
	}
}

// A submission can name bytes that are not there, are others, or are too many.
func TestLyingSubmissions(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		stored string
		work   *blob
		want   error
	}{
		"none":       {"work", nil, ErrMissing},
		"not stored": {"", &blob{Chunks: 3, Size: 4}, ErrMissing},
		"other sum":  {"work", &blob{Chunks: 1, Size: 4, Sum: strings.Repeat("0", 64)}, ErrOther},
		"more":       {"works", &blob{Chunks: 1, Size: 1}, ErrTooLarge},
		"endless":    {"works", &blob{Chunks: 1 << 40, Size: 4}, ErrTooLarge},
		"fewer":      {"work", &blob{Chunks: 2, Size: 4}, ErrMissing},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := open(t)
			w := join(t, c, "w")
			check(t, c.Offer(t.Context(), Job{Feature: "a"}))
			claim := take(t, w)
			once := func(err error) error { return err }
			if test.stored != "" {
				check(t, w.conn.putMessage(t.Context(), w.conn.work(claim.holder)+"0", []byte(test.stored), once))
			}
			check(t, claim.finish(t.Context(), func(r *record) { r.State, r.Work = stateSubmitted, test.work }))
			if err := next(t, c).Bundle(t.Context(), &bytes.Buffer{}, 4); !errors.Is(err, test.want) {
				t.Errorf("the bundle: %v, want %v", err, test.want)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	open := wish{want: stateOpen, attempt: 2}
	handed, fresh, merge, withdraw := open, open, open, open
	merge.want, withdraw.want = stateMerged, stateWithdrawn
	anew := withdraw
	anew.fresh = true
	handed.handed, fresh.fresh = 2, true
	for _, test := range []struct {
		what  string
		wish  wish
		is    record
		state string
		tries int
		write bool
	}{
		{"nothing is there", open, record{}, stateOpen, 2, true},
		{"it is open", open, record{State: stateOpen, Attempt: 2}, stateOpen, 2, false},
		{"it is claimed", open, record{State: stateClaimed, Attempt: 2}, stateClaimed, 2, false},
		{"an older attempt is claimed", open, record{State: stateClaimed, Attempt: 1}, stateOpen, 2, true},
		{"a later attempt is claimed", open, record{State: stateClaimed, Attempt: 3}, stateOpen, 2, true},
		{"an earlier coordinator was further", fresh, record{State: stateClaimed, Attempt: 3}, stateClaimed, 3, false},
		{"it was dropped", open, record{State: stateDropped, Attempt: 2}, stateOpen, 3, true},
		{"it was merged before", fresh, record{State: stateMerged, Attempt: 7}, stateOpen, 8, true},
		{"its work is with the caller", handed, record{}, stateSubmitted, 2, true},
		{"it is merged", merge, record{State: stateMerged, Attempt: 2}, stateMerged, 2, false},
		{"it is to be merged", merge, record{State: stateSubmitted, Attempt: 2}, stateMerged, 2, true},
		{"it is to be withdrawn", withdraw, record{State: stateClaimed, Attempt: 2}, stateWithdrawn, 2, true},
		{"an earlier coordinator has offered it", anew, record{State: stateClaimed, Attempt: 3}, stateWithdrawn, 3, true},
		{"an earlier coordinator has withdrawn it", anew, record{State: stateWithdrawn, Attempt: 3}, stateWithdrawn, 3,
			false},
		{"nobody knows it", withdraw, record{}, stateWithdrawn, 2, false},
	} {
		got, write := test.wish.plan(test.is, test.is.State != "")
		if got.State != test.state || got.Attempt != test.tries || write != test.write {
			t.Errorf("%s: %+v, write %t", test.what, got, write)
		}
	}
}

// A claim whose record is gone for good ends after a while.
func TestForgotten(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Lease = short / 6 })
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w"))
	halt(c) // nobody makes the record again
	check(t, c.conn.kv.Delete(t.Context(), "c.a"))
	if err := ended(t, claim); !errors.Is(err, ErrFenced) {
		t.Errorf("the claim ended with %v", err)
	}
}

// The watch misses that work is submitted. The coordinator finds it all the same.
func TestWatchMisses(t *testing.T) {
	t.Parallel()
	c := open(t)
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w"))
	waitUntil(t, func() bool { return len(c.Holders()) == 1 })
	c.mu.Lock()
	k := c.jobs["a"]
	was := k.seen
	k.fresh = true // nothing is handed out
	c.mu.Unlock()
	check(t, claim.SubmitBytes(t.Context(), []byte("work"), nil))
	waitUntil(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return k.seen.State == stateSubmitted
	})
	c.mu.Lock()
	k.seen, k.fresh = was, false
	c.mu.Unlock()
	if s := next(t, c); s.Attempt != 1 || string(s.Report) != "work" {
		t.Errorf("submission %+v", s)
	}
}

// The server is away for a while. What a session begins with is stored, and the work is read, when it is back.
func TestBlobsWait(t *testing.T) {
	t.Parallel()
	c := open(t)
	away := func() {
		c.server.stop()
		time.AfterFunc(2*short, func() { _ = c.server.start() })
	}
	away()
	check(t, c.PutBase(t.Context(), "base", strings.NewReader("base")))
	check(t, c.Offer(t.Context(), Job{Feature: "a", Bases: []string{"base"}}))
	claim := take(t, join(t, c, "w"))
	check(t, claim.SubmitBytes(t.Context(), nil, []byte("work")))
	s := next(t, c)
	away()
	var got strings.Builder
	check(t, s.Bundle(t.Context(), &got, 100))
	if got.String() != "work" {
		t.Errorf("the work is %q", &got)
	}
}

// TestSettleTwice settles a job that is over once more, as the coordinator's own round may do, after the feature was
// offered anew. The new offer must stand.
func TestSettleTwice(t *testing.T) {
	c := open(t)
	w := join(t, c, "w")
	ctx, cancel := context.WithTimeout(t.Context(), 20*short)
	defer cancel()
	if err := c.Offer(ctx, Job{Feature: "F"}); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	old := c.jobs["F"]
	c.mu.Unlock()
	err := errors.Join(c.Withdraw(ctx, "F"), c.Offer(ctx, Job{Feature: "F"}), c.settle(ctx, old))
	if err != nil {
		t.Fatal(err)
	}
	claim, err := w.Take(ctx)
	if err == nil {
		err = claim.SubmitBytes(ctx, []byte("done"), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case s := <-c.Submissions():
		if s.Feature != "F" || s.Attempt != 2 {
			t.Errorf("got %s, attempt %d", s.Feature, s.Attempt)
		}
	case <-ctx.Done():
		t.Error("the work of the new offer does not come")
	}
}
