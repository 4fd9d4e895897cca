package jobs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// short is the lease of tests that do not wait for its end.
const short = 5 * time.Second

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// record is what a run has saved.
type record struct {
	mu     sync.Mutex
	claims map[string]Claim
	fails  error
	saves  int
}

// save returns what saves who has a job.
func (r *record) save(feature string) func(*Claim) error {
	return func(c *Claim) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.saves++
		switch {
		case r.fails != nil:
			return r.fails
		case c == nil:
			delete(r.claims, feature)
		default:
			r.claims[feature] = *c
		}
		return nil
	}
}

func (r *record) has(feature string) (c Claim, has bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, has = r.claims[feature]
	return c, has
}

// world is a hub, and what its run has saved.
type world struct {
	testing.TB
	*Hub
	record record
	opts   Options
	mu     sync.Mutex
	told   []string
}

// open opens a hub.
func open(t testing.TB, changes ...func(*Options)) *world {
	t.Helper()
	w := &world{TB: t, record: record{claims: map[string]Claim{}}}
	w.opts = Options{URL: Embedded, Loop: "tests", Dir: t.TempDir(), Lease: short, Log: w.tell}
	for _, change := range changes {
		change(&w.opts)
	}
	w.again()
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// again opens the hub of a run that goes on.
func (w *world) again() {
	w.Helper()
	w.opts.Claims = nil
	for _, c := range w.record.claims {
		w.opts.Claims = append(w.opts.Claims, c)
	}
	h, err := Open(w.Context(), w.opts)
	check(w, err)
	w.Hub = h
}

func (w *world) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, text)
}

// hears reports whether people are told something within some seconds.
func (w *world) hears(text string) bool {
	return within(func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return strings.Contains(strings.Join(w.told, "\n"), text)
	})
}

// within reports whether something becomes true within a minute.
func within(is func() bool) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// offer offers a job.
func (w *world) offer(feature string) *Offer {
	w.Helper()
	o, err := w.Offer(Job{Feature: feature, Body: []byte("do " + feature)}, w.record.save(feature))
	check(w, err)
	return o
}

// join lets a worker in. Its connection ends before the hub.
func (w *world) join(name string) *Worker {
	w.Helper()
	c, err := Token(w.opts.Dir, w.opts.Loop, "", name)
	check(w, err)
	one, err := Join(w.Context(), Options{Creds: c.String(), Machine: "machine of " + name})
	check(w, err)
	w.Cleanup(one.Close)
	return one
}

// take has a worker take a job.
func take(t testing.TB, w *Worker) *Task {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	task, err := w.Take(ctx)
	check(t, err)
	return task
}

// gets reports whether a worker gets a job within a while.
func gets(t testing.TB, w *Worker, while time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), while)
	defer cancel()
	_, err := w.Take(ctx)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return err == nil
}

// next returns the next work on a job.
func next(t testing.TB, o *Offer) Submission {
	t.Helper()
	select {
	case s := <-o.Done:
		return s
	case <-time.After(time.Minute):
		t.Fatal("no work has come")
		panic("unreachable")
	}
}

// file makes a file.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// submits hands in work, and returns what comes of it.
func submits(t testing.TB, task *Task, path string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- task.Submit(t.Context(), []byte("report of "+task.Feature), path) }()
	return done
}
