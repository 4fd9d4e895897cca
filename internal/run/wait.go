package run

import (
	"context"
	"time"
)

// The times to wait when a provider's limit says no time, one after the other. The last one repeats.
var ladder = []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour}

// The times to wait after errors of a provider that may be over soon. After the last one the run gives up.
var backOff = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute}

// nap is how often a wait looks at the clock and at the loop.
const nap = time.Second

// waitUntil waits for a time of the wall clock, which goes on while the machine sleeps. It returns early when ctx ends,
// or when wake says so.
func waitUntil(ctx context.Context, until time.Time, wake func() bool) {
	tick := time.NewTicker(nap)
	defer tick.Stop()
	for {
		left := until.Round(0).Sub(time.Now().Round(0)) // Round takes the monotonic clock away
		if left <= 0 {
			return
		}
		last := time.NewTimer(left)
		select {
		case <-ctx.Done():
		case <-last.C:
		case <-tick.C:
		}
		last.Stop()
		if ctx.Err() != nil || wake() {
			return
		}
	}
}

// step returns the n-th of some times, the last one where there are fewer.
func step(times []time.Duration, n int) time.Duration { return times[min(n, len(times)-1)] }
