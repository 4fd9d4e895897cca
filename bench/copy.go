//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// copies are about stops whose checks run in a clean copy of the project.
var copies = []func(*bench) row{besideGit(20_000, 0), besideGit(20_000, 30_000), besideGit(50_000, 0), small}

// copyStage makes a project with a check at each stop, and a loop that has not started: what a person does is not done
// below the session of an agent.
func (b *bench) copyStage(o options) *stage {
	o.features, o.idle, o.rules = 10, true, rules(`"stagnation": 1000, "attempts": 0`)+
		`, "guards": false, "checks": [{"command": "true", "when": "stop"}]`
	s := b.newStage(o)
	s.env = append(s.env, client.BlockCapVar+"=0") // no stop here is the last that the client honours
	return s
}

// turn is what runs together, one after the other: programs that each need what the one before has left, and what git
// does that is most like them, which runs before, between or after them.
type turn struct {
	ours []compared
	git  runner
	took [][]time.Duration // CPU times by round: of ours, then of git
}

// compared is a program that may take so many times the CPU time of git.
type compared struct {
	runner
	most float64
	why  string
}

// play plays one round.
func (t *turn) play() {
	took := make([]time.Duration, len(t.ours)+1)
	at := rand.IntN(len(took))
	for i := range took {
		if i == at {
			took[len(t.ours)] = t.git.cpu()
		}
		if i < len(t.ours) {
			took[i] = t.ours[i].cpu()
		}
	}
	t.took = append(t.took, took)
}

// cpu runs a program on its only stage, and returns the CPU time.
func (r runner) cpu() time.Duration {
	must(r.once())
	return r.stages[0].cpu
}

// ratio returns the median of the ratios of one of ours to git.
func (t *turn) ratio(of int) float64 {
	var all []float64
	for _, took := range t.took {
		all = append(all, float64(took[of])/float64(took[len(took)-1]))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// figure returns what one of ours took, or git, which is the last one.
func (t *turn) figure(name string, of int) figure {
	var all []time.Duration
	for _, took := range t.took {
		all = append(all, took[of])
	}
	return figureOf(name, all)
}

// turns returns what is measured on a stage with a copy: the filling, and a stop after it.
func (b *bench) turns(s *stage) (fills, stops *turn) {
	const packs, copied, out = "state/loops/*/proof/pack-*", "home/.cache/*/copies/*/project/src", "out"
	git := must(exec.LookPath("git"))
	with := func(name string, begin func(*stage), left func(runner, *stage) error, argv ...string) runner {
		return runner{program: program{name, argv}, stages: []*stage{s}, begin: begin, left: left}
	}
	edit := func(s *stage) {
		if s.edits == 0 {
			b.start(s)
		}
		s.edit()
	}
	checkout := with("git checkout-index", remove(out), hasAll(out+"/src"), git, "checkout-index", "-a", "--prefix",
		filepath.Join(s.root, out)+"/")
	trust := with("trust", remove(filepath.Dir(packs)), hasAll(packs), b.hook.argv[0], "trust", loopName, "--yes")
	fill := with("the first fill", remove("home/.cache"), hasAll(copied), b.hook.argv[0], "verify")
	stop := with("a later stop", edit, func(_ runner, s *stage) error {
		edited := filepath.Join("0", "0.go")
		now := must(os.ReadFile(filepath.Join(s.project, "src", edited)))
		has, err := os.ReadFile(filepath.Join(s.root, s.only(copied), edited))
		if err != nil || !bytes.Equal(has, now) {
			return fmt.Errorf("%w: the copy does not have the file that was edited", errDiffers)
		}
		if a := s.said(); a.Decision != "block" {
			return fmt.Errorf("%w: the loop has ended: %+v", errDiffers, a)
		}
		return nil
	}, b.hook.argv...)
	status := with("git status", edit, func(r runner, s *stage) error {
		const want = " M src/0/0.go\n?? .claude/\n"
		if got := string(must(os.ReadFile(s.answer))); got != want {
			return fmt.Errorf("%w: %s: %q, want %q", errDiffers, r.name, got, want)
		}
		return nil
	}, git, "status", "--porcelain")
	fills = &turn{git: checkout, ours: []compared{
		{trust, 3, "Each file is read, hashed, and written into one pack."},
		{fill, 2, "Each file is read from the pack, verified by its hash, created, and gets its time. Then what git " +
			"ignores is linked, and the index of the copy is written."},
	}}
	stops = &turn{git: status, ours: []compared{{stop, 3, "A stop walks two trees, the project and the copy, with one " +
		"fstatat for each file in each, and reads the indexes of the baseline, of both trees, and of git. git status " +
		"walks one tree, and compares it with one index."}}}
	return fills, stops
}

// besideGit compares a copy of so many files with git, in CPU time. It does so in memory: after many files were removed
// from a disk, ext4 searches so long for the inode of each new one that git checkout-index does little else.
func besideGit(files, ignored int) func(*bench) row {
	return func(b *bench) row {
		s := b.copyStage(options{files: b.fewer(files, 300), ignored: b.fewer(ignored, 400)})
		defer os.RemoveAll(s.root)
		beside := ""
		if ignored > 0 {
			beside = fmt.Sprintf(" beside %s that git ignores,", number(s.ignored))
		}
		r := row{Title: fmt.Sprintf("A clean copy of %s files,%s in memory", number(s.files), beside)}
		fills, stops := b.turns(s)
		for _, t := range []*turn{fills, stops} {
			t.play()
			t.took = nil // the first round does not count
			for begin := time.Now(); len(t.took) < b.fewer(minRuns, 1) || time.Since(begin) < b.budget; {
				t.play()
			}
			for i, one := range t.ours {
				got := t.ratio(i)
				r.Bars = append(r.Bars, bar{
					fmt.Sprintf("%s ≤ %g × %s, in CPU time", one.name, one.most, t.git.name),
					fmt.Sprintf("%.2f ×", got), got <= one.most, one.why,
				})
				r.Figures = append(r.Figures, t.figure(one.name, i))
			}
			r.Figures = append(r.Figures, t.figure(t.git.name, len(t.ours)))
		}
		r.Text = fmt.Sprintf("Times are CPU time. One file is edited before each later stop, and before each git "+
			"status. The copy takes %s, the project's files take %s, and the record with the baseline takes %s.",
			megabytes(s.size("home/.cache")), megabytes(s.size("project/src")), megabytes(s.size("state")))
		return r
	}
}

// small is the time that people wait for a stop of a small project.
func small(b *bench) row {
	s := b.copyStage(options{files: 200, onDisk: true})
	s.command(b.hook.argv[0], "verify") // fills the copy
	_, stops := b.turns(s)
	const most = 80 * time.Millisecond
	r := row{Title: "A stop of 200 files with a clean copy, on disk"}
	r.Text = "One file was edited. Times are wall-clock time until the process exits, not CPU time."
	r.Figures = b.race(stops.ours[0].runner, stops.git)
	got := r.Figures[0].Median
	r.Bars = []bar{{"≤ 80 ms", ms(got), got <= most, "The hook starts git, and flushes the record."}}
	return r
}

// copyControls compares git with itself, once and twice over, where the two are children of a shell. It is an error if
// the ratios are not about 1 and 2, or if a program that does nothing passes for one of those that are compared, or a
// copy that lacks an edit for one that has it.
func (b *bench) copyControls() {
	s := b.copyStage(options{files: 1000})
	fills, stops := b.turns(s)
	stop, once, twice := stops.ours[0].runner, stops.git, stops.git
	fills.play()
	stops.play()
	s.edit()
	if err := stop.left(stop, s); !errors.Is(err, errDiffers) {
		check(fmt.Errorf("the control was not found out: an edit after the stop: %w", errors.Join(err, errDiffers)))
	}
	twice.argv = []string{"/bin/sh", "-c", `"$@" >/dev/null; "$@"`, "sh"}
	twice.argv = append(twice.argv, once.argv...)
	for want, ours := range map[float64]runner{1: once, 2: twice} {
		t := turn{ours: []compared{{runner: ours}}, git: once}
		for range 2 * minRuns {
			t.play()
		}
		if got := t.ratio(0); got < want*0.75 || got > want*1.5 {
			check(fmt.Errorf("git status, %g times, takes %.2f times as long as once", want, got))
		}
	}
	for _, r := range []runner{fills.ours[0].runner, fills.ours[1].runner, fills.git, stop, once} {
		r.argv = b.floor.argv
		if _, err := r.once(); !errors.Is(err, errDiffers) {
			err = errors.Join(err, errDiffers)
			check(fmt.Errorf("the control was not found out: nothing instead of %s: %w", r.name, err))
		}
	}
}

// writeFiles writes and commits the files of a large project, in folders of 20, and those that git ignores. The objects
// are in one pack, as after a clone.
func (s *stage) writeFiles() {
	if s.files == 0 {
		return
	}
	for i := range s.ignored {
		s.writeFile("node_modules", fmt.Sprintf("%d.js", i), i)
	}
	for i := range s.files {
		s.writeFile("src", fmt.Sprintf("%d.go", i), i)
	}
	check(os.WriteFile(filepath.Join(s.project, ".gitignore"), []byte("node_modules/\n"), 0o644))
	s.command("/bin/sh", "-c", "git add . && git -c gc.auto=0 -c user.name=a -c user.email=a@localhost commit -qm files "+
		"&& git -c pack.window=0 repack -adq")
}

// writeFile writes a file of 2 KB, below a folder of the project.
func (s *stage) writeFile(folder, name string, n int) {
	path := filepath.Join(s.project, folder, fmt.Sprint(n/20), name)
	check(os.MkdirAll(filepath.Dir(path), 0o755))
	check(os.WriteFile(path, fmt.Appendf(nil, "package p\n\n// %0*d\n", 2000, n), 0o644))
}

// edit gives the first file another text of the same size.
func (s *stage) edit() {
	s.edits++
	text := fmt.Appendf(nil, "package p\n\n// %0*d\n", 2000, s.edits)
	check(os.WriteFile(filepath.Join(s.project, "src", "0", "0.go"), text, 0o644))
}

// only returns the file or folder that a pattern from the root of the stage on matches, "" unless it is one.
func (s *stage) only(pattern string) string {
	if found := must(filepath.Glob(filepath.Join(s.root, pattern))); len(found) == 1 {
		return must(filepath.Rel(s.root, found[0]))
	}
	return ""
}

// remove returns what removes that which a pattern from the root of a stage on matches.
func remove(pattern string) func(*stage) {
	return func(s *stage) {
		for _, path := range must(filepath.Glob(filepath.Join(s.root, pattern))) {
			check(os.RemoveAll(path))
		}
	}
}

// hasAll returns what looks whether a program has written as many bytes as the project has, to what a pattern matches.
func hasAll(pattern string) func(runner, *stage) error {
	return func(r runner, s *stage) error {
		to := s.only(pattern)
		if to == "" || s.size(to) < s.size("project/src") {
			return fmt.Errorf("%w: %s has not written all files", errDiffers, r.name)
		}
		return nil
	}
}

// size returns how many bytes the files below a folder of the stage have.
func (s *stage) size(folder string) (bytes int64) {
	check(filepath.WalkDir(filepath.Join(s.root, folder), func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return err
	}))
	return bytes
}
