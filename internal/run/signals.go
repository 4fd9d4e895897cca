package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The signals with which a session says that all is done. Each is only a claim.
const (
	Marker   = "marker"    // a line of the final answer says so; decide.Said reads it
	ExitCode = "exit_code" // the agent ended with status 0
	File     = "file"      // a file exists: "file:PATH"
)

// CheckSignal refuses an unknown signal.
func CheckSignal(name string) error {
	path, isFile := strings.CutPrefix(name, File+":")
	switch {
	case name == Marker, name == ExitCode, isFile && filepath.IsLocal(path):
		return nil
	case isFile:
		return fmt.Errorf("the signal %q; want file: and a path below the project's root", plain.Line(name, 100))
	}
	return fmt.Errorf("unknown signal %q; there are %s, %s and %s:PATH", plain.Line(name, 100), Marker, ExitCode, File)
}

// pattern is a line of a person's own with which the agent says that all is done.
type pattern []decide.Promise

// CheckPattern refuses what is no regular expression.
func CheckPattern(text string) error {
	_, err := compile(text)
	return err
}

func compile(text string) (pattern, error) {
	if text == "" {
		return nil, nil
	}
	if _, err := regexp.Compile(text); err != nil { // "a)|(b" would be one between the brackets below
		return nil, fmt.Errorf("--pattern is no regular expression: %w", err)
	}
	re, err := regexp.Compile("^(?:" + text + ")$")
	if err == nil && re.MatchString("") {
		return nil, errors.New("--pattern matches an empty line, so a session that says nothing would claim that all is done")
	}
	return pattern{{Status: decide.Complete, Pattern: re}}, err
}

func (r *Run) compile() (err error) {
	r.pattern, err = compile(r.Record.Options.Pattern)
	return err
}

// signals returns the signals that a session gave, and whether one of them claims that all is done. The loop itself
// reads the marker.
func (r *Run) signals(e agent.Ended) (names []string, claimed bool) {
	on := r.Record.Options.CompleteOn
	leg := r.Record.Leg()
	if leg != nil && len(leg.CompleteOn) > 0 {
		on = leg.CompleteOn
	}
	if len(on) == 0 && (leg == nil || leg.Loop || len(leg.Checks) > 0) {
		on = []string{ExitCode} // counts only in a loop without a list that has checks, and in a leg that has some
	}
	names = []string{}
	if status, _ := decide.Said(e.Message, r.pattern); status == decide.Complete {
		names = append(names, Marker)
	}
	if slices.Contains(on, ExitCode) && e.Class == agent.Done && e.ExitCode == 0 {
		names, claimed = append(names, ExitCode), true
	}
	for _, name := range on {
		if path, is := strings.CutPrefix(name, File+":"); is && r.exists(path) {
			names, claimed = append(names, name), true
		}
	}
	if e.Class == agent.TimedOut {
		names = append(names, "timeout")
	}
	return names, claimed
}

// promised reports whether a final answer ends with a line that the person's own pattern matches.
func (r *Run) promised(message string) bool {
	status, _ := decide.Said(message, r.pattern)
	builtIn, _ := decide.Said(message, nil)
	return status == decide.Complete && builtIn == ""
}

// exists reports whether the project has a file. It follows no link out of the project.
func (r *Run) exists(path string) bool {
	root, err := os.OpenRoot(r.At.Project)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(path)
	return err == nil && info.Mode()&fs.ModeType == 0
}
