//go:build linux

package main

import (
	"bytes"
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
var rows = []func(*bench) row{
	idle, changed, onDisk, unchanged, large, huge, longTranscript, longLoop, reopened, outer, stream, starts, tools,
	views, taken, claims, longLanes,
}

// times returns how many times as long f took as of.
func times(f, of figure) float64 { return float64(f.Median) / float64(of.Median) }

// atMost adds a bar on the ratio of two figures.
func (r *row) atMost(most float64, f, of figure, why string) {
	got := times(f, of)
	r.Bars = append(r.Bars, bar{fmt.Sprintf("≤ %g × %s", most, of.Name), fmt.Sprintf("%.2f ×", got), got <= most, why})
}

// theSame adds a bar on two figures that must not differ by more than a tenth.
func (r *row) theSame(f, as figure, why string) {
	got := times(f, as)
	want := fmt.Sprintf("the same as %s, within a tenth", as.Name)
	r.Bars = append(r.Bars, bar{want, fmt.Sprintf("%.2f ×", got), math.Abs(got-1) <= 0.1, why})
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
	r := row{"No loop in the project", "Every stop of every other session costs this much.", b.race(runners...), nil}
	r.atMost(1.4, r.Figures[1], r.Figures[0], "Most of the time above the floor is the start of a larger "+
		"program: Go sets up each linked package, and the system loads more of the file.")
	return r
}

func changed(b *bench) row {
	again := program{"ralph-stop-hook, again", b.hook.argv}
	r := row{Title: "Continue, 10 features, the list changed since the last stop, in memory"}
	r.Figures = b.race(b.same(options{features: 10}, b.hook, b.bash, b.node, again)...)
	b.noise = 100 * math.Abs(times(r.Figures[4], r.Figures[1])-1)
	r.Text = fmt.Sprintf("This is the common stop of a loop. The hook runs here under two names. The two medians "+
		"differ by %.1f %%: this much is noise.", b.noise)
	r.atMost(2, r.Figures[1], r.Figures[0], "Beside its start, a stop takes a lock, reads the files of the "+
		"loop, replaces two of them and adds to two logs.")
	return r
}

func onDisk(b *bench) row {
	runners := b.same(options{features: 10, onDisk: true}, b.hook, b.bash, b.node)
	return row{"The same on disk",
		"The hook flushes two files and their folders to the disk. The rivals flush nothing.",
		b.race(runners...), nil}
}

func unchanged(b *bench) row {
	s := b.newStage(options{features: 10, rules: rules(`"stagnation": 1000`)})
	for n := range 200 {
		text := fmt.Appendf(nil, "package files\n\nconst number%d = %[1]d\n", n)
		check(os.WriteFile(filepath.Join(s.project, fmt.Sprintf("file%d.go", n)), text, 0o644))
	}
	s.command("/bin/sh", "-c", "git add . && git -c user.name=a -c user.email=a@localhost commit -qm files")
	for range 2 { // the second stop is the first one that finds the list as it was
		must(play(b.hook.argv, s))
	}
	hook := s.ready(b.hook)
	return row{"Nothing changed, in a git repository of 200 files, in memory",
		"When the list did not change, the hook " +
			"asks git whether the work tree did. The rivals never ask.",
		b.race(runner{program: b.floor, stages: hook.stages}, hook), nil}
}

// whyList is why a stop takes time for each feature.
const whyList = "The hook checks every byte of the list, compares the ids and digests every feature's state."

func large(b *bench) row {
	runners := b.same(options{features: b.fewer(6000, 600)}, b.hook, b.bash, b.node)
	r := row{"6,000 features, in memory", runners[1].size(), b.race(runners...), nil}
	r.atMost(5, r.Figures[1], r.Figures[0], whyList)
	return r
}

func huge(b *bench) row {
	runners := b.same(options{features: b.fewer(100_000, 1000)}, b.hook, b.node)
	grep, list := runners[0], runners[1].stages[0].list()
	grep.program = program{b.grep.name, append(slices.Clone(b.grep.argv), list)}
	r := row{"100,000 features, in memory", runners[1].size() +
		" grep only counts the lines of the features that pass.",
		b.race(append(runners, grep)...), nil}
	r.atMost(5, r.Figures[1], r.Figures[3], whyList)
	got := float64(r.Figures[1].Peak) / float64(must(os.Stat(list)).Size())
	r.Bars = append(r.Bars, bar{"peak memory ≤ 3 × the list", fmt.Sprintf("%.2f ×", got), got <= 3,
		"The hook holds the whole list and a record of each feature."})
	return r
}

// size says how long a runner's list is.
func (r runner) size() string {
	return fmt.Sprintf("The list has %s.", megabytes(must(os.Stat(r.stages[0].list())).Size()))
}

// rules returns the rules of a loop with one more limit.
func rules(limit string) string {
	return fmt.Sprintf(`"limits": {"max_iterations": %d, %s}`, maxLoop, limit)
}

func longTranscript(b *bench) row {
	r := row{"A transcript of 1 GB", "A limit on tokens makes the hook look at the transcript at each stop. Both " +
		"transcripts end with the same text. Before it, the larger one is a hole in the file.",
		b.race(b.transcripts(1<<20, 1<<30)...), nil}
	r.theSame(r.Figures[1], r.Figures[0], "The hook reads only the last 256 KB, so the size alone is no reason.")
	return r
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
		for path, text := range hook.stages[0].files() {
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
	recorded := must(os.ReadFile("internal/claude/testdata/transcripts/tools.jsonl"))
	text := strings.Repeat(string(recorded), (1<<20)/len(recorded)+1) + fmt.Sprintf(
		`{"type":"assistant","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","model":"m",`+
			`"content":[{"type":"text","text":"done"}],"usage":{"input_tokens":%d,"output_tokens":6}}}`+"\n",
		talkTokens-6)
	end := min(size, 1<<20)
	f := must(os.Create(path))
	defer f.Close()
	must(f.WriteAt([]byte("\n"+text[len(text)-end+1:]), int64(size-end)))
}

func longLoop(b *bench) row {
	many := b.fewer(10_000, 100)
	r := row{"Iteration " + number(many),
		"All iterations before it were played, so that the logs are as long as they " +
			"get. It is compared with the fourth, because the first ones also create the record.",
		b.race(b.climb(4), b.climb(many)), nil}
	r.theSame(r.Figures[1], r.Figures[0], "Record and logs are bounded, so the count of iterations alone is no reason.")
	return r
}

// climb plays one stop after another on a stage, and returns a runner for the given iteration, which must be even:
// the list is then the same each time.
func (b *bench) climb(iteration int) runner {
	s := b.newStage(options{features: 10})
	for n := 2; n < iteration; n++ { // the prompt began the first
		s.pass(n%2 == 0)
		must(play(b.hook.argv, s))
	}
	s.pass(true)
	r := s.ready(b.hook)
	if r.want.Iteration != iteration {
		check(fmt.Errorf("this is not iteration %d: %#v", iteration, *r.want))
	}
	r.name = "iteration " + number(iteration)
	return r
}

func reopened(b *bench) row {
	var runners []runner
	for _, n := range []int{b.fewer(10_000, 50), b.fewer(20_000, 100)} {
		failing := `, "checks": [{"file_exists": "missing", "when": "feature"}]`
		s := b.newStage(options{features: n, claimed: true, rules: rules(`"stagnation": 0`) + failing})
		hook := s.ready(b.hook)
		open := bytes.Count(must(os.ReadFile(s.list())), []byte(`"passes": false`))
		if hook.want.Passed != 0 || hook.want.Features != n || open != n {
			check(fmt.Errorf("the hook opened %d features of %d: %#v", open, n, *hook.want))
		}
		hook.name = number(n) + " features"
		runners = append(runners, hook)
	}
	r := row{"Reopen 20,000 features, in memory",
		"Every feature is claimed, and the check of each one fails. The stop " +
			"opens all of them again.", b.race(runners...), nil}
	r.atMost(3, r.Figures[1], r.Figures[0],
		"The time grew by more than the number of features did, so the work for one "+
			"feature grows with the list.")
	return r
}
