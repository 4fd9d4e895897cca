//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// runner is one of those that are compared.
type runner struct {
	name  string
	ready func() error                  // before each run, not timed
	run   func() (time.Duration, error) // one run
	check func() error                  // after each run, not timed
	peak  func() (int64, error)         // kilobytes of memory; nil: not of interest
}

// figure is what a runner took.
type figure struct {
	Name        string
	Runs        int
	Median, P95 time.Duration
	Peak        int64 // kilobytes; 0: not measured
}

// Of a comparison: how often each runs at least, and at most.
const (
	minRuns  = 11
	slowRuns = 5 // where so many more would take long
	maxRuns  = 1500
	maxEach  = 5 // times in a round, while the slowest runs once
)

// race runs all of them in turns, in another order in each round: what the machine
// does meanwhile meets all alike, and none always comes behind the same one. Those
// that are faster run more often. The first round is not counted.
func (b *bench) race(runners ...runner) ([]figure, error) {
	took := make([][]time.Duration, len(runners))
	one := func(i int) (time.Duration, error) {
		r := runners[i]
		err, d := r.ready(), time.Duration(0)
		if err == nil {
			d, err = r.run()
		}
		if err == nil {
			err = r.check()
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", r.name, err)
		}
		took[i] = append(took[i], d)
		return d, nil
	}
	begin := time.Now()
	var slowest time.Duration
	first := make([]time.Duration, len(runners))
	for i := range runners {
		d, err := one(i)
		if err != nil {
			return nil, err
		}
		first[i], slowest = d, max(slowest, d)
	}
	var turns []int
	for n := range maxEach {
		for i := range runners {
			if n == 0 || !b.quick && first[i]*time.Duration(n+1) <= slowest {
				turns = append(turns, i)
			}
		}
	}
	clear(took)
	least := b.fewer(minRuns, 1)
	if !b.quick && time.Since(begin)*minRuns > 2*b.budget {
		least = slowRuns
	}
	begin = time.Now()
	for round := 0; round < least || time.Since(begin) < b.budget && len(took[turns[0]]) < maxRuns; round++ {
		for _, n := range rand.Perm(len(turns)) {
			if _, err := one(turns[n]); err != nil {
				return nil, err
			}
		}
	}
	var figures []figure
	for i, r := range runners {
		slices.Sort(took[i])
		f := figure{Name: r.name, Runs: len(took[i]), Median: quantile(took[i], 0.5), P95: quantile(took[i], 0.95)}
		if r.peak != nil {
			var err error
			if f.Peak, err = r.peak(); err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// quantile returns the q-th part of sorted durations.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}

// play is a runner for a hook's stops on a stage, each of which must give that answer.
func (s *stage) play(b *bench, c contestant, want answer) runner {
	return runner{
		name: c.name, ready: s.restore, run: func() (time.Duration, error) { return s.run(c.argv) },
		check: func() error { return s.gives(want) },
		peak:  func() (int64, error) { return s.peak(b, c.argv) },
	}
}

// quiet is a runner for a program that is not expected to say anything of use.
func (s *stage) quiet(b *bench, name string, argv ...string) runner {
	r := s.play(b, contestant{name, argv}, answer{})
	r.check = func() error { return nil }
	return r
}

// run runs a program on the stage's event and returns how long it took, from
// before its process began until after it ended.
func (s *stage) run(argv []string) (time.Duration, error) {
	p, err := s.start(argv, s.answer)
	if err != nil {
		return 0, err
	}
	return p.wait()
}

// process is a program that runs.
type process struct {
	begin   time.Time
	process *os.Process
	files   []*os.File
	trouble string
}

func (s *stage) start(argv []string, answer string, more ...*os.File) (process, error) {
	p := process{trouble: s.trouble}
	in, err := os.Open(s.stdin())
	if err != nil {
		return p, err
	}
	p.files = append(p.files, in)
	for _, path := range []string{answer, s.trouble} {
		out, err := os.Create(path)
		if err != nil {
			return p, err
		}
		p.files = append(p.files, out)
	}
	p.begin = time.Now()
	p.process, err = os.StartProcess(argv[0], argv, &os.ProcAttr{Dir: s.project, Env: s.env, Files: slices.Concat(p.files, more)})
	return p, err
}

func (p process) wait() (time.Duration, error) {
	state, err := p.process.Wait()
	took := time.Since(p.begin)
	for _, f := range p.files {
		f.Close()
	}
	if err == nil && !state.Success() {
		said, _ := os.ReadFile(p.trouble) // it only helps
		err = fmt.Errorf("%v: %s", state, bytes.TrimSpace(said))
	}
	return took, err
}

// peak returns the most memory that a program has had, in kilobytes: the middle
// one of three runs.
func (s *stage) peak(b *bench, argv []string) (int64, error) {
	var all []int64
	for range b.fewer(3, 1) {
		if err := s.restore(); err != nil {
			return 0, err
		}
		read, write, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		p, err := s.start(append([]string{b.launch}, argv...), s.answer, write)
		write.Close()
		if err == nil {
			_, err = p.wait()
		}
		said := make([]byte, 32)
		n, _ := read.Read(said)
		read.Close()
		kilobytes, bad := strconv.ParseInt(strings.TrimSpace(string(said[:n])), 10, 64)
		if err = cmp.Or(err, bad); err != nil {
			return 0, err
		}
		all = append(all, kilobytes)
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
