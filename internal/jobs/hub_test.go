package jobs

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// A worker takes a job, gets what it begins with, and hands in its work. The run has saved the claim before the worker
// hears of it, and the worker hears that its work is taken when the run has saved that.
func TestWork(t *testing.T) {
	t.Parallel()
	w := open(t)
	large := strings.Repeat("base ", part/3)
	check(t, os.WriteFile(w.Path("base"), []byte(large), 0o600))
	o := w.offer("a")
	worker := w.join("w")
	task := take(t, worker)
	claim, has := w.record.has("a")
	if !has || claim.Worker() != "w" || claim.Machine != "machine of w" || claim.Attempt != 1 {
		t.Errorf("the run has saved %+v", claim)
	}
	if task.Feature != "a" || string(task.Body) != "do a" {
		t.Errorf("the task is %+v", task.Job)
	}
	var got bytes.Buffer
	check(t, task.Get(t.Context(), "base", &got, MaxFile))
	if got.String() != large {
		t.Errorf("the base has %d bytes, want %d", got.Len(), len(large))
	}
	if err := task.Get(t.Context(), "base", &got, 10); err == nil {
		t.Error("a base that is too large is fetched")
	}
	done := submits(t, task, file(t, large))
	s := next(t, o)
	text, err := os.ReadFile(s.Work)
	if err != nil || string(text) != large || string(s.Report) != "report of a" || s.ID != claim.ID {
		t.Errorf("%d bytes have arrived, with %q of %+v: %v", len(text), s.Report, s.Claim, err)
	}
	select {
	case err := <-done:
		t.Errorf("the worker hears %v before the run has saved what it has", err)
	case <-time.After(waitTime / 8):
	}
	o.End(true)
	check(t, <-done)
	if _, err := os.Stat(s.Work); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the work is still there: %v", err)
	}
}

// What the run does not want is lost to its worker: the job is withdrawn, or offered anew.
func TestWithdrawn(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(w *world, o *Offer, c Claim){
		"withdrawn":     func(_ *world, o *Offer, _ Claim) { o.End(false) },
		"refused":       func(_ *world, o *Offer, c Claim) { o.Refuse(c, "it is odd") },
		"offered again": func(w *world, _ *Offer, _ Claim) { w.offer("a") },
	} {
		t.Run(what, func(t *testing.T) {
			w := open(t)
			o := w.offer("a")
			task := take(t, w.join("w"))
			done := submits(t, task, "")
			end(w, o, next(t, o).Claim)
			if err := <-done; !errors.Is(err, ErrClaimLost) || task.Context().Err() == nil {
				t.Errorf("the worker hears %v", err)
			}
		})
	}
}

// A run that cannot save a claim gives nothing out, and the worker asks on.
func TestNotSaved(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.record.fails = errors.New("the disk is full")
	o := w.offer("a")
	worker := w.join("w")
	if gets(t, worker, 3*time.Second) {
		t.Error("a worker has a job that the run has not saved")
	}
	if o.Claim() != nil {
		t.Error("the hub says that somebody has it")
	}
	w.record.mu.Lock()
	if w.record.saves == 0 {
		t.Error("control: nothing was saved")
	}
	w.record.fails = nil
	w.record.mu.Unlock()
	take(t, worker)
}

// A worker that is silent for a lease loses its job, and hears so when it comes back.
func TestSilent(t *testing.T) {
	t.Parallel()
	w := open(t, func(o *Options) { o.Lease = time.Second })
	o := w.offer("a")
	dead := w.join("dead")
	task := take(t, dead)
	check(t, task.Drop(t.Context(), "control: it is offered again"))
	task = take(t, dead)
	dead.nc.Close()
	other := take(t, w.join("other"))
	if other.Attempt != 3 || !w.hears("dead on machine of dead has not answered for ") {
		t.Errorf("the other one has attempt %d", other.Attempt)
	}
	if err := w.ask(t, "dead", "beat", message{Claim: task.id}); !errors.Is(err, ErrClaimLost) {
		t.Errorf("the dead one hears %v", err)
	}
	done := submits(t, other, "")
	if s := next(t, o); s.Claim.Worker() != "other" {
		t.Errorf("the work is that of %s", s.Claim.Worker())
	}
	o.End(true)
	check(t, <-done)
}

// ask asks once with the key of a worker, over a connection of its own.
func (w *world) ask(t *testing.T, name, verb string, q message) error {
	t.Helper()
	one := w.join(name)
	_, err := one.ask(t.Context(), verb, q, answerTime)
	return err
}

// The run is killed while a worker works, and goes on after more than a lease. The worker keeps its job, and hands it
// in when the run is there. What it asks again is answered again, also when the run was killed after it took the work.
func TestRunKilled(t *testing.T) {
	t.Parallel()
	w := open(t, func(o *Options) { o.Lease = time.Second })
	w.offer("a")
	worker := w.join("w")
	task := take(t, worker)
	check(t, w.Close())
	done := submits(t, task, file(t, "work"))
	time.Sleep(2 * time.Second)
	w.again()
	time.Sleep(2 * time.Second) // the worker beats, though the run has not said that it goes on
	o := w.Resume("a", w.record.save("a"))
	if o == nil {
		t.Fatal("the claim is lost")
	}
	s := next(t, o)
	if text, err := os.ReadFile(s.Work); err != nil || string(text) != "work" || string(s.Report) != "report of a" {
		t.Errorf("%q has arrived, with %q: %v", text, s.Report, err)
	}
	if _, err := worker.ask(t.Context(), "take", message{Claim: s.ID}, answerTime); err != nil || o.Claim() == nil {
		t.Errorf("work that is there is lost by a question: %v", err)
	}
	check(t, w.Close())
	w.opts.AcceptedIDs = []string{s.ID}
	w.record.claims = nil
	w.again()
	check(t, <-done)
}

// A claim of which the worker has not heard, and one with which the run does not go on, are lost.
func TestLeft(t *testing.T) {
	t.Parallel()
	w := open(t)
	for _, feature := range []string{"a", "b", "c"} {
		w.record.claims[feature] = Claim{Feature: feature, ID: "w." + feature, Attempt: 4}
	}
	check(t, w.Close())
	w.again()
	w.Leave("b")
	for feature, lost := range map[string]bool{"a": false, "b": true} {
		if err := w.ask(t, "w", "beat", message{Claim: "w." + feature}); errors.Is(err, ErrClaimLost) != lost {
			t.Errorf("%s: the worker hears %v", feature, err)
		}
	}
	one := w.join("w")
	go func() { _, _ = one.ask(t.Context(), "take", message{Claim: "w.c"}, answerTime) }()
	if !within(func() bool { return w.Resume("c", nil) == nil }) {
		t.Error("a claim counts of which the worker has not heard")
	}
	one.leave("w.c")
	if !within(func() bool {
		w.Hub.mu.Lock()
		defer w.Hub.unlock()
		return len(w.asks) == 0
	}) {
		t.Error("a worker that has left still asks")
	}
	w.offer("c")
	if task := take(t, one); task.Attempt != 5 {
		t.Errorf("the attempt is %d", task.Attempt)
	}
}

// A worker has some jobs at most, so that it cannot keep all from others, and those who ask get them in turn.
func TestMostClaims(t *testing.T) {
	t.Parallel()
	w := open(t)
	greedy, modest := w.join("greedy"), w.join("modest")
	for n := range MaxClaims + 2 {
		w.offer(string(rune('a' + n)))
	}
	for range MaxClaims {
		take(t, greedy)
	}
	if gets(t, greedy, time.Second) {
		t.Errorf("a worker has more than %d jobs", MaxClaims)
	}
	task := take(t, modest)
	if string(task.Feature) != string(rune('a'+MaxClaims)) {
		t.Errorf("the oldest offer is not the first: %s", task.Feature)
	}
}

// A worker of whose claims nothing comes gets nothing for a while. A new credential lets it begin anew.
func TestRests(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.offer("a")
	bad := w.join("bad")
	for range maxVain {
		check(t, take(t, bad).Drop(t.Context(), "it cannot"))
	}
	if !w.hears("nothing came of 3 features in a row of bad on machine of bad, so it gets nothing for ") {
		t.Errorf("people hear %q", w.told)
	}
	if gets(t, bad, 2*time.Second) {
		t.Error("it does not rest")
	}
	check(t, take(t, w.join("good")).Drop(t.Context(), "control"))
	take(t, w.join("bad"))
}

// Each rest is twice as long, up to a bound. One merge ends it, and a long session counts as rest.
func TestRestLength(t *testing.T) {
	t.Parallel()
	var r rest
	for i, want := range []time.Duration{0, 0, time.Minute, 2 * time.Minute, 4 * time.Minute} {
		if got := r.add(0); got != want {
			t.Errorf("rest %d is %s, want %s", i, got, want)
		}
	}
	for range 100 {
		r.add(0)
	}
	if got := r.add(0); got != mostRest {
		t.Errorf("the longest rest is %s", got)
	}
	if got := r.add(time.Hour); got != 0 {
		t.Errorf("after an hour's session the rest is %s", got)
	}
}

// Another process of the same loop gives nothing out.
func TestLocked(t *testing.T) {
	t.Parallel()
	w := open(t)
	if h, err := Open(t.Context(), w.opts); !errors.Is(err, ErrLocked) {
		t.Errorf("the second hub is %v: %v", h, err)
	}
}
