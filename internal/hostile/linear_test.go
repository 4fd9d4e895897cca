package hostile

import "testing"

// sum keeps the work of TestLinearControl from being left out.
var sum int

func TestLinearControl(t *testing.T) {
	Linear(t, 100, func(n int) func() error {
		return func() error {
			for i := range n {
				sum += i
			}
			return nil
		}
	})
	if err := linear(100, func(n int) func() error {
		return func() error {
			for i := range n * n {
				sum += i
			}
			return nil
		}
	}); err == nil {
		t.Error("quadratic work counts as linear")
	}
}
