//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// growth is how the time of a stop changes with one thing.
type growth struct {
	Title, Text string
	Axis        string
	Lines       []line // of equally many points
}

// line is what one program took.
type line struct {
	Name   string
	Points []point
}

// point is a figure at a size.
type point struct {
	X     float64
	Label string
	figure
}

var growths = []func(*bench) (growth, error){byFeatures, byCrowd, byTranscript, byIteration, byLoops}

// add puts figures, in the order of the lines, at a size.
func (g *growth) add(x float64, label string, figures ...figure) {
	for i, f := range figures {
		if len(g.Lines) == i {
			g.Lines = append(g.Lines, line{Name: f.Name})
		}
		g.Lines[i].Points = append(g.Lines[i].Points, point{x, label, f})
	}
}

func byFeatures(b *bench) (growth, error) {
	g := growth{Title: "Features in the list", Axis: "features", Text: "In memory, the list changed since the last stop. 10 features are 2 KB, 100,000 are 18 MB."}
	for _, n := range []int{10, 100, 1000, 10_000, 100_000}[:b.fewer(5, 2)] {
		runners, stages, err := b.same(options{features: n}, b.hook, b.node, b.bash)
		if err != nil {
			return g, err
		}
		figures, err := b.race(append(runners, stages[0].quiet(b, "floor", b.floor))...)
		if err != nil {
			return g, err
		}
		g.add(float64(n), number(n), figures...)
		for _, s := range stages {
			if err := os.RemoveAll(s.root); err != nil {
				return g, err
			}
		}
	}
	return g, nil
}

func byTranscript(b *bench) (growth, error) {
	g := growth{Title: "Transcript", Axis: "length", Text: "With a limit on tokens, for which the hook reads the last 256 KB of the transcript at each stop. The rivals have no such limit."}
	sizes := []int64{1 << 10, 32 << 10, 1 << 20, 32 << 20, 1 << 30}
	runners, err := b.talks(sizes...)
	if err != nil {
		return g, err
	}
	figures, err := b.race(runners...)
	for i, f := range figures {
		f.Name = b.hook.name
		g.add(float64(sizes[i]), bytesWord(sizes[i]), f)
	}
	return g, err
}

func byIteration(b *bench) (growth, error) {
	g := growth{Title: "Iterations", Axis: "iterations", Text: "One loop, all of whose iterations were played."}
	figures, err := b.race(b.climbed...)
	for i, f := range figures {
		f.Name = b.hook.name
		g.add(float64(iterations[i]), number(iterations[i]), f)
	}
	return g, err
}

// byCrowd starts many hooks at once.
func byCrowd(b *bench) (growth, error) {
	g := growth{Title: "Hooks at once", Axis: "hooks at once", Text: "Until the last of them has answered. Each has a project and a loop of its own; in the last column all are stops of one loop, which are answered one after another, each with an iteration of its own."}
	most := b.fewer(64, 4)
	hooks := []contestant{b.hook, b.node, b.bash}
	_, firsts, err := b.same(options{features: 10}, hooks...)
	if err != nil {
		return g, err
	}
	want, err := firsts[0].said()
	if err != nil {
		return g, err
	}
	crowds := make([][]*stage, len(hooks))
	for i, first := range firsts {
		for crowds[i] = []*stage{first}; len(crowds[i]) < most; {
			s, err := b.newStage(options{features: 10})
			if err == nil && i > 0 { // a rival's record is the same everywhere
				err = s.like(first)
			} else if err == nil {
				_, err = s.prime(b.hook)
			}
			if err != nil {
				return g, err
			}
			crowds[i] = append(crowds[i], s)
		}
	}
	one, err := b.newStage(options{features: 10, limits: `"stagnation": 0`})
	if err == nil {
		_, err = one.prime(b.hook)
	}
	if err != nil {
		return g, err
	}
	one.saved = nil // its iterations go on

	if err := one.payload("stop.json", nil); err != nil { // each a turn of its own: no cap on blocks
		return g, err
	}
	for n := 1; n <= most; n *= 4 {
		var runners []runner
		for i, c := range hooks {
			runners = append(runners, together(c, want, crowds[i][:n]))
		}
		runners = append(runners, storm(b.hook, one, n))
		figures, err := b.race(runners...)
		if err != nil {
			return g, err
		}
		g.add(float64(n), number(n), figures...)
	}
	return g, nil
}

// like makes s a stage as ready as another one of a rival's.
func (s *stage) like(other *stage) error {
	if err := s.pass(); err != nil {
		return err
	}
	for path, was := range other.saved {
		if name := filepath.Base(path); name == "progress.txt" || strings.HasPrefix(name, "rival-") {
			if err := os.WriteFile(strings.Replace(path, other.root, s.root, 1), was.data, 0o644); err != nil {
				return err
			}
		}
	}
	return s.save()
}

// together starts a hook on each of the stages and waits for all.
func together(c contestant, want answer, stages []*stage) runner {
	each := func(do func(*stage) error) func() error {
		return func() error {
			for _, s := range stages {
				if err := do(s); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return runner{
		name: c.name, ready: each((*stage).restore), check: each(func(s *stage) error { return s.gives(want) }),
		run: func() (time.Duration, error) {
			return crowd(len(stages), func(i int) (process, error) { return stages[i].start(c.argv, stages[i].answer) })
		},
	}
}

// storm starts n hooks on one stage; no iteration may be given twice.
func storm(c contestant, s *stage, n int) runner {
	answers := make([]string, n)
	for i := range answers {
		answers[i] = fmt.Sprintf("%s.%d", s.answer, i)
	}
	return runner{
		name: c.name + ", one loop", ready: func() error { return nil },
		run: func() (time.Duration, error) {
			return crowd(n, func(i int) (process, error) { return s.start(c.argv, answers[i]) })
		},
		check: func() error {
			given := map[int]bool{}
			for _, path := range answers {
				a, err := s.read(path)
				if err != nil || a.Decision != "block" || given[a.Iteration] {
					return fmt.Errorf("an iteration was given twice, or none: %+v, %w", a, err)
				}
				given[a.Iteration] = true
			}
			return nil
		},
	}
}

// crowd starts n processes and returns how long it took until all had ended.
func crowd(n int, start func(int) (process, error)) (time.Duration, error) {
	begin := time.Now()
	running := make([]process, 0, n)
	for i := range n {
		p, err := start(i)
		if err != nil {
			return 0, err
		}
		running = append(running, p)
	}
	for _, p := range running {
		if _, err := p.wait(); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

func byLoops(b *bench) (growth, error) {
	g := growth{Title: "Loops in a project", Axis: "loops", Text: "Each with a session of its own; one of them is measured."}
	counts := []int{1, 10, 50, 200}[:b.fewer(4, 2)]
	var runners []runner
	for _, n := range counts {
		all, _, err := b.same(options{features: 10, others: n - 1}, b.hook)
		if err != nil {
			return g, err
		}
		runners = append(runners, all[0])
	}
	figures, err := b.race(runners...)
	for i, f := range figures {
		f.Name = b.hook.name
		g.add(float64(counts[i]), number(counts[i]), f)
	}
	return g, err
}

// Table returns the rows of a growth, a cell for each line.
func (g growth) Table() (rows [][]string) {
	for i, p := range g.Lines[0].Points {
		row := []string{p.Label}
		for _, l := range g.Lines {
			f := l.Points[i]
			cell := fmt.Sprintf("%s (%s)", ms(f.Median), ms(f.P95))
			if f.Peak > 0 {
				cell += ", " + kilobytes(f.Peak)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}
