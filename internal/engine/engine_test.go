package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

// short is a lease for tests. Under load a beat may be late by most of it.
const short = 1200 * time.Millisecond

// open starts a coordinator with a server of its own.
func open(t testing.TB, change ...func(*Options)) *Coordinator {
	t.Helper()
	o := Options{URL: Embedded, Loop: "tests", Dir: t.TempDir(), Lease: short, Log: logs(t)}
	for _, one := range change {
		one(&o)
	}
	c, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func logs(t testing.TB) func(string) {
	ctx := t.Context()
	return func(text string) {
		if ctx.Err() == nil { // a test that has ended logs no more
			t.Log(text)
		}
	}
}

// join lets a worker in.
func join(t testing.TB, c *Coordinator, name string, change ...func(*Options)) *Worker {
	t.Helper()
	credential, err := Token(c.opts.Dir, "tests", "", name)
	check(t, err)
	return joinWith(t, name, credential, change...)
}

// joinAll lets in as many processes of a worker as may come.
func joinAll(t testing.TB, c *Coordinator, name string) (all [maxConnections]*Worker) {
	t.Helper()
	credential, err := Token(c.opts.Dir, "tests", "", name)
	check(t, err)
	for i := range all {
		all[i] = joinWith(t, name, credential)
	}
	return all
}

func joinWith(t testing.TB, name string, credential Credential, change ...func(*Options)) *Worker {
	t.Helper()
	o := Options{Creds: credential.String(), Machine: "machine-of-" + name, Log: logs(t), Lease: short}
	for _, one := range change {
		one(&o)
	}
	w, err := Join(t.Context(), o)
	check(t, err)
	t.Cleanup(w.Close)
	return w
}

func take(t testing.TB, w *Worker) *Claim {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	claim, err := w.Take(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// A claim lives as long as its test.
	return claim
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// next waits for a submission on any feature.
func next(t testing.TB, c *Coordinator) (s Submission) {
	t.Helper()
	waitUntil(t, func() (has bool) {
		if err := c.Err(); err != nil {
			t.Fatalf("the coordinator has ended: %v", err)
		}
		s, has = try(c)
		return has
	})
	return s
}

// try returns a submission, if there is one.
func try(c *Coordinator) (s Submission, has bool) {
	c.mu.Lock()
	defer c.unlock()
	for _, k := range c.jobs {
		if k.left {
			continue
		}
		select {
		case s := <-k.done:
			return s, true
		default:
		}
	}
	return s, false
}

// holders returns who has what, also if nobody has begun it.
func holders(c *Coordinator) (all []Holder) {
	c.mu.Lock()
	defer c.unlock()
	for feature, k := range c.jobs {
		if k.State == stateOpen && k.Holder != "" {
			all = append(all, Holder{feature, k.Attempt, workerOf(k.Holder), k.said.Machine, k.said.State, k.since})
		}
	}
	return all
}

// waiting returns how many jobs are offered that no worker has.
func waiting(c *Coordinator) (n int) {
	c.mu.Lock()
	defer c.unlock()
	for _, k := range c.jobs {
		if k.State == stateOpen && k.Holder == "" {
			n++
		}
	}
	return n
}

func TestClaimSubmitAccept(t *testing.T) {
	t.Parallel()
	c := open(t)
	check(t, c.PutBase(t.Context(), "base of α", bytes.NewReader(bytes.Repeat([]byte("b"), chunk+7))))
	const features, workers = 12, 3
	for i := range features {
		name := fmt.Sprintf("Feature %d.ö", i) // needs to be written as a key
		check(t, c.Offer(t.Context(), Job{Feature: name, Body: []byte("do " + name)}))
		check(t, c.Offer(t.Context(), Job{Feature: name, Body: []byte("again")})) // changes nothing
	}
	for i := range workers {
		w := join(t, c, fmt.Sprint("w", i))
		go work(t, w)
	}
	var done []string
	for range features {
		s := next(t, c)
		var bundle bytes.Buffer
		check(t, s.Bundle(t.Context(), &bundle, 3<<20))
		want := "do " + s.Feature
		if string(s.Report) != want || !bytes.HasPrefix(bundle.Bytes(), []byte(want)) || bundle.Len() != len(want)+chunk+7 {
			t.Errorf("%s: report %q, a bundle of %d bytes", s.Feature, s.Report, bundle.Len())
		}
		if err := s.Bundle(t.Context(), &bundle, 100); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a bundle over the limit: %v", err)
		}
		if s.Machine != "machine-of-"+s.Worker || s.Attempt != 1 {
			t.Errorf("submission %+v", s)
		}
		check(t, c.End(t.Context(), s.Feature, true))
		done = append(done, s.Feature)
	}
	slices.Sort(done)
	done = slices.Compact(done)
	if len(done) != features {
		t.Errorf("%d features are done, want %d", len(done), features)
	}
	if h := holders(c); len(h) != 0 || waiting(c) != 0 {
		t.Errorf("in the end %v have features and %d wait", h, waiting(c))
	}
}

// work does jobs until the test ends: the work is the job and its base.
func work(t testing.TB, w *Worker) {
	ctx := t.Context()
	for {
		claim, err := w.Take(ctx)
		if err != nil {
			return
		}
		bundle := bytes.NewBuffer(slices.Clone(claim.Body))
		if len(claim.Body) > 0 {
			const name = "base of α"
			if err := claim.Base(ctx, name, bundle, MaxBases); err != nil {
				t.Errorf("the base of %s: %v", claim.Feature, err)
			}
		}
		if err := claim.Submit(ctx, claim.Body, bundle); err != nil && ctx.Err() == nil {
			w.opts.Log(fmt.Sprint("submit: ", err))
		}
	}
}

// TestJoinEarly lets a worker join before the server listens.
func TestJoinEarly(t *testing.T) {
	c := open(t)
	credential, err := Token(c.opts.Dir, "tests", "", "early")
	if err != nil {
		t.Fatal(err)
	}
	c.server.stop()
	waits := make(chan string, 1)
	go func() {
		t.Log(<-waits)
		if err := c.server.start(); err != nil {
			t.Error(err)
		}
	}()
	w, err := Join(t.Context(), Options{Creds: credential.String(), Lease: short, Log: func(text string) {
		select {
		case waits <- text:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
}
