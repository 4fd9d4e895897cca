package run

import (
	"testing"
	"time"
)

// TestPatience waits for a provider that never gives way: the waits end, in an iteration and in a run.
func TestPatience(t *testing.T) {
	waits := func(p *patience, step, most time.Duration, counts func(int) bool) (times int) {
		for ; times < 1000; times++ {
			if until, _ := p.wait(0, time.Now().Add(step), most, "limit"); until.IsZero() {
				break
			}
			if counts(times) {
				delete(p.iteration, 0)
			}
		}
		return times
	}
	never := func(int) bool { return false }
	if got := waits(&patience{}, time.Minute, 6*time.Hour, never); got != maxWaits {
		t.Errorf("an iteration has %d waits, want %d", got, maxWaits)
	}
	if got := waits(&patience{}, 2*time.Hour, 5*time.Hour, never); got != 2 {
		t.Errorf("%d waits of 2 hours, where 5 hours are allowed", got)
	}
	if got := waits(&patience{}, time.Minute, 6*time.Hour, func(int) bool { return true }); got != maxRunWaits {
		t.Errorf("a run has %d waits, want %d", got, maxRunWaits)
	}
}
