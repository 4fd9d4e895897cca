//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
)

// allLanes is the number of lanes that the bars of lanes are about.
const allLanes = 16

// taken is about the choice of the next feature alone, of a list that is in memory.
func taken(b *bench) row {
	count := b.fewer(100_000, 1000)
	s := b.newStage(options{features: count, run: true})
	list := must(features.Parse(must(os.ReadFile(s.list()))))
	except := map[string]bool{}
	var took []time.Duration
	for len(took) < b.fewer(1000, 100) {
		if len(except) == allLanes-1 { // the lane that asks has none
			clear(except)
		}
		begin := time.Now()
		next, open := list.NextBut(except)
		took = append(took, time.Since(begin))
		if !open || except[next.ID] {
			check(fmt.Errorf("%w: no feature is left for a lane", errDiffers))
		}
		except[next.ID] = true
	}
	check(os.RemoveAll(s.root))
	slices.Sort(took)
	f := figure{Name: "the next feature", Runs: len(took), Median: quantile(took, 0.5), P95: quantile(took, 0.95)}
	return row{"The next of " + number(count) + " features for one of 16 lanes, in memory",
		"This is the choice alone, of a list that is read already, within one process.", []figure{f},
		[]bar{{"≤ 5 ms", ms(f.Median), f.Median <= 5*time.Millisecond, "Each feature is looked at."}}}
}

// claims is about the engine alone, which its own benchmark measures.
func claims(b *bench) row {
	r := row{Title: "A claim and a submission of one of 16 workers, on disk", Text: "The embedded engine without any " +
		"work: workers over loopback, submissions of nothing, and each write on the disk before it is answered. This is " +
		"`go test ./internal/engine -run xxx -bench ClaimSubmit/workers=16`."}
	count := strconv.Itoa(b.fewer(1000, 50))
	cmd := exec.Command("go", "test", "./internal/engine", "-run", "xxx", "-benchtime", count+"x", "-bench",
		fmt.Sprintf("ClaimSubmit/workers=%d$", allLanes))
	cmd.Env = append(os.Environ(), "TMPDIR="+b.disk)
	var sum time.Duration
	words := strings.Fields(string(must(cmd.Output())))
	for _, what := range []string{"claim", "submit"} {
		f := figure{Name: what, Median: metric(words, what+"-ms"), P95: metric(words, what+"-p95-ms")}
		f.Runs = must(strconv.Atoi(count))
		r.Figures = append(r.Figures, f)
		sum += f.Median
	}
	r.Bars = []bar{{"≤ 25 ms together", ms(sum), sum <= 25*time.Millisecond, "Each of them waits for the disk."}}
	return r
}

// metric returns a metric in milliseconds among the words that a Go benchmark prints: each is a value and its unit.
func metric(words []string, unit string) time.Duration {
	at := slices.Index(words, unit)
	if at < 1 {
		check(fmt.Errorf("the benchmark of the engine does not say %s: %q", unit, words))
	}
	return time.Duration(must(strconv.ParseFloat(words[at-1], 64)) * float64(time.Millisecond))
}
