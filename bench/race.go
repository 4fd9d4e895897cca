//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"
)

// runner is a program and the stages where it runs, on all of them at the same time.
type runner struct {
	program
	stages []*stage
	begin  func(*stage)               // makes a stage what it is to be before each run; nil: nothing has to be done
	want   *answer                    // what every stage must answer; nil: the output does not matter
	left   func(runner, *stage) error // looks at what the program has left on a stage; nil: that does not matter
}

// figure is what a runner took.
type figure struct {
	Name        string
	Runs        int
	Median, P95 time.Duration
	Peak        int64 // bytes of memory; 0: not measured
}

const (
	minRuns  = 7 // of each runner
	maxTurns = 5 // how often a fast runner runs while the slowest runs once
)

// race runs all runners in turns, in another random order in each round: other work of the machine meets all of them
// alike. Fast runners run more often. The first round does not count.
func (b *bench) race(runners ...runner) (figures []figure) {
	first := make([]time.Duration, len(runners))
	for i, r := range runners {
		first[i] = must(r.once())
	}
	var turns []int
	for i := range runners {
		n := int(min(slices.Max(first)/first[i], time.Duration(b.fewer(maxTurns, 1))))
		turns = append(turns, slices.Repeat([]int{i}, n)...)
	}
	took := make([][]time.Duration, len(runners))
	begin := time.Now()
	for round := 0; round < b.fewer(minRuns, 1) || time.Since(begin) < b.budget; round++ {
		for _, n := range rand.Perm(len(turns)) {
			i := turns[n]
			took[i] = append(took[i], must(runners[i].once()))
		}
	}
	for i, r := range runners {
		f := figureOf(r.name, took[i])
		if len(r.stages) == 1 {
			f.Peak = b.peak(r)
		}
		figures = append(figures, f)
	}
	return figures
}

func figureOf(name string, took []time.Duration) figure {
	slices.Sort(took)
	return figure{Name: name, Runs: len(took), Median: quantile(took, 0.5), P95: quantile(took, 0.95)}
}

// quantile returns the value below which the part q of the sorted durations lies.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// once plays the stop once, and returns how long the processes took. A wrong answer is an error.
func (r runner) once() (took time.Duration, err error) {
	r.restore()
	took, err = play(r.argv, r.stages...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.name, err)
	}
	for _, s := range r.stages {
		if r.left != nil {
			if err := r.left(r, s); err != nil {
				return 0, err
			}
		}
		if r.want == nil {
			continue
		}
		if got := s.said(); got != *r.want {
			return 0, fmt.Errorf("%w: %s\n%#v, want\n%#v", errDiffers, r.name, got, *r.want)
		}
	}
	return took, nil
}

// restore makes the stages what they are to be before a run.
func (r runner) restore() {
	for _, s := range r.stages {
		s.restore()
		if r.begin != nil {
			r.begin(s)
		}
	}
}

// play runs a program on each stage, all at the same time. It returns the time from before the first process starts
// until the last one has ended. A process that fails is an error.
func play(argv []string, stages ...*stage) (time.Duration, error) {
	files := make([][]*os.File, len(stages))
	for i, s := range stages {
		files[i] = []*os.File{must(os.Open(s.event)), must(os.Create(s.answer)), must(os.Create(s.trouble))}
	}
	running := make([]*os.Process, len(stages))
	states := make([]*os.ProcessState, len(stages))
	begin := time.Now()
	for i, s := range stages {
		attr := &os.ProcAttr{Dir: s.project, Env: s.env, Files: files[i]}
		running[i] = must(os.StartProcess(argv[0], argv, attr))
	}
	for i, p := range running {
		states[i] = must(p.Wait())
	}
	took := time.Since(begin)
	for _, f := range slices.Concat(files...) {
		f.Close()
	}
	for i, s := range stages {
		s.cpu = states[i].UserTime() + states[i].SystemTime()
		if !states[i].Success() {
			return 0, fmt.Errorf("%v: %s", states[i], bytes.TrimSpace(must(os.ReadFile(s.trouble))))
		}
	}
	return took, nil
}

// peak returns the most memory that a runner's program has at once, in bytes: the middle one of three runs.
func (b *bench) peak(r runner) int64 {
	var all []int64
	s := r.stages[0]
	for range 3 {
		r.restore()
		must(play(slices.Concat(b.launch.argv, r.argv), s))
		kilobytes := must(strconv.ParseInt(string(bytes.TrimSpace(must(os.ReadFile(s.trouble)))), 10, 64))
		all = append(all, kilobytes<<10)
	}
	slices.Sort(all)
	return all[1]
}
