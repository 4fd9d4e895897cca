package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"
)

// ended waits for the end of a claim, and returns why it ended.
func ended(t testing.TB, claim *Claim) error {
	t.Helper()
	select {
	case <-claim.Context().Done():
		return context.Cause(claim.Context())
	case <-time.After(time.Minute):
		t.Fatal("the claim goes on")
		return nil
	}
}

// stop makes a worker silent, as one that is stopped or cut off. It returns what lets it go on.
func stop(claim *Claim) (goOn func()) {
	claim.mu.Lock() // beats wait for it
	return claim.mu.Unlock
}

// A worker that vanishes is replaced, and comes too late when it comes back.
func TestZombie(t *testing.T) {
	t.Parallel()
	c := open(t)
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	first := take(t, join(t, c, "first"))
	goOn := stop(first)
	second := take(t, join(t, c, "second"))
	if second.Attempt != 2 {
		t.Errorf("the second worker has attempt %d", second.Attempt)
	}
	goOn()
	if err := first.SubmitBytes(t.Context(), []byte("late"), nil); !errors.Is(err, ErrFenced) {
		t.Errorf("the zombie's submission: %v", err)
	}
	if err := ended(t, first); !errors.Is(err, ErrFenced) {
		t.Errorf("the zombie's claim ended with %v", err)
	}
	waitUntil(t, func() bool { return len(holders(c)) == 1 }) // the coordinator hears of a claim after the worker
	if h := holders(c)[0]; h.Worker != "second" || h.State != stateClaimed || h.Machine != "machine-of-second" {
		t.Errorf("the holder is %+v", h)
	}
	check(t, second.SubmitBytes(t.Context(), []byte("work"), nil))
	if s := next(t, c); s.Worker != "second" || string(s.Report) != "work" {
		t.Errorf("submission %+v", s)
	}
}

// What a worker says of a claim that it has lost counts for nothing, also if it does not ask whether it has.
func TestLateWord(t *testing.T) {
	t.Parallel()
	c := open(t)
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	first := take(t, join(t, c, "first"))
	stop(first)
	second := take(t, join(t, c, "second"))
	late := first.said
	late.State = stateSubmitted
	text, err := json.Marshal(late)
	check(t, err)
	c.mu.Lock()
	c.note(c.workers["first"], "first", message{subject: c.conn.claim(first.holder) + "say", data: text, seq: 1 << 40})
	c.unlock()
	check(t, second.SubmitBytes(t.Context(), []byte("work"), nil))
	if s := next(t, c); s.Worker != "second" {
		t.Errorf("submission %+v", s)
	}
}

// A worker that beats keeps its claim for many leases.
func TestBeats(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Lease = short / 2 })
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w"))
	time.Sleep(4 * short)
	check(t, claim.SubmitBytes(t.Context(), nil, nil))
	if s := next(t, c); s.Attempt != 1 {
		t.Errorf("attempt %d is submitted", s.Attempt)
	}
}

func TestGiveBackAndWithdraw(t *testing.T) {
	t.Parallel()
	c := open(t)
	ctx := t.Context()
	w := join(t, c, "w")
	check(t, c.Offer(ctx, Job{Feature: "a", Body: []byte("1")}))
	check(t, take(t, w).SubmitBytes(ctx, nil, nil))
	next(t, c)
	check(t, c.End(ctx, "a", false))
	check(t, c.Offer(ctx, Job{Feature: "a", Body: []byte("2")}))
	claim := take(t, w)
	if claim.Attempt != 2 || string(claim.Body) != "2" {
		t.Errorf("after it was given back: attempt %d, %q", claim.Attempt, claim.Body)
	}
	check(t, claim.Drop(ctx, "no agent here", false))
	claim = take(t, w)
	if claim.Attempt != 3 || string(claim.Body) != "2" {
		t.Errorf("after the worker dropped it: attempt %d, %q", claim.Attempt, claim.Body)
	}
	check(t, c.End(ctx, "a", false))
	if err := ended(t, claim); !errors.Is(err, ErrFenced) {
		t.Errorf("the withdrawn claim ended with %v", err)
	}
	check(t, c.Offer(ctx, Job{Feature: "a", Body: []byte("3")}))
	claim = take(t, w)
	if claim.Attempt != 4 || string(claim.Body) != "3" {
		t.Errorf("after it was withdrawn: attempt %d, %q", claim.Attempt, claim.Body)
	}
}

// An answer that is lost comes again: the same question has the same answer, and no other.
func TestAskTwice(t *testing.T) {
	t.Parallel()
	c := open(t)
	for _, feature := range []string{"a", "b"} {
		check(t, c.Offer(t.Context(), Job{Feature: feature}))
	}
	w := join(t, c, "w")
	question, err := json.Marshal(question{Claim: w.process + "-x"})
	check(t, err)
	for range 3 {
		answer, err := w.conn.nc.Request(w.conn.ask("w"), question, time.Minute)
		check(t, err)
		if got := string(answer.Data); got != "a" {
			t.Errorf("the answer is %q", got)
		}
	}
	if n := len(holders(c)); n != 1 {
		t.Errorf("%d features are given", n)
	}
}

// An odd question gets nothing, at once, and does no harm; neither does a word after the last one.
func TestOddQuestions(t *testing.T) {
	t.Parallel()
	c := open(t)
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	w, good := join(t, c, "w"), join(t, c, "good")
	for what, q := range map[string]question{
		"a claim that is long":      {Claim: w.process + strings.Repeat("x", 5000)},
		"one of a megabyte":         {Claim: w.process + strings.Repeat("x", 900_000)},
		"one without a dot":         {Claim: "w"},
		"one with three parts":      {Claim: w.process + ".x"},
		"another worker's":          {Claim: good.process + "-x"},
		"none":                      {},
		"a machine that is long":    {Claim: w.process + "-x", Machine: strings.Repeat("x", maxQuestion)},
		"one that leaves, and left": {Claim: w.process + "-x", Leaves: true},
	} {
		text, err := json.Marshal(q)
		check(t, err)
		answer, err := w.conn.nc.Request(w.conn.ask("w"), text, time.Minute)
		check(t, err)
		if len(answer.Data) > 0 {
			t.Errorf("%s gets %s", what, answer.Data)
		}
	}
	if _, err := w.conn.nc.Request(w.conn.bell("w"), nil, time.Minute); err != nil {
		t.Errorf("a bell that asks for an answer: %v", err)
	}
	if _, err := c.conn.js.Stream(t.Context(), c.conn.from("w")); err != nil {
		t.Errorf("the worker's stream: %v", err)
	}
	claim := take(t, good)
	for n := range 6 { // the run listens to one submission, and there is no room for two
		state := map[bool]string{true: stateClaimed, false: stateSubmitted}[n%2 == 0]
		said := word{State: state, Feature: "a", Order: claim.order.ID, Beats: 10 + n}
		text, err := json.Marshal(said)
		check(t, err)
		_, err = good.conn.put(t.Context(), good.conn.claim(claim.holder)+"say", text)
		check(t, err)
		check(t, good.conn.nc.Publish(good.conn.bell("good"), nil))
		time.Sleep(short / 8)
	}
	if s := next(t, c); s.Worker != "good" {
		t.Errorf("submission %+v", s)
	}
	check(t, c.Offer(t.Context(), Job{Feature: "b"})) // it still hears
	if got := take(t, w); got.Feature != "b" {
		t.Errorf("w gets %s", got.Feature)
	}
}

// A worker's own headers are not taken for what the server says of its message.
func TestForgedHeaders(t *testing.T) {
	t.Parallel()
	c := open(t)
	w, good := join(t, c, "w"), join(t, c, "good")
	for _, feature := range []string{"a", "b"} {
		check(t, c.Offer(t.Context(), Job{Feature: feature}))
	}
	mine, theirs := take(t, w), take(t, good)
	for beats, h := range []nats.Header{
		{"Nats-Sequence": {"1"}}, {"Status": {"500"}, "Description": {"gone fishing"}}, {"Status": {"503"}},
		{"Nats-Subject": {good.conn.claim(theirs.holder) + "say"}}, {"Nats-Time-Stamp": {"x"}}, {"Status": {"404"}},
	} {
		text, err := json.Marshal(word{State: stateClaimed, Feature: mine.Feature, Order: mine.order.ID, Beats: 100 + beats})
		check(t, err)
		msg := nats.Msg{Subject: w.conn.claim(mine.holder) + "say", Header: h, Data: text}
		_, err = w.conn.nc.RequestMsg(&msg, time.Minute)
		check(t, err)
		check(t, w.conn.nc.Publish(w.conn.bell("w"), nil))
		time.Sleep(short / 8)
	}
	check(t, theirs.SubmitBytes(t.Context(), []byte("work"), nil))
	if s := next(t, c); s.Worker != "good" || s.Feature != theirs.Feature {
		t.Errorf("submission %+v", s)
	}
	waitUntil(t, func() bool { // the words of another worker may come later
		c.mu.Lock()
		defer c.unlock()
		return c.jobs[mine.Feature].said.Beats == 105
	})
}

// A worker of which nothing comes rests, and others go on.
func TestRests(t *testing.T) {
	t.Parallel()
	var run told
	c := open(t, run.log)
	w, good := join(t, c, "w"), join(t, c, "good")
	for range maxVain {
		c.Judge("good", "machine-of-good", false, time.Hour) // in vain, and for long
		c.Judge("w", "machine-of-w", false, 0)
	}
	if !run.has("nothing came of 3 sessions in a row of w on machine-of-w, so it gets nothing for 1m0s") {
		t.Errorf("the run says %q", run.all)
	}
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	waits, stop := context.WithTimeout(t.Context(), short)
	defer stop()
	if got, err := w.Take(waits); err == nil {
		t.Errorf("the worker that rests gets %s", got.Feature)
	}
	check(t, take(t, good).SubmitBytes(t.Context(), nil, nil))
	c.Judge("w", "machine-of-w", true, 0)
	if c.workers["w"].vain != 0 {
		t.Error("what it did well is forgotten")
	}
}

// Who asks, and does nothing, gets one feature, for a lease. If it does so again and again it is shut out. Others get
// what there is meanwhile.
func TestOnlyAsks(t *testing.T) {
	t.Parallel()
	var run told
	c := open(t, run.log)
	idler, good := join(t, c, "idler"), join(t, c, "good")
	for i := range 10 {
		check(t, c.Offer(t.Context(), Job{Feature: fmt.Sprint("f", i)}))
	}
	ask := func(times int) { // fewer in a second than are shut out for that
		for i := range times {
			text, err := json.Marshal(question{Claim: fmt.Sprint(idler.process, "-", i)})
			check(t, err)
			// When it is shut out its connection ends.
			_ = idler.conn.nc.PublishRequest(idler.conn.ask("idler"), idler.conn.inbox("idler")+".x", text)
		}
	}
	ask(600)
	for range 9 {
		check(t, take(t, good).SubmitBytes(t.Context(), nil, nil))
	}
	waitUntil(t, func() bool {
		ask(100)
		time.Sleep(short / 4)
		return run.has("idler is shut out: it has asked for work again and again")
	})
	check(t, take(t, good).SubmitBytes(t.Context(), nil, nil))
}

// Who sends more than a worker needs is shut out at once, whatever that is. Others work meanwhile.
func TestFloods(t *testing.T) {
	t.Parallel()
	floods := map[string]func(w *Worker) (subject string, data []byte){
		"bells":     func(w *Worker) (string, []byte) { return w.conn.bell("liar"), nil },
		"questions": func(w *Worker) (string, []byte) { return w.conn.ask("liar"), []byte("{}") },
		"words":     func(w *Worker) (string, []byte) { return w.conn.claim("liar.x") + "0", []byte("x") },
		"orders": func(w *Worker) (string, []byte) {
			return api + "DIRECT.GET." + w.conn.stream() + "." + w.conn.order("any"), nil
		},
	}
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var run told
			c := open(t, run.log)
			liar, good := join(t, c, "liar"), join(t, c, "good")
			for i := range 5 {
				check(t, c.Offer(t.Context(), Job{Feature: fmt.Sprint("f", i)}))
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				subject, data := flood(liar)
				for liar.conn.nc.IsConnected() && t.Context().Err() == nil {
					_ = liar.conn.nc.PublishRequest(subject, liar.conn.inbox("liar")+".x", data)
				}
			}()
			for range 5 {
				check(t, take(t, good).SubmitBytes(t.Context(), nil, nil))
			}
			waitUntil(t, func() bool { return run.has("liar is shut out: it has sent ") })
			<-ended
			waitUntil(t, func() bool { // no later process of the run lets it in
				is, err := read(c.opts.Dir)
				return err == nil && slices.ContainsFunc(is.Workers, func(w worker) bool {
					return w.Name == "liar" && w.Key == ""
				})
			})
			if run.has("good is shut out") {
				t.Error("control: the honest worker is shut out")
			}
		})
	}
}

// Who gets more than a worker needs is shut out, too, here by answers that each of its processes gets. A worker whose
// processes all read what they begin with, as fast as they can, is not.
func TestGetsTooMuch(t *testing.T) {
	t.Parallel()
	var run told
	c := open(t, run.log, func(o *Options) { o.Lease = time.Minute })
	const parts = 2 * partsPerSecond
	check(t, c.PutBase(t.Context(), "b", bytes.NewReader(make([]byte, parts*chunk))))
	good := joinAll(t, c, "good")
	var reads sync.WaitGroup
	for i := range maxConnections {
		check(t, c.Offer(t.Context(), Job{Feature: fmt.Sprint("f", i)}))
		claim := take(t, good[i])
		reads.Go(func() {
			if err := claim.Base(t.Context(), "b", io.Discard, MaxBases); err != nil {
				t.Error(err)
			}
		})
	}
	reads.Wait()
	if run.has("is shut out") {
		t.Errorf("control: the honest worker is shut out: %q", run.all)
	}

	liar := joinAll(t, c, "liar")
	for _, one := range liar {
		_, err := one.conn.nc.Subscribe(one.conn.inbox("liar")+".all", func(*nats.Msg) {})
		check(t, err)
	}
	asks := liar[0].conn
	pace := rate.NewLimiter(mostPerSecond/2, 1)
	waitUntil(t, func() bool { // a busy machine may lose the connection before, which then comes again
		if pace.Wait(t.Context()) == nil && asks.nc.IsConnected() {
			subject := api + "DIRECT.GET." + asks.stream() + "." + asks.base("b") + "0"
			_ = asks.nc.PublishRequest(subject, asks.inbox("liar")+".all", nil)
		}
		return run.has("liar is shut out: it has sent ")
	})
}

// Strangers take all connections. A worker says so, and comes in when they are free.
func TestConnectionsTaken(t *testing.T) {
	t.Parallel()
	var worker told
	c := open(t)
	credential, err := Token(c.opts.Dir, "tests", "", "w")
	check(t, err)
	o := Options{Creds: credential.String(), Machine: "m", Lease: short}
	first, err := Join(t.Context(), o)
	check(t, err)
	first.Close()
	c.server.mu.Lock()
	c.server.opts.MaxConn = 5
	// The strangers keep what they have: nobody ends their connections because they say nothing, or because the server
	// hears of a new key.
	c.server.opts.AuthTimeout = time.Hour.Seconds()
	c.server.mu.Unlock()
	check(t, c.server.restart())
	connecting, stop := context.WithCancel(t.Context())
	var strangers sync.WaitGroup
	strangers.Go(func() {
		for pause(connecting, short/100) == nil {
			one, err := net.Dial("tcp", c.server.address())
			if err == nil {
				defer one.Close()
			}
		}
	})
	waitUntil(t, func() bool { // else the worker may come before them
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		return c.server.now.NumClients() >= c.server.opts.MaxConn
	})
	joined := make(chan error, 1)
	go func() {
		worker.log(&o)
		w, err := Join(t.Context(), o)
		if err == nil {
			w.Close()
		}
		joined <- err
	}()
	waitUntil(t, func() bool {
		return worker.has(" ends each connection, perhaps because it has too many; trying again")
	})
	stop()
	strangers.Wait()
	check(t, <-joined)
}

// Who speaks of a feature that another worker has loses it.
func TestTwoClaims(t *testing.T) {
	t.Parallel()
	c := open(t)
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	first := take(t, join(t, c, "first"))
	waitUntil(t, func() bool { return len(holders(c)) == 1 })
	w := join(t, c, "second")
	second := &Claim{Feature: "a", Attempt: 1, worker: w, order: first.order, holder: w.process + "-x", said: first.said}
	second.ctx, second.end = context.WithCancelCause(t.Context())
	text, err := json.Marshal(second.said)
	check(t, err)
	_, err = w.conn.put(t.Context(), w.conn.claim(second.holder)+"say", text)
	check(t, err)
	if err := second.SubmitBytes(t.Context(), nil, nil); !errors.Is(err, ErrFenced) {
		t.Errorf("the second claim: %v", err)
	}
	check(t, first.SubmitBytes(t.Context(), []byte("work"), nil))
	if s := next(t, c); s.Worker != "first" || string(s.Report) != "work" {
		t.Errorf("submission %+v", s)
	}
}

// The server restarts while a worker works. The claim lives on.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	const lease = 5 * time.Second
	longer := func(o *Options) { o.Lease = lease }
	c := open(t, longer)
	check(t, c.Offer(t.Context(), Job{Feature: "a"}))
	claim := take(t, join(t, c, "w", longer))
	for range 3 {
		check(t, c.server.restart())
		time.Sleep(lease / 8)
	}
	c.server.stop()
	time.Sleep(lease + time.Second) // no lease ends while the server is away
	check(t, c.server.start())
	check(t, claim.SubmitBytes(t.Context(), []byte("work"), []byte("bundle")))
	if s := next(t, c); s.Attempt != 1 || string(s.Report) != "work" {
		t.Errorf("submission %+v", s)
	}
}

// The coordinator ends and another one takes up its work.
func TestCoordinatorRestarts(t *testing.T) {
	t.Parallel()
	patient := func(o *Options) { o.Lease = 10 * short } // no claim is to end while the worker connects again
	c := open(t, patient)
	ctx := t.Context()
	w := join(t, c, "w")
	jobs := []Job{{Feature: "claimed"}, {Feature: "submitted"}, {Feature: "merged"}, {Feature: "open"}}
	claims := map[string]*Claim{}
	for i, j := range jobs {
		check(t, c.Offer(ctx, j))
		if i < 3 {
			claims[j.Feature] = take(t, w)
		}
	}
	check(t, claims["submitted"].SubmitBytes(ctx, []byte("work"), nil))
	next(t, c)
	check(t, claims["merged"].SubmitBytes(ctx, nil, nil))
	check(t, c.End(ctx, "merged", true))
	address := c.Address()
	check(t, c.Close())

	c = open(t, patient, func(o *Options) { o.Dir = c.opts.Dir })
	if c.Address() != address {
		t.Errorf("the address was %s and is %s", address, c.Address())
	}
	for _, j := range jobs {
		_, has := c.Resume(j.Feature)
		if want := j.Feature == "submitted" || j.Feature == "claimed"; has != want {
			t.Errorf("a worker has %s: %v", j.Feature, has)
		}
		if !has && j.Feature != "merged" {
			check(t, c.Offer(ctx, j))
		}
	}
	if s := next(t, c); s.Feature != "submitted" || s.Attempt != 1 || string(s.Report) != "work" {
		t.Errorf("submission %+v", s)
	}
	check(t, claims["claimed"].SubmitBytes(ctx, nil, nil))
	if s := next(t, c); s.Feature != "claimed" || s.Attempt != 1 {
		t.Errorf("submission %+v", s)
	}
	if claim := take(t, w); claim.Feature != "open" || claim.Attempt != 2 {
		t.Errorf("claim %s, attempt %d", claim.Feature, claim.Attempt)
	}
}

// The server loses its data. Claims, offers and submissions stand again.
func TestDataLost(t *testing.T) {
	t.Parallel()
	c := open(t, func(o *Options) { o.Lease = 10 * short }) // no claim is to end while the server is set up again
	ctx := t.Context()
	w := join(t, c, "w")
	for _, feature := range []string{"submitted", "claimed", "open"} {
		check(t, c.Offer(ctx, Job{Feature: feature}))
	}
	submitted := take(t, w)
	check(t, submitted.SubmitBytes(ctx, nil, nil))
	handed := next(t, c)
	claimed := take(t, w)
	c.server.stop()
	check(t, os.RemoveAll(c.server.opts.StoreDir))
	check(t, c.server.start())
	check(t, claimed.SubmitBytes(ctx, []byte("work"), nil))
	if s := next(t, c); s.Feature != "claimed" || string(s.Report) != "work" {
		t.Errorf("submission %+v", s)
	}
	if claim := take(t, w); claim.Feature != "open" {
		t.Errorf("claim %s, attempt %d", claim.Feature, claim.Attempt)
	}
	check(t, c.End(ctx, handed.Feature, true))
}

// The data of the server are removed while it runs. It sees that it cannot write, begins anew, and all goes on.
func TestDataRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system removes no file that is open")
	}
	t.Parallel()
	c := open(t)
	ctx := t.Context()
	w := join(t, c, "w")
	// The server may lose what it has just accepted, and then offers the feature again.
	var worker sync.WaitGroup
	t.Cleanup(worker.Wait)
	worker.Go(func() {
		for {
			claim, err := w.Take(ctx)
			if err != nil {
				return
			}
			err = claim.SubmitBytes(ctx, []byte("work"), bytes.Repeat([]byte("b"), chunk))
			if err != nil && !errors.Is(err, ErrFenced) && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	work := func(feature string) {
		t.Helper()
		_ = c.Offer(ctx, Job{Feature: feature}) // the coordinator tries on by itself
		if s := next(t, c); string(s.Report) != "work" {
			t.Errorf("submission %+v", s)
		}
	}
	work("before")
	check(t, os.RemoveAll(c.server.opts.StoreDir))
	begun := c.server.now
	for n := range 200 {
		work(name(n))
		c.server.mu.Lock()
		isNew := c.server.now != begun
		c.server.mu.Unlock()
		if isNew {
			return
		}
	}
	t.Error("control: the server does not miss its data")
}

// Two coordinators on one folder would lose half of the data.
func TestFolderTwice(t *testing.T) {
	t.Parallel()
	c := open(t)
	_, err := Open(t.Context(), Options{URL: Embedded, Loop: "tests", Dir: c.opts.Dir})
	if !errors.Is(err, ErrLed) {
		t.Fatalf("the second one: %v", err)
	}
	check(t, c.Close())
	open(t, func(o *Options) { o.Dir = c.opts.Dir })
}

// A worker that gives a feature back again and again gets it no more, until it is started again. Other workers get it,
// and people hear of it once. Who rests for its provider has not failed.
func TestDropsAgain(t *testing.T) {
	t.Parallel()
	var run told
	c := open(t, run.log)
	ctx := t.Context()
	check(t, c.Offer(ctx, Job{Feature: "a"}))
	broken := join(t, c, "broken")
	for n := range 2 * maxDrops {
		check(t, take(t, broken).Drop(ctx, "no disk", n%2 == 0))
	}
	takes := func(w *Worker) bool {
		within, cancel := context.WithTimeout(ctx, 3*short)
		defer cancel()
		claim, err := w.Take(within)
		return err == nil && claim.Feature == "a"
	}
	if takes(broken) {
		t.Error("the broken worker has it again")
	}
	want := "broken on machine-of-broken has given back a 3 times, and does not get it again; mend that there, and " +
		"start that worker again: no disk"
	if !slices.Contains(run.all, want) || len(run.problems()) > 0 {
		t.Errorf("people hear %q", run.all)
	}
	if w := join(t, c, "good"); !takes(w) {
		t.Error("another worker does not get it")
	}
	check(t, c.Offer(ctx, Job{Feature: "b"}))
	if claim := take(t, broken); claim.Feature != "b" {
		t.Errorf("the broken worker gets %s", claim.Feature)
	}
	check(t, c.End(ctx, "a", false))
	check(t, c.Offer(ctx, Job{Feature: "a"}))
	if !takes(broken) {
		t.Error("the broken worker does not get it in a new session")
	}
}
