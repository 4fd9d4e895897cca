//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// answer is what a stop comes to: what the hook prints, and progress.txt after it.
type answer struct {
	Decision, Feature                string
	Iteration, Max, Passed, Features int
	Progress                         string
}

var inPrompt = regexp.MustCompile(`(?s)^Ralph loop "` + loopName + `", iteration (\d+) of (\d+)\.\n` +
	`(\d+) of (\d+) features pass\.\n.*\n  id: (\S+)\n  title: .+\n  description: .+\n` +
	`.*<promise>BLOCKED: reason</promise>\n$`)

// errDiffers is why a run does not count: the stop was answered in another way than it must be.
var errDiffers = errors.New("the answers differ")

// said returns the answer of the stop that was played last. Where nothing was printed, it is nothing but progress.txt.
func (s *stage) said() (a answer) {
	progress, err := os.ReadFile(filepath.Join(s.loop, "progress.txt"))
	if !errors.Is(err, fs.ErrNotExist) {
		check(err)
	}
	a.Progress = string(progress)
	text := must(os.ReadFile(s.answer))
	if len(text) == 0 {
		return a
	}
	var said struct {
		Decision, Reason   string
		HookSpecificOutput struct{ AdditionalContext string }
	}
	check(json.Unmarshal(text, &said))
	if prompt := said.HookSpecificOutput.AdditionalContext; prompt != "" { // as good as a block
		said.Decision, said.Reason = "block", prompt
	}
	found := inPrompt.FindStringSubmatch(said.Reason)
	if found == nil {
		check(fmt.Errorf("this is not the prompt of a next feature: %q", text))
	}
	a.Decision, a.Feature = said.Decision, found[5]
	for i, number := range []*int{&a.Iteration, &a.Max, &a.Passed, &a.Features} {
		*number = must(strconv.Atoi(found[i+1]))
	}
	return a
}

// ready saves the stage and plays the stop that is measured there. The runner wants the answer to that, which must be
// the prompt of a next feature.
func (s *stage) ready(p program) runner {
	s.saved = s.written()
	must(play(p.argv, s))
	a := s.said()
	if a.Decision != "block" {
		check(fmt.Errorf("%s does not block: %#v", p.name, a))
	}
	return runner{program: p, stages: []*stage{s}, want: &a}
}

// same makes a stage for each hook, plays its first stop there, and lets a feature pass: the next stop is what is
// measured. The answers of all hooks to it must be the same. The first runner returned is the floor.
func (b *bench) same(o options, hooks ...program) []runner {
	runners := []runner{{program: b.floor}}
	for _, p := range hooks {
		s := b.newStage(o)
		must(play(p.argv, s))
		s.pass(true)
		r := s.ready(p)
		runners = append(runners, r)
		if first := runners[1]; *r.want != *first.want {
			check(fmt.Errorf("%w: %s\n%#v, %s\n%#v", errDiffers, first.name, *first.want, r.name, *r.want))
		}
	}
	runners[0].stages = []*stage{runners[1].stages[0]}
	return runners
}

// controls plays stops that are wrong, each in one way, and one that is right. It is an error if a runner takes one
// for the other.
func (b *bench) controls() {
	bash := b.same(options{features: 10}, b.hook, b.bash, b.node)[2]
	silent, s := bash, bash.stages[0]
	silent.program = b.floor
	right, back, wrong := s.saved, regexp.MustCompile(`(?m)("iteration":|^Iteration: )\d+`), map[string][]byte{}
	for path, data := range right {
		wrong[path] = back.ReplaceAll(data, []byte("${1}1"))
	}
	for _, control := range []struct {
		what   string
		hook   runner
		saved  map[string][]byte
		passes bool
		want   error
	}{
		{"says nothing", silent, right, true, errDiffers},
		{"lost count", bash, wrong, true, errDiffers},
		{"has another list", bash, right, false, errDiffers},
		{"is right", bash, right, true, nil},
	} {
		s.saved = control.saved
		s.pass(control.passes)
		if _, err := control.hook.once(); !errors.Is(err, control.want) {
			check(fmt.Errorf("the control that %s: %w", control.what, errors.Join(err, control.want)))
		}
	}
}
