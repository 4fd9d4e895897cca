//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// loopInBash is the loop that people write, until no feature is open.
const loopInBash = `while grep -q '"passes": false' "$1"; do "$0" "$1" < "$2"; done`

// alone names the agent's own time, to which the programs that start it are compared.
const alone = "the agent alone"

// outer measures what an iteration costs beyond the agent's own time.
func outer(b *bench) row {
	const features = 10
	r := row{Title: "A run of 10 features, an agent that takes no time, on disk"}
	r.Figures = b.race(b.outerLoops(features)...)
	more := (r.Figures[1].Median - r.Figures[0].Median) / features
	r.Text = fmt.Sprintf("Every iteration starts the agent as a process of its own. ralph-runner takes %s more than the "+
		"agent for each: it flushes the record of the run and that of the loop, and starts a guard, which kills the agent "+
		"with it. The loop in bash only looks whether a feature is open.", ms(more))
	r.Bars = append(r.Bars, bar{"≤ 25 ms an iteration more than " + alone, ms(more), more <= 25*time.Millisecond,
		"A session that begins or ends is flushed to the disk before anything else happens."})
	return r
}

// outerLoops returns the agent alone, ralph-runner and a loop in bash, each with a list of its own.
func (b *bench) outerLoops(features int) (runners []runner) {
	prompt := filepath.Join(b.memory, "PROMPT.md")
	check(os.WriteFile(prompt, []byte("Do the next open feature of feature_list.json.\n"), 0o644))
	for _, p := range []program{
		{alone, nil}, {"ralph-runner", []string{b.runner.argv[0], "--agent", "instant"}}, {"a loop in bash", nil},
	} {
		s := b.newStage(options{features: features, run: true, onDisk: true})
		switch p.name {
		case alone:
			p.argv = []string{b.agent, s.list(), "-times", fmt.Sprint(features), prompt}
		case "a loop in bash":
			p.argv = []string{b.bash.argv[0], "-c", loopInBash, b.agent, s.list(), prompt}
		}
		s.agent("instant", b.agent, s.list())
		s.saved = s.files()
		runners = append(runners, runner{program: p, stages: []*stage{s}, left: allPass})
	}
	return runners
}

// allPass is an error unless every feature passes. If ralph-runner ran, the loop must be COMPLETE, too.
func allPass(r runner, s *stage) error {
	if open := bytes.Count(must(os.ReadFile(s.list())), []byte(`"passes": false`)); open > 0 {
		return fmt.Errorf("%w: %s left %d features open", errDiffers, r.name, open)
	}
	want := fmt.Sprintf("COMPLETE: %s: %d of %[2]d features claimed, none checked, after %[2]d iteration", loopName,
		s.features)
	said, runs := must(os.ReadFile(s.answer)), strings.HasPrefix(r.name, "ralph-runner")
	if runs && !bytes.Contains(said, []byte(want)) {
		return fmt.Errorf("%w: %s: %s, want %s", errDiffers, r.name, said, want)
	}
	return nil
}

// stream measures one session that prints very much.
func stream(b *bench) row {
	size := b.fewer(1<<30, 1<<20)
	sample := must(filepath.Abs("internal/agent/testdata/claude/subagent.jsonl"))
	s := b.newStage(options{features: 1, run: true})
	prints := []string{b.agent, s.list(), "-print", sample, fmt.Sprint(size)}
	s.agent("talker", prints...)
	s.saved = s.files()
	stages := []*stage{s}
	piped := append([]string{b.bash.argv[0], "-c", `"$@" | "$0"`, b.floor.argv[0]}, prints...)
	ours := program{"ralph-runner", []string{b.runner.argv[0], "--agent", "talker"}}
	r := row{Title: "A session that prints 1 GB of stream-json, in memory", Figures: b.race(
		runner{program: program{"a pipe that nobody parses", piped}, stages: stages},
		runner{program: ours, stages: stages, left: allPass},
	)}
	f := r.Figures[1]
	speed := float64(size) / 1e6 / f.Median.Seconds()
	r.Text = fmt.Sprintf("ralph-runner reads every line as it comes, keeps the end of it in the session's log, and shows "+
		"what the agent does: %.0f MB a second. Its memory is the peak of the run with all that it starts.", speed)
	r.Bars = append(r.Bars, bar{"≥ 200 MB/s", fmt.Sprintf("%.0f MB/s", speed), speed >= 200,
		"Each line is checked as JSON and cut into its values, and written to the log."},
		bar{"peak memory ≤ 40 MB", megabytes(f.Peak), f.Peak <= 40e6, "The longest lines are held whole."})
	return r
}

// starts measures the shortest call of each program.
func starts(b *bench) row {
	s := b.newStage(options{})
	var runners []runner
	for _, p := range []program{
		b.floor, {"ralph-stop-hook version", []string{b.hook.argv[0], "version"}},
		{"ralph-runner version", []string{b.runner.argv[0], "version"}},
	} {
		runners = append(runners, runner{program: p, stages: []*stage{s}})
	}
	r := row{"The start of a program", "The version is all that they print.", b.race(runners...), nil}
	r.atMost(3, r.Figures[2], r.Figures[1], "ralph-runner is larger, and sets up what draws its line in a terminal.")
	return r
}

// runControls has the check of a run find a program that does nothing, one that leaves the loop behind, a server that
// ends without an answer, and one that only repeats the question.
func (b *bench) runControls() {
	runners := b.outerLoops(2)
	idle, behind := runners[0], runners[0]
	idle.program = program{"a program that does nothing", b.floor.argv}
	behind.name = "ralph-runner that works past the loop"
	for _, r := range []runner{idle, behind, b.asks(b.runner.argv[0], "version"), b.asks(must(exec.LookPath("cat")))} {
		if _, err := r.once(); err == nil {
			check(fmt.Errorf("the control was not found out: %s", r.name))
		}
	}
}
