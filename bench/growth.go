//go:build linux

package main

import "os"

// growth is how the time of a stop or of a run changes with one thing.
type growth struct {
	Title, Text, Axis string
	Points            []point // from the smallest to the largest
}

// point is what each program took at one size.
type point struct {
	X       int
	Label   string
	Figures []figure
}

var growths = []func(*bench) growth{
	byFeatures, byCrowd, byTranscript, runByFeatures, runByIterations, byRuns, byWatchers, byLanes, byChecks,
}

func byFeatures(b *bench) growth {
	g := growth{Title: "Features in the list", Axis: "features",
		Text: "The project is in memory, and the list has changed since the last stop."}
	for _, n := range []int{10, 100, 1000, 10_000}[:b.fewer(4, 2)] {
		runners := b.same(options{features: n}, b.hook, b.node, b.bash)
		g.Points = append(g.Points, point{n, number(n), b.race(runners...)})
		for _, r := range runners {
			check(os.RemoveAll(r.stages[0].root))
		}
	}
	return g
}

func byCrowd(b *bench) growth {
	g := growth{
		Title: "Hooks at once", Axis: "hooks at once",
		Text: "This is the time until the last hook has answered. Each hook has its own loop.",
	}
	all := b.same(options{features: 10}, b.hook, b.node, b.bash)
	for n := 1; n <= b.fewer(64, 4); n *= 4 {
		for len(all[0].stages) < n {
			for i, one := range b.same(options{features: 10}, b.hook, b.node, b.bash) {
				all[i].stages = append(all[i].stages, one.stages...)
			}
		}
		g.Points = append(g.Points, point{n, number(n), b.race(all...)})
	}
	return g
}

func byTranscript(b *bench) growth {
	g := growth{
		Title: "Transcript", Axis: "length of the transcript",
		Text: "The hook reads at most the last 256 KB. The rivals do not read it.",
	}
	sizes := []int{1 << 10, 32 << 10, 1 << 20, 32 << 20, 1 << 30}
	for i, f := range b.race(b.transcripts(sizes...)...) {
		f.Name = b.hook.name
		g.Points = append(g.Points, point{sizes[i], sizeNames[sizes[i]], []figure{f}})
	}
	return g
}
