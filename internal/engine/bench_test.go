package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkClaimSubmit measures what the engine costs without work: workers over loopback, writes on disk before they
// are answered. All features are offered before, so claim-ms has no wait for an offer in it.
func BenchmarkClaimSubmit(b *testing.B) {
	for _, workers := range []int{1, 4, 16} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) { measure(b, b.N, workers, b.N) })
	}
}

// BenchmarkMany is BenchmarkClaimSubmit for a long list, of which only what can be taken soon is offered.
// Run it with -benchtime 100000x. Here claim-ms has the wait for an offer in it.
func BenchmarkMany(b *testing.B) { measure(b, b.N, 16, 64) }

// measure works features. At most ahead of them are offered and not merged.
func measure(b *testing.B, features, workers, ahead int) {
	c := open(b, func(o *Options) { o.Lease = UsualLease; o.Log = nil })
	ctx, end := context.WithCancel(b.Context())
	defer end()
	for i := range min(ahead, features) {
		_ = c.Offer(ctx, Job{Feature: fmt.Sprint("f", i)}) // on a busy machine the coordinator tries on by itself
	}
	var mu sync.Mutex
	var claims, submits []time.Duration
	var lanes sync.WaitGroup
	for i := range workers {
		w := join(b, c, fmt.Sprint("w", i), func(o *Options) { o.Log = nil })
		lanes.Go(func() {
			for {
				begin := time.Now()
				claim, err := w.Take(ctx)
				if err != nil {
					return
				}
				claimed := time.Now()
				if err := claim.SubmitBytes(ctx, nil, nil); err != nil {
					b.Error(err)
				}
				mu.Lock()
				claims, submits = append(claims, claimed.Sub(begin)), append(submits, time.Since(claimed))
				mu.Unlock()
			}
		})
	}
	most := uint64(0)
	var m runtime.MemStats
	b.ResetTimer()
	for done := range features {
		if done+ahead < features {
			_ = c.Offer(ctx, Job{Feature: fmt.Sprint("f", done+ahead)})
		}
		s := next(b, c)
		_ = c.End(ctx, s.Feature, true)
		if done%1000 == 0 {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
		}
	}
	b.StopTimer()
	end()
	lanes.Wait()
	for what, all := range map[string][]time.Duration{"claim": claims, "submit": submits} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2].Seconds()*1000, what+"-ms")
		b.ReportMetric(all[len(all)*95/100].Seconds()*1000, what+"-p95-ms")
	}
	b.ReportMetric(float64(features)/b.Elapsed().Seconds(), "features/s")
	b.ReportMetric(float64(most)/(1<<20), "MB")
}
