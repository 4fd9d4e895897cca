package hostile

import (
	"fmt"
	"testing"
	"time"
)

// Linear checks that work does not take much longer for each part of an input if that has 16 times as many parts.
// prepare returns the work for an input of n parts. Linear work takes some 16 times as long then, quadratic work 256
// times; more than 64 times is too long. It counts the time of the processor, which other programs hardly change.
func Linear(t *testing.T, n int, prepare func(n int) (do func() error)) {
	t.Helper()
	if err := linear(n, prepare); err != nil {
		t.Fatal(err)
	}
}

func linear(n int, prepare func(n int) (do func() error)) error {
	short, long := prepare(n), prepare(16*n)
	few, err := least(short, 2, 0)
	if err != nil {
		return err
	}
	many, err := least(long, 10, 64*few)
	if err == nil && many > 64*few {
		err = fmt.Errorf("an input of %d parts takes %v, and one of %d parts %v at least", n, few, 16*n, many)
	}
	return err
}

// least returns how long work takes when it takes the least of some tries. One that takes no longer than enough is the
// last: other work of this process can only make it longer.
func least(do func() error, tries int, enough time.Duration) (shortest time.Duration, err error) {
	for try := range tries {
		took, err := timed(do)
		if err != nil {
			return 0, err
		}
		if try == 0 || took < shortest {
			shortest = took
		}
		if shortest <= enough {
			break
		}
	}
	return shortest, nil
}

// timed returns how long work takes. Some clocks tick every 16 ms only, and take long to be read.
func timed(do func() error) (time.Duration, error) {
	for runs := 1; ; runs *= 2 {
		begin := used()
		for range runs {
			if err := do(); err != nil {
				return 0, err
			}
		}
		if took := used() - begin; took >= 30*time.Millisecond {
			return took / time.Duration(runs), nil
		}
	}
}
