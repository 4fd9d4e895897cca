//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// answer is what a stop has come to: what was printed, and what progress.txt
// says after it.
type answer struct {
	Decision, Feature                string
	Iteration, Max, Passed, Features int
	Progress                         string
}

var inPrompt = regexp.MustCompile(`(?s)^Ralph loop "` + loopName + `", iteration (\d+) of (\d+)\.\n(\d+) of (\d+) features pass\.\n.*\n  id: (\S+)\n  title: .+\n  description: .+\n.*<promise>BLOCKED: reason</promise>\n$`)

// said returns the answer of the stop that was played last.
func (s *stage) said() (answer, error) {
	return s.read(s.answer)
}

func (s *stage) read(path string) (a answer, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return a, err
	}
	progress, err := os.ReadFile(filepath.Join(s.loop, "progress.txt"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return a, err
	}
	a.Progress = string(progress)
	if len(text) == 0 {
		return a, nil
	}
	var said struct{ Decision, Reason string }
	if err := json.Unmarshal(text, &said); err != nil {
		return a, fmt.Errorf("%q: %w", text, err)
	}
	a.Decision = said.Decision
	found := inPrompt.FindStringSubmatch(said.Reason)
	if found == nil {
		return a, fmt.Errorf("not the prompt of a next feature: %q", text)
	}
	for i, number := range []*int{&a.Iteration, &a.Max, &a.Passed, &a.Features} {
		*number, _ = strconv.Atoi(found[i+1]) // they are digits
	}
	a.Feature = found[5]
	return a, nil
}

// gives wants the last stop to have given an answer.
func (s *stage) gives(want answer) error {
	got, err := s.said()
	if err == nil && got != want {
		err = fmt.Errorf("answered\n%#v, want\n%#v", got, want)
	}
	return err
}

// prime plays a hook's first stop on a stage and lets a feature pass after it:
// the next stop is what is measured. It returns what that answers.
func (s *stage) prime(c contestant) (a answer, err error) {
	for _, step := range []func() error{
		func() error { _, err := s.run(c.argv); return err },
		s.pass, s.save,
		func() error { _, err := s.run(c.argv); return err },
	} {
		if err := step(); err != nil {
			return a, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if a, err = s.said(); err == nil && a.Decision != "block" {
		err = fmt.Errorf("%s did not block: %#v", c.name, a)
	}
	return a, err
}

// same makes a stage for each of the hooks and wants the same answer of all.
func (b *bench) same(o options, hooks ...contestant) (runners []runner, stages []*stage, err error) {
	var want answer
	for i, c := range hooks {
		s, err := b.newStage(o)
		if err != nil {
			return nil, nil, err
		}
		got, err := s.prime(c)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			want = got
		} else if got != want {
			return nil, nil, fmt.Errorf("%s answers\n%#v, %s\n%#v", hooks[0].name, want, c.name, got)
		}
		runners, stages = append(runners, s.play(b, c, want)), append(stages, s)
	}
	return runners, stages, nil
}

// controls are answers that are wrong, each in one way, and have to be seen: of
// a program that says nothing, of a rival that has another list, and of one whose
// header has been set back.
func (b *bench) controls() error {
	_, stages, err := b.same(options{features: 10}, b.hook, b.bash, b.node)
	if err != nil {
		return err
	}
	want, err := stages[0].said()
	if err != nil {
		return err
	}
	bash, silent := stages[1], contestant{"floor", []string{b.floor}}
	for _, control := range []struct {
		what  string
		hook  contestant
		spoil func() error
	}{
		{"says nothing", silent, func() error { return nil }},
		{"lost count", b.bash, func() error {
			back := regexp.MustCompile(`(?m)("iteration":|^Iteration: )\d+`)
			for path, was := range bash.saved {
				was.data = back.ReplaceAll(was.data, []byte("${1}1"))
				if err := os.WriteFile(path, was.data, was.mode); err != nil {
					return err
				}
			}
			return nil
		}},
		{"has another list", b.bash, bash.pass},
	} {
		err := bash.restore()
		if err == nil {
			err = control.spoil()
		}
		if err == nil {
			_, err = bash.run(control.hook.argv)
		}
		if err != nil {
			return fmt.Errorf("the control that %s: %w", control.what, err)
		}
		if bash.gives(want) == nil {
			return fmt.Errorf("the control that %s was taken for the same answer", control.what)
		}
	}
	return nil
}
