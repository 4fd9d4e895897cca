//go:build linux

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// runByFeatures is about runs of two iterations over longer and longer lists.
func runByFeatures(b *bench) growth {
	g := growth{Title: "Features in the list of a run", Axis: "features",
		Text: "The run is in memory, and has two iterations."}
	for _, n := range []int{10, 100, 1000, 10_000}[:b.fewer(4, 2)] {
		g.add(b, n, b.outerLoops(options{features: n, left: 2}, ours, alone, inBash, withJq))
	}
	return g
}

// runByIterations is about longer and longer runs.
func runByIterations(b *bench) growth {
	g := growth{Title: "Iterations of a run", Axis: "iterations",
		Text: "This is the time of one iteration, in memory."}
	for _, n := range []int{4, 20, 100, 500}[:b.fewer(4, 2)] {
		p := g.add(b, n, b.outerLoops(options{features: n}, ours, alone, inBash))
		for i := range p.Figures {
			p.Figures[i].Median /= time.Duration(n)
			p.Figures[i].P95 /= time.Duration(n)
		}
	}
	return g
}

// byRuns is about runs at the same time.
func byRuns(b *bench) growth {
	g := growth{Title: "Runs at once", Axis: "runs at once",
		Text: "This is the time until the last run is complete, in memory. Each run has ten features."}
	for n := 1; n <= b.fewer(64, 4); n *= 4 {
		all := b.outerLoops(options{features: 10}, ours, alone, inBash, withJq)
		for len(all[0].stages) < n {
			for i, one := range b.outerLoops(options{features: 10}, ours, alone, inBash, withJq) {
				all[i].stages = append(all[i].stages, one.stages...)
			}
		}
		g.add(b, n, all)
	}
	return g
}

// byWatchers is about a run that more and more terminals follow.
func byWatchers(b *bench) growth {
	g := growth{Title: "Watchers of a run", Axis: "watchers",
		Text: "`ralph-runner watch` follows a run of ten features, in memory."}
	for _, n := range []int{0, 1, 4, 16}[:b.fewer(4, 2)] {
		g.watched(b, n)
	}
	return g
}

// watched adds the point of a run with n watchers, which are there before it begins.
func (g *growth) watched(b *bench, n int) {
	all := b.outerLoops(options{features: 10}, ours)
	for range n {
		defer end(b.watch(all[0].stages[0]))
	}
	g.add(b, n, all)
}

// watch starts watch in the project of a stage, and returns when it has shown the loop.
func (b *bench) watch(s *stage) *exec.Cmd {
	cmd := exec.Command(b.runner.argv[0], "watch", "--lines")
	cmd.Dir, cmd.Env, cmd.Stderr = s.project, s.env, os.Stderr
	out := bufio.NewReader(must(cmd.StdoutPipe()))
	check(cmd.Start())
	must(out.ReadString('\n'))
	go io.Copy(io.Discard, out) // it must never wait for a reader
	return cmd
}

func end(cmd *exec.Cmd) {
	check(cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait() // a signal is not success
}

// add adds the point of some runners, and removes their stages.
func (g *growth) add(b *bench, n int, runners []runner) *point {
	g.Points = append(g.Points, point{n, number(n), b.race(runners...)})
	for _, r := range runners {
		for _, s := range r.stages {
			check(os.RemoveAll(s.root))
		}
	}
	return &g.Points[len(g.Points)-1]
}
