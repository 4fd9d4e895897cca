package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

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

// signals returns the signals that a session gave, and whether one of them claims that all is done. The loop itself
// reads the marker.
func (r *Run) signals(e agent.Result) (names []string, claimed bool) {
	names = []string{}
	if e.Class.Breaks() {
		return names, false
	}
	on := r.Record.Options.CompleteOn
	step := r.Record.Step()
	if step != nil && len(step.CompleteOn) > 0 {
		on = step.CompleteOn
	}
	if len(on) == 0 && (step == nil || step.Loop || len(step.Checks) > 0) {
		on = []string{record.ExitCode} // counts only in a loop without a list that has checks, and in a step that has some
	}
	if status, _ := decide.ReadPromise(e.Message, r.pattern); status == decide.Complete {
		names = append(names, record.Marker)
	}
	if slices.Contains(on, record.ExitCode) && e.ExitCode == 0 {
		names, claimed = append(names, record.ExitCode), true
	}
	for _, name := range on {
		if path, is := strings.CutPrefix(name, record.File+":"); is && r.isWritten(path) {
			names, claimed = append(names, name), true
		}
	}
	return names, claimed
}

// hasPromise reports whether a final answer ends with a line that the person's own pattern matches.
func (r *Run) hasPromise(message string) bool {
	status, _ := decide.ReadPromise(message, r.pattern)
	builtIn, _ := decide.ReadPromise(message, nil)
	return status == decide.Complete && builtIn == ""
}

// noteFiles notes which of the files that are signals are there before the first session, for the run and for one that
// goes on from it, and anew after a session that broke off. A file of an earlier run, or of such a session, would claim
// what nobody has done.
func (r *Run) noteFiles(anew bool) {
	names := r.Record.Options.CompleteOn
	if r.Record.Chain != nil {
		for _, step := range r.Record.Chain.Steps {
			names = slices.Concat(names, step.CompleteOn)
		}
	}
	for _, name := range names {
		path, is := strings.CutPrefix(name, record.File+":")
		if !is {
			continue
		}
		was, known := r.Record.Found[path]
		now := r.stamp(path)
		if known && (!anew || now == was) {
			continue
		}
		if r.Record.Found == nil {
			r.Record.Found = map[string]string{}
		}
		r.Record.Found[path] = now
		if now != "" {
			r.Screen.Warn(fmt.Sprintf("the file %s is there already, so it counts as a signal when it is written anew",
				plain.Line(path, 200)))
		}
	}
}

// isWritten reports whether a file was written since noteFiles looked at it.
func (r *Run) isWritten(path string) bool {
	now := r.stamp(path)
	return now != "" && now != r.Record.Found[path]
}

// stamp returns what differs when a file of the project is written anew, "" if there is none. It follows no link out of
// the project.
func (r *Run) stamp(path string) string {
	root, err := os.OpenRoot(r.At.Project)
	if err != nil {
		return ""
	}
	defer root.Close()
	info, err := root.Stat(path)
	if err != nil || info.Mode()&fs.ModeType != 0 {
		return ""
	}
	return fmt.Sprintf("%d bytes of %s", info.Size(), info.ModTime().UTC().Format(time.RFC3339Nano))
}
