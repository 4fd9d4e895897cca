//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// row is a row of the design's table: what was measured, and the bars it has to
// meet.
type row struct {
	Title   string
	Text    string
	Figures []figure
	Bars    []bar
	Floor   *figure // what the others are measured against; nil: the row has none
}

// bar is a goal and what became of it.
type bar struct {
	Want, Got string
	Met       bool
	Aim       bool // not promised, only aimed at
}

// rows are measured in this order.
var rows = []func(*bench) (row, error){
	idle, changed, durable, unchanged, large, huge, longTalk, longLoop, size,
}

// times says how much of of's time f took.
func times(f, of figure) float64 { return float64(f.Median) / float64(of.Median) }

func (r *row) atMost(most float64, f, of figure) {
	got := times(f, of)
	r.Bars = append(r.Bars, bar{
		Want: fmt.Sprintf("≤ %g × %s", most, of.Name), Got: fmt.Sprintf("%.2f ×", got), Met: got <= most,
	})
}

func (r *row) faster(least float64, f, than figure) {
	got := times(than, f)
	r.Bars = append(r.Bars, bar{
		Want: fmt.Sprintf("≥ %g × faster than %s", least, than.Name), Got: fmt.Sprintf("%.1f ×", got), Met: got >= least,
	})
}

// bound says how much faster than its rivals a hook could be at the most here: as
// the floor is.
func (r *row) bound(floor figure, rivals ...figure) {
	var than []string
	for _, rival := range rivals {
		than = append(than, fmt.Sprintf("%.1f × faster than %s", times(rival, floor), rival.Name))
	}
	r.Text += " The floor, which does nothing, is " + strings.Join(than, " and ") + "."
}

// theSame is a bar for two cases of the hook that should not differ: by no more
// than the same case differs from itself on a machine with other things to do.
func (r *row) theSame(f, as figure) {
	got := times(f, as)
	r.Bars = append(r.Bars, bar{
		Want: fmt.Sprintf("the same as %s, within a tenth", as.Name), Got: fmt.Sprintf("%.2f ×", got), Met: got <= 1.1,
	})
}

// named gives a runner another name.
func named(name string, r runner) runner {
	r.name = name
	return r
}

func idle(b *bench) (row, error) {
	r := row{Title: titleIdle, Text: "What every stop of every other session costs."}
	s, err := b.newStage(options{})
	if err == nil {
		err = s.payload("stop.json", nil)
	}
	if err != nil {
		return r, err
	}
	silent := func(c contestant) runner { return s.play(b, c, answer{}) }
	r.Figures, err = b.race(s.quiet(b, "floor", b.floor), silent(b.hook), silent(b.bash), silent(b.node))
	if err == nil {
		r.atMost(1.3, r.Figures[1], r.Figures[0])
	}
	return r.over(0), err
}

// over names the figure that the others are measured against.
func (r row) over(i int) row {
	if i < len(r.Figures) {
		r.Floor = &r.Figures[i]
	}
	return r
}

func changed(b *bench) (row, error) {
	r := row{Title: titleChanged, Text: "The common stop of a loop. All folders are in memory."}
	runners, stages, err := b.same(options{features: 10}, b.hook, b.bash, b.node, b.hook)
	if err != nil {
		return r, err
	}
	again := named("ralph-stop-hook, again", runners[3])
	again.peak = nil
	r.Figures, err = b.race(stages[0].quiet(b, "floor", b.floor), runners[0], again, runners[1], runners[2])
	if err == nil {
		f := r.Figures
		r.Text += fmt.Sprintf(" The hook stands here twice to show what a difference is worth: %.1f %%.", 100*max(times(f[1], f[2])-1, times(f[2], f[1])-1))
		r.atMost(2, f[1], f[0])
		r.faster(50, f[1], f[3])
		r.faster(30, f[1], f[4])
		r.bound(f[0], f[3], f[4])
	}
	return r.over(0), err
}

func durable(b *bench) (row, error) {
	r := row{Title: titleDurable, Text: "The hook flushes two files and their folders, and the rivals nothing. The four fsyncs are those of two such writes, without the writing; and then with it, in a process that runs already."}
	runners, stages, err := b.same(options{features: 10, onDisk: true}, b.hook, b.bash, b.node)
	if err != nil {
		return r, err
	}
	s := stages[0]
	flush := runner{name: "four fsyncs", ready: s.restore, check: func() error { return nil }}
	flush.run = func() (time.Duration, error) { _, flushes, err := s.writes(); return flushes, err }
	write := named("both writes, whole", flush)
	write.run = func() (time.Duration, error) { whole, _, err := s.writes(); return whole, err }
	r.Figures, err = b.race(s.quiet(b, "floor", b.floor), flush, runners[0], runners[1], runners[2], write)
	if err == nil {
		r.sum(2, r.Figures[2], r.Figures[0], r.Figures[1])
	}
	return r.over(0), err
}

// sum is the bar of so many times the floor, and what else was measured beside it.
func (r *row) sum(most float64, f, floor, and figure) {
	limit := time.Duration(most*float64(floor.Median)) + and.Median
	r.Bars = append(r.Bars, bar{
		Want: fmt.Sprintf("≤ %g × floor + %s = %s", most, and.Name, ms(limit)), Got: ms(f.Median), Met: f.Median <= limit,
	})
}

// writes replaces two files as a commit does, in folders of its own. It returns
// the time of it all, and of its four flushes.
func (s *stage) writes() (whole, flushes time.Duration, err error) {
	timed := func(f *os.File) {
		begin := time.Now()
		if failed := f.Sync(); failed != nil {
			err = failed
		}
		flushes += time.Since(begin)
	}
	begin := time.Now()
	for _, name := range []string{"state", "progress"} {
		dir := filepath.Join(s.root, "flushed", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return 0, 0, err
		}
		path := filepath.Join(dir, name)
		f, err := os.Create(path + ".new")
		if err != nil {
			return 0, 0, err
		}
		_, err = io.WriteString(f, strings.Repeat("x", 800))
		timed(f)
		f.Close()
		if err == nil {
			err = os.Rename(path+".new", path)
		}
		if err != nil {
			return 0, 0, err
		}
		d, err := os.Open(dir)
		if err != nil {
			return 0, 0, err
		}
		timed(d)
		d.Close()
	}
	return time.Since(begin), flushes, err
}

func large(b *bench) (row, error) {
	r := row{Title: titleLong}
	runners, stages, err := b.same(options{features: b.fewer(6000, 600)}, b.hook, b.node)
	if err != nil {
		return r, err
	}
	r.Text = "The list has " + megabytes(stages[0].listSize()) + "."
	r.Figures, err = b.race(append([]runner{stages[0].quiet(b, "floor", b.floor)}, runners...)...)
	if err == nil {
		r.atMost(5, r.Figures[1], r.Figures[0])
		r.faster(12, r.Figures[1], r.Figures[2])
		r.bound(r.Figures[0], r.Figures[2])
	}
	return r.over(0), err
}

func (s *stage) listPath() string { return filepath.Join(s.loop, "feature_list.json") }

func (s *stage) listSize() int64 {
	info, err := os.Stat(s.listPath())
	if err != nil {
		return 0
	}
	return info.Size()
}

func huge(b *bench) (row, error) {
	r := row{Title: titleHuge}
	runners, stages, err := b.same(options{features: b.fewer(100_000, 1000)}, b.hook, b.node)
	if err != nil {
		return r, err
	}
	list := stages[0].listSize()
	r.Text = "The list has " + megabytes(list) + ". grep counts the features that pass, and makes nothing of them."
	grep, err := exec.LookPath("grep")
	if err != nil {
		return r, err
	}
	r.Figures, err = b.race(
		stages[0].quiet(b, "floor", b.floor), runners[0], runners[1],
		stages[0].quiet(b, "grep -c", grep, "-c", `"passes": true`, stages[0].listPath()))
	if err == nil {
		f := r.Figures
		r.faster(5, f[1], f[2])
		r.atMost(5, f[1], f[3])
		r.Bars[len(r.Bars)-1].Aim = true
		got := float64(f[1].Peak<<10) / float64(list)
		r.Bars = append(r.Bars, bar{Want: "peak memory ≤ 3 × the list", Got: fmt.Sprintf("%.1f ×", got), Met: got <= 3})
	}
	return r.over(0), err
}

func size(b *bench) (row, error) {
	r := row{Title: titleSize}
	info, err := os.Stat(b.hook.argv[0])
	if err == nil {
		r.Bars = []bar{{Want: "≤ 4.5 MB", Got: fmt.Sprintf("%.2f MB", float64(info.Size())/1e6), Met: info.Size() <= 4_500_000}}
	}
	return r, err
}
