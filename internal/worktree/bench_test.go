package worktree

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkMerge takes work from a lane to the loop's branch, as a run does, in a repository of 2,000 files. It counts
// the git commands of each step.
func BenchmarkMerge(b *testing.B) {
	w := newWorld(b, "")
	for i := range 2000 {
		w.write(w.project, fmt.Sprintf("src/d%d/f%d.go", i%50, i), fmt.Sprintf("package d // %d\n", i))
	}
	w.git(w.top, "add", "-A")
	w.git(w.top, "commit", "-qm", "Many files")
	r := w.open()
	lane := w.lane("lane-1")
	merger, err := r.Add(b.Context(), filepath.Join(w.lanes, "merge"), "", w.head())
	w.ok(err)
	counts, part := map[string]int{}, ""
	r.step = func(string) { counts[part]++ }
	n := 0
	for b.Loop() {
		n++
		w.write(lane.Project(), "src/d1/f1.go", fmt.Sprintf("package d // work %d\n", n))
		part = "commit"
		commit := w.commit(lane)
		part = "merge"
		m, err := r.Merge(b.Context(), w.head(), Work{Commit: commit, Base: lane.Base(), Feature: "f"})
		w.ok(err)
		part = "prove"
		w.ok(merger.Reset(b.Context(), m.Commit))
		part = "forward"
		w.ok(r.Forward(b.Context(), w.head(), m.Commit))
		part = "reset"
		w.ok(lane.Reset(b.Context(), m.Commit))
	}
	for part, count := range counts {
		b.ReportMetric(float64(count)/float64(n), part+"-gits/op")
	}
}
