package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// halt ends the goroutines of a coordinator. Its server runs on.
func halt(c *Coordinator) {
	c.end(errors.New("halted by a test"))
	c.gone.Wait()
}

// Of two coordinators on one server, as after a copy of the folder, the newer one goes on, and the older one ends.
func TestTwoLeaders(t *testing.T) {
	t.Parallel()
	first := open(t)
	dir := t.TempDir()
	_, err := change(dir, func(a *about) (err error) {
		*a, err = read(first.opts.Dir)
		a.Own, a.URL, a.Workers = true, a.Local, []worker{{Name: "w", Key: "x"}}
		return err
	})
	check(t, err)
	is, err := read(dir)
	check(t, err)
	check(t, first.Offer(t.Context(), Job{Feature: "a"}))
	second, err := Open(t.Context(), Options{URL: is.Local, Dir: dir, Lease: short, Machine: "elsewhere", Log: logs(t)})
	check(t, err)
	defer second.Close()
	waitUntil(t, func() bool { return errors.Is(first.Err(), ErrLed) })
	if err := first.Offer(t.Context(), Job{Feature: "b"}); err == nil {
		check(t, second.Offer(t.Context(), Job{Feature: "b"})) // nothing was in its way
		if err := first.End(t.Context(), "b", true); !errors.Is(err, ErrLed) {
			t.Errorf("the first coordinator writes on: %v", err)
		}
	}
}

// A coordinator that was stopped for a while judges nobody by the time before. The control is the next round.
func TestLateRound(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Lease = UsualLease })
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w"))
	stop(claim)
	waitUntil(t, func() bool { return len(holders(c)) == 1 })
	halt(c)
	c.ctx = t.Context() // what follows is the test's own round
	attempt := func(last time.Duration) int {
		long := time.Now().Add(-2 * UsualLease)
		c.heart.last, c.heart.live = time.Now().Add(-last), long
		c.jobs["a"].moved = long
		c.tick()
		return c.jobs["a"].Attempt
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

// speak writes a word of a worker.
func speak(t testing.TB, w *Worker, claim string, said any) {
	t.Helper()
	text, err := json.Marshal(said)
	check(t, err)
	_, err = w.conn.put(t.Context(), w.conn.claim(w.opts.Worker+"."+claim)+"say", text)
	check(t, err)
	check(t, w.conn.nc.Publish(w.conn.bell(w.opts.Worker), nil))
}

// What a worker says is a claim of its own, and no more: the feature is offered again.
func TestLies(t *testing.T) {
	t.Parallel()
	for what, lie := range map[string]word{
		"merged":    {State: stateMerged},
		"withdrawn": {State: stateOver},
		"open":      {State: stateOpen},
		"unknown":   {State: "mine"},
		"nothing":   {},
		"silent":    {State: stateClaimed},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := open(t)
			liar, honest := join(t, c, "liar"), join(t, c, "honest")
			check(t, c.Offer(t.Context(), Job{Feature: "a"}))
			claim := take(t, liar)
			stop(claim)
			lie.Feature, lie.Order = "a", claim.order.ID
			speak(t, liar, "lie", lie)
			check(t, take(t, honest).SubmitBytes(t.Context(), []byte("work"), nil))
			if s := next(t, c); s.Worker != "honest" {
				t.Errorf("submission %+v", s)
			}
		})
	}
}

// A worker that hands in nonsense, or floods the server, is named and shut out. Others go on, and what it has stored is
// deleted. The control is a worker that comes late a few times.
func TestShutOut(t *testing.T) {
	t.Parallel()
	var run told
	c := open(t, run.log, func(o *Options) { o.Lease = 10 * short }) // no claim of the good one is to end at load
	ctx := t.Context()
	liar, flood, good := join(t, c, "liar"), join(t, c, "flood"), join(t, c, "good")
	for _, feature := range []string{"a", "b"} {
		check(t, c.Offer(ctx, Job{Feature: feature}))
	}
	for range maxLies {
		check(t, take(t, liar).SubmitBytes(ctx, []byte("nonsense"), nil))
		s := next(t, c)
		check(t, c.Refuse(ctx, s.Feature, s.Attempt, "no report"))
	}
	for n := range 2 * maxOdd {
		name := fmt.Sprint("x-", n)
		text, err := json.Marshal(word{State: stateClaimed, Feature: name})
		check(t, err)
		_, err = flood.conn.put(ctx, flood.conn.claim("flood."+name)+"say", text)
		if err != nil {
			break
		}
	}
	_ = flood.conn.nc.Publish(flood.conn.bell("flood"), nil) // it may be shut out already
	for _, name := range []string{"liar", "flood"} {
		waitUntil(t, func() bool {
			c.mu.Lock()
			defer c.unlock()
			return c.workers[name].banned
		})
		waitUntil(t, func() bool {
			_, err := c.conn.js.Stream(ctx, c.conn.from(name))
			return errors.Is(err, jetstream.ErrStreamNotFound)
		})
	}
	for n := range maxOdd / 2 {
		speak(t, good, fmt.Sprint("late-", n), word{State: stateClaimed, Feature: "a", Order: "old"})
		time.Sleep(10 * time.Millisecond) // it sends no flood
	}
	for range 2 {
		check(t, take(t, good).SubmitBytes(ctx, []byte("work"), nil))
		if s := next(t, c); s.Worker != "good" {
			t.Errorf("submission %+v", s)
		}
	}
	said := strings.Join(run.all, "\n")
	for _, want := range []string{"liar is shut out: no report", "flood is shut out"} {
		if strings.Count(said, want) != 1 {
			t.Errorf("people do not hear %q once: %s", want, said)
		}
	}
	c.mu.Lock()
	defer c.unlock()
	if len(c.jobs) != 2 {
		t.Errorf("the run keeps %d features", len(c.jobs))
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
			if test.stored != "" {
				_, err := w.conn.put(t.Context(), w.conn.claim(claim.holder)+"0", []byte(test.stored))
				check(t, err)
			}
			check(t, claim.finish(t.Context(), func(w *word) { w.State, w.Work = stateSubmitted, test.work }))
			if err := next(t, c).Bundle(t.Context(), &bytes.Buffer{}, 4); !errors.Is(err, test.want) {
				t.Errorf("the bundle: %v, want %v", err, test.want)
			}
		})
	}
}

// A claim whose order is gone for good ends after a while.
func TestForgotten(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Lease = short / 6 })
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w"))
	halt(c) // nobody makes the order again
	check(t, c.conn.purge(t.Context(), c.conn.stream(), c.conn.order("a")))
	if err := ended(t, claim); !errors.Is(err, ErrFenced) {
		t.Errorf("the claim ended with %v", err)
	}
}

// A coordinator does not hear that work is submitted. It finds it all the same.
func TestUnheard(t *testing.T) {
	t.Parallel()
	c := open(t)
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w"))
	waitUntil(t, func() bool { return len(holders(c)) == 1 })
	c.mu.Lock()
	c.workers["w"].seq = 1 << 40 // all is heard, it believes
	c.unlock()
	check(t, claim.SubmitBytes(t.Context(), []byte("work"), nil))
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
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
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
