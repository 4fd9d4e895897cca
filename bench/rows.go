//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// row is one comparison of the report.
type row struct {
	Title, Text string
	Figures     []figure
	Bars        []bar
}

// bar is a goal of the project, and what a run measured.
type bar struct {
	Want, Got string
	Met       bool
	Why       string // where the time or the memory goes; shown only when the bar is missed
}

// rows are measured in this order.
var rows = slices.Concat([]func(*bench) row{idle, changed, unchanged, large}, copies,
	[]func(*bench) row{outer, starts})

// times returns how many times as long f took as of.
func times(f, of figure) float64 { return float64(f.Median) / float64(of.Median) }

// atMost adds a bar on the ratio of two figures.
func (r *row) atMost(most float64, f, of figure, why string) {
	got := times(f, of)
	r.Bars = append(r.Bars, bar{fmt.Sprintf("≤ %g × %s", most, of.Name), fmt.Sprintf("%.2f ×", got), got <= most, why})
}

// Floor tells whether the others are to be compared with the first two figures. The first one is the least that it can
// take.
func (r row) Floor() bool { return r.Figures[0].Name == "floor" || r.Figures[0].Name == alone }

// Least and Ours name the first two figures in the head of a table.
func (r row) Least() string { return r.Figures[0].Name }
func (r row) Ours() string {
	if name := r.Figures[1].Name; name != "ralph-stop-hook" {
		return name
	}
	return "hook"
}

func idle(b *bench) row {
	s := b.newStage(options{})
	var runners []runner
	for _, p := range []program{b.floor, b.hook, b.bash, b.node} {
		runners = append(runners, runner{program: p, stages: []*stage{s}, want: &answer{}}) // none of them says anything
	}
	r := row{"No loop in the project", "This is the cost of every stop in other sessions.", b.race(runners...), nil}
	r.atMost(1.7, r.Figures[1], r.Figures[0], "The start of a larger program takes most of it.")
	return r
}

func changed(b *bench) row {
	again := program{"ralph-stop-hook, again", b.hook.argv}
	r := row{Title: "Continue, 10 features, the list changed, in memory"}
	r.Figures = b.race(b.same(options{features: 10}, b.hook, b.bash, b.node, again)...)
	b.noise = 100 * math.Abs(times(r.Figures[4], r.Figures[1])-1)
	r.Text = "This is the most common stop. The hook runs under two names to show the noise."
	r.atMost(2.5, r.Figures[1], r.Figures[0], "A stop locks, reads the loop, replaces two files and adds to two logs.")
	return r
}

// unchanged is the stop that people meet: most turns of a loop do not finish a feature.
func unchanged(b *bench) row {
	s := b.newStage(options{features: 10, rules: rules(`"stagnation": 1000`), onDisk: true})
	for n := range 200 {
		text := fmt.Appendf(nil, "package files\n\nconst number%d = %[1]d\n", n)
		check(os.WriteFile(filepath.Join(s.project, fmt.Sprintf("file%d.go", n)), text, 0o644))
	}
	s.command("/bin/sh", "-c", "git add . && git -c user.name=a -c user.email=a@localhost commit -qm files")
	for range 2 { // the second stop is the first one that finds the list as it was
		must(play(b.hook.argv, s))
	}
	hook := s.ready(b.hook)
	r := row{Title: "Continue, 10 features, the list unchanged, on disk, in git, 200 files"}
	r.Text = "The hook asks git whether the work tree changed, and flushes two files. The rivals do neither."
	r.Figures = b.race(runner{program: b.floor, stages: hook.stages}, hook)
	r.atMost(6, r.Figures[1], r.Figures[0], "The hook starts git to inspect the work tree, and flushes two files.")
	return r
}

func large(b *bench) row {
	runners := b.same(options{features: b.fewer(10_000, 600)}, b.hook, b.bash, b.node)
	size := must(os.Stat(runners[1].stages[0].list())).Size()
	r := row{"10,000 features, in memory", fmt.Sprintf("The list is %s.", megabytes(size)), b.race(runners...), nil}
	r.atMost(10, r.Figures[1], r.Figures[0], "The hook reads every byte, and digests every feature.")
	return r
}

// rules returns the rules of a loop with one more limit.
func rules(limit string) string {
	return fmt.Sprintf(`"limits": {"max_iterations": %d, %s}`, maxLoop, limit)
}

// talkTokens are the tokens that the end of each transcript tells of.
const talkTokens = 123_456

// transcripts returns a runner for each size of a transcript, in bytes. It is an error if the hook did not look at
// one: its record must have the tokens, which it can learn nowhere else.
func (b *bench) transcripts(sizes ...int) (runners []runner) {
	for _, size := range sizes {
		path := filepath.Join(b.memory, fmt.Sprintf("transcript-%d.jsonl", size))
		writeTranscript(path, size)
		o := options{features: 10, rules: rules(`"context_tokens": 150000`), transcript: path}
		hook, looked := b.same(o, b.hook)[1], false
		for path, text := range hook.stages[0].written() {
			looked = looked || filepath.Base(path) == "state.json" &&
				strings.Contains(string(text), fmt.Sprintf(`"context": %d`, talkTokens))
		}
		if !looked {
			check(fmt.Errorf("the hook did not look at %s", path))
		}
		hook.name = "a transcript of " + sizeNames[size]
		runners = append(runners, hook)
	}
	return runners
}

// writeTranscript writes a transcript of that size: a hole, and at the end at most 1 MB of what Claude Code writes.
func writeTranscript(path string, size int) {
	recorded := must(os.ReadFile("internal/client/testdata/transcripts/tools.jsonl"))
	text := strings.Repeat(string(recorded), (1<<20)/len(recorded)+1) + fmt.Sprintf(
		`{"type":"assistant","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","model":"m",`+
			`"content":[{"type":"text","text":"done"}],"usage":{"input_tokens":%d,"output_tokens":6}}}`+"\n",
		talkTokens-6)
	end := min(size, 1<<20)
	f := must(os.Create(path))
	defer f.Close()
	must(f.WriteAt([]byte("\n"+text[len(text)-end+1:]), int64(size-end)))
}
