package watch

import (
	"fmt"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch/watchtest"
	"testing"
)

// BenchmarkLook reads 200 loops of 10 features.
func BenchmarkLook(b *testing.B) {
	w := watchtest.New(b)
	for i := range 200 {
		w.Loop(fmt.Sprint("l", i))
	}
	for b.Loop() {
		if p, err := Look(w.Env); err != nil || len(p.Loops) != 200 {
			b.Fatal(err)
		}
	}
}
