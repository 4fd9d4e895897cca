//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// loopInBash is the loop that people write, until no feature is open.
const loopInBash = `while grep -q '"passes": false' "$1"; do "$0" "$1" < "$2"; done`

// The names of what works a list: alone is the agent's own time, to which the programs that start it are compared.
const (
	alone  = "the agent alone"
	ours   = "ralph-runner"
	inBash = "a loop in bash"
	withJq = "a loop in bash with jq"
)

// outer measures what an iteration costs beyond the agent's own time.
func outer(b *bench) row {
	const features = 10
	r := row{Title: "A run of 10 features, on disk"}
	r.Figures = b.race(b.outerLoops(options{features: features, onDisk: true}, alone, ours, inBash, withJq)...)
	more := (r.Figures[1].Median - r.Figures[0].Median) / features
	r.Text = "Each iteration starts the agent. ralph-runner also flushes two records and starts a guard. The loop in " +
		"bash does neither; [the one with jq](../../bench/rivals/loop.sh) selects the next feature, builds its " +
		"prompt, keeps the output, and adds up the cost."
	r.Bars = append(r.Bars, bar{"≤ 25 ms an iteration more than the agent", ms(more), more <= 25*time.Millisecond,
		"A session that begins or ends is flushed to the disk before anything else happens."})
	return r
}

// outerLoops returns those of the names that work a list, each with a list of its own.
func (b *bench) outerLoops(o options, names ...string) (runners []runner) {
	prompt := filepath.Join(b.memory, "PROMPT.md")
	check(os.WriteFile(prompt, []byte("Do the next open feature of feature_list.json.\n"), 0o644))
	o.run = true
	for _, name := range names {
		s := b.newStage(o)
		list := must(filepath.Rel(s.project, s.list())) // several stages have one command line
		argv := map[string][]string{
			alone:  {b.agent, list, "-times", fmt.Sprint(s.openAtFirst()), prompt},
			ours:   {b.runner.argv[0], "--agent", "instant"},
			inBash: {b.bash.argv[0], "-c", loopInBash, b.agent, list, prompt},
			withJq: {b.bash.argv[0], b.loop, b.agent, list, fmt.Sprint(maxLoop)},
		}[name]
		s.agent("instant", b.agent, s.list())
		s.saved = s.written()
		runners = append(runners, runner{program: program{name, argv}, stages: []*stage{s}, left: allPass})
	}
	return runners
}

// allPass is an error unless every feature passes, and those that can say so say that the loop is complete.
func allPass(r runner, s *stage) error {
	if open := bytes.Count(must(os.ReadFile(s.list())), []byte(`"passes": false`)); open > 0 {
		return fmt.Errorf("%w: %s left %d features open", errDiffers, r.name, open)
	}
	want, _, _ := strings.Cut(r.name, " that ")
	want = map[string]string{
		ours: fmt.Sprintf("COMPLETE: %s: %d of %[2]d features claimed, none checked, after %d iteration", loopName,
			s.features, s.openAtFirst()),
		withJq: fmt.Sprintf("COMPLETE after %d iteration", s.openAtFirst()),
	}[want]
	if said := must(os.ReadFile(s.answer)); !bytes.Contains(said, []byte(want)) {
		return fmt.Errorf("%w: %s: %s, want %s", errDiffers, r.name, said, want)
	}
	return nil
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
	return row{"The start of a program", "Each program prints its version.", b.race(runners...), nil}
}

// runControls has the check of a run find a program that does nothing, and one that leaves the loop behind.
func (b *bench) runControls() {
	runners := b.outerLoops(options{features: 2, onDisk: true}, alone)
	idle, behind := runners[0], runners[0]
	idle.program = program{"a program that does nothing", b.floor.argv}
	behind.name = "ralph-runner that works past the loop"
	for _, r := range []runner{idle, behind} {
		if _, err := r.once(); err == nil {
			check(fmt.Errorf("the control was not found out: %s", r.name))
		}
	}
}
