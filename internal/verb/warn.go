package verb

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/locked"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// maxOpen bounds how many files that are not locked are shown.
const maxOpen = 30

// Warnings says how an agent could pass the checks of a configuration without the work, as far as that is cheap to
// see. f is what is locked.
func Warnings(l *loop.Loop, c config.Config, f *locked.Finder) (lines []string) {
	for _, key := range slices.Compact(slices.Sorted(slices.Values(f.Missing))) {
		lines = append(lines, fmt.Sprintf("%s does not exist yet: write it and run '%s', "+
			"or name it in \"not_held\" if the agent should write it", plain.Line(key, 300), l.Call("trust")))
	}
	var open []string
	for _, check := range c.Checks {
		if !check.Runs() || c.Room && len(c.Work) > 0 { // there the agent's files are nowhere but in "work"
			continue
		}
		wild := func(w config.Word) bool { return strings.Contains(w.Text, "*") }
		if len(c.Protect) > 0 && !c.ProtectNew && slices.ContainsFunc(check.Command.Words(), wild) {
			lines = append(lines, fmt.Sprintf("%s also takes files that the agent adds: \"protect_new\" would refuse them",
				plain.Line(check.Command.String(), 200)))
		}
		text := plain.Line(check.Command.String(), 200)
		if len(c.Protect) == 0 && tests(l, check.Command, f) && !slices.Contains(open, text) {
			open = append(open, text)
		}
	}
	believed := f.Believed
	if c.Room { // there no file may appear in their place
		believed = nil
		lines = append(lines, ofRoom(l, c, f)...)
	}
	for _, target := range believed {
		name := plain.Line(target.Name, 80)
		lines = append(lines, fmt.Sprintf("a file named %s would keep make from running %s: add '.PHONY: %s' to %s",
			name, name, name, plain.Line(target.Makefile, 200)))
	}
	if len(open) > 0 {
		lines = append(lines, fmt.Sprintf("no test is locked for %s: the agent can edit the tests; name them in \"protect\"",
			plain.Line(strings.Join(open, ", "), 600)))
	}
	if len(believed)+len(open) > 0 && !c.Room {
		lines = append(lines, `"room" and "work" in ralph.json prevent that: checks then see only what you trusted, `+
			"and the agent's own work")
	}
	for _, text := range f.Open[:min(len(f.Open), maxOpen)] {
		lines = append(lines, "not locked: "+text)
	}
	if more := len(f.Open) - maxOpen; more > 0 {
		lines = append(lines, fmt.Sprintf("not locked: %d more", more))
	}
	return lines
}

// ofRoom says what "work" lets an agent do, or keeps it from doing, that a person may not expect.
func ofRoom(l *loop.Loop, c config.Config, f *locked.Finder) (lines []string) {
	of := l.WorkFiles(c)
	say := func(files []string, format string) {
		if len(files) > 0 {
			lines = append(lines, fmt.Sprintf(format, decide.Names(files)))
		}
	}
	say(of.Tests, `"work" lets the agent edit tests: %s; name them in "protect"`)
	say(of.Builds, `"work" lets the agent edit what decides what a check does: %s`)
	say(of.Unused, `no file matches "work" %s yet`)
	say(of.Locks, `no new dependency can count that also changes %s: name that in "work", too`)
	var kept []string
	for _, key := range slices.Sorted(maps.Keys(f.Sums)) {
		if len(c.Work) > 0 && f.Sums[key] != "" && locked.File(key) == key && c.Grants(key) {
			kept = append(kept, key)
		}
	}
	say(kept, `"work" has %s, but a check names or uses it, so it is locked and no change of it counts; if the agent `+
		`is to edit it, name it in "not_held"`)
	for _, target := range f.Unnamed[:min(len(f.Unnamed), maxOpen)] {
		lines = append(lines, fmt.Sprintf("%s includes %s, which only make knows: if a file of \"work\" is among that, it "+
			"decides what make does; name the files there", plain.Line(target.Makefile, 200), plain.Line(target.Name, 80)))
	}
	for _, target := range f.NotPhony[:min(len(f.NotPhony), maxOpen)] {
		name := plain.Line(target.Name, 80)
		lines = append(lines, fmt.Sprintf("no new file or folder named %s counts: make would take its target for done; "+
			"if it should, add '.PHONY: %s' to %s", name, name, plain.Line(target.Makefile, 200)))
	}
	return lines
}

// tests reports whether a command runs something, and no file that it names is locked.
func tests(l *loop.Loop, c config.Command, f *locked.Finder) bool {
	runs := slices.ContainsFunc(c.Words(), func(w config.Word) bool { return !w.Looked })
	isThere := func(key string) bool { return f.Sums[key] != "" }
	return runs && !slices.ContainsFunc(locked.Keys(l.At.Project, l.Env.Home, c, f.Sums), isThere)
}
