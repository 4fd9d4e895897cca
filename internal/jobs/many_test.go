package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// BenchmarkWorkers measures what a job costs that takes no time, by how many workers ask for jobs.
func BenchmarkWorkers(b *testing.B) {
	for _, workers := range []int{1, 30, 1000} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) { many(b, workers, b.N) })
	}
}

// A thousand workers ask for jobs of one run. Each job is given out once, saved once and done once.
func TestManyWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes a thousand connections")
	}
	const jobs = 2000
	w := many(t, 1000, jobs)
	if w.record.saves != jobs {
		t.Errorf("%d claims were saved for %d jobs", w.record.saves, jobs)
	}
}

// many has workers do jobs, of which some are offered at a time.
func many(t testing.TB, workers, jobs int) *world {
	const offered = 64
	var all []Credential
	w := open(t, func(o *Options) { o.Lease = UsualLease })
	_, err := change(w.opts.Dir, func(a *about) error {
		for i := range workers {
			k := Credential{URL: a.URL, Loop: a.Name, Worker: fmt.Sprint("w", i)}
			seed, key, err := newSeed()
			if err != nil {
				return err
			}
			k.Seed = seed
			all = append(all, k)
			a.Workers = append(a.Workers, worker{k.Worker, key})
		}
		return nil
	})
	check(t, err)
	ctx, end := context.WithCancel(t.Context())
	var lanes sync.WaitGroup
	defer func() { // workers do not wait for a hub that is away
		end()
		lanes.Wait()
	}()
	var joining sync.WaitGroup
	for _, k := range all {
		joining.Go(func() {
			one, err := Join(ctx, Options{Creds: k.String(), Machine: "m"})
			if err != nil {
				t.Error(err)
				return
			}
			lanes.Go(func() {
				defer one.Close()
				for {
					task, err := one.Take(ctx)
					if err != nil {
						return
					}
					if err := task.Submit(ctx, nil, ""); err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
			})
		})
	}
	joining.Wait()
	if b, is := t.(*testing.B); is {
		b.ResetTimer()
	}
	done := make(chan *Offer)
	offer := func(i int) {
		o := w.offer(fmt.Sprint("f", i))
		go func() {
			if s := <-o.Done; s.Attempt != 1 {
				t.Errorf("%s was given out %d times", s.Feature, s.Attempt)
			}
			done <- o
		}()
	}
	for i := range min(offered, jobs) {
		offer(i)
	}
	for i := range jobs {
		o := <-done
		o.End(true)
		if i+offered < jobs {
			offer(i + offered)
		}
	}
	return w
}
