//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
)

// copies are stops of a large project whose checks run in a copy, beside one whose check runs in the project.
func copies(b *bench) row {
	const inProject, inCopy = `, "checks": [{"command": "true", "when": "stop", "in": "project"}]`,
		`, "checks": [{"command": "true", "when": "stop"}]`
	o := options{features: 10, files: b.fewer(20_000, 300)}
	limits := rules(`"stagnation": 1000, "attempts": 0`)
	o.rules = limits + inProject
	project := b.newStage(o)
	o.rules = limits + inCopy
	begin := time.Now()
	quiet := b.newStage(o)
	quiet.command(b.hook.argv[0], "verify")
	first := time.Since(begin)
	busy := b.newStage(o)
	for _, s := range []*stage{project, quiet, busy} {
		s.env = append(s.env, client.BlockCapVar+"=0") // no stop here is the last that the client honours
	}
	goesOn := func(_ runner, s *stage) error {
		if a := s.said(); a.Decision != "block" {
			return fmt.Errorf("the loop has ended: %+v", a)
		}
		return nil
	}
	edits := 0
	edit := func(r runner, s *stage) error {
		edits++
		file := filepath.Join(s.project, "src", fmt.Sprint(edits/20), fmt.Sprint(edits)+".go") // another one each time
		return errors.Join(goesOn(r, s), os.WriteFile(file, fmt.Append(nil, edits), 0o644))
	}
	r := row{Title: fmt.Sprintf("A project of %d files, with a check at each stop, in memory", o.files)}
	r.Figures = b.race(
		runner{program: program{"in the project, nothing changed", b.hook.argv}, stages: []*stage{project}, left: goesOn},
		runner{program: program{"in a copy, nothing changed", b.hook.argv}, stages: []*stage{quiet}, left: goesOn},
		runner{program: program{"in a copy, one file changed", b.hook.argv}, stages: []*stage{busy}, left: edit},
	)
	more := r.Figures[1].Median - r.Figures[0].Median
	r.Text = fmt.Sprintf("To trust the project and fill the copy took %.1f s. The copy takes %s on the disk, the "+
		"project %[3]s, the baseline %[4]s.",
		first.Seconds(), megabytes(quiet.size("home/.cache")), megabytes(quiet.size("project/src")),
		megabytes(quiet.size("state")))
	const why = "Most of it is the look at each file, in the project and in the copy."
	r.Bars = []bar{
		{"≤ 60 ms more in a copy, if nothing changed", ms(more), more <= 60*time.Millisecond, why},
		{"≤ 300 ms if one file changed", ms(r.Figures[2].Median), r.Figures[2].Median <= 300*time.Millisecond, why},
		{"≤ 5 s to trust and fill", fmt.Sprintf("%.1f s", first.Seconds()), first <= 5*time.Second, why},
	}
	return r
}

// writeFiles writes the files of a large project, in folders of 20.
func (s *stage) writeFiles() {
	for i := range s.files {
		path := filepath.Join(s.project, "src", fmt.Sprint(i/20), fmt.Sprint(i)+".go")
		check(os.MkdirAll(filepath.Dir(path), 0o755))
		check(os.WriteFile(path, fmt.Appendf(nil, "package p\n\n// %0*d\n", 2000, i), 0o644))
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
