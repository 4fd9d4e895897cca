package watch

import (
	"fmt"
	"testing"
)

// BenchmarkLook reads 200 loops of 10 features.
func BenchmarkLook(b *testing.B) {
	w := newWorld(b)
	for i := range 200 {
		w.loop(fmt.Sprint("l", i))
	}
	for b.Loop() {
		if p, err := Look(w.env); err != nil || len(p.Loops) != 200 {
			b.Fatal(err)
		}
	}
}
