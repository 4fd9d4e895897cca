package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// SessionLine is a line of iterations.jsonl: a session that has ended.
type SessionLine = line

// Sessions returns the sessions of a run that iterations.jsonl still has, the first one first. An agent can write that
// file, so the texts are cleaned, and nothing else is known of them.
func Sessions(project, id string) (all []SessionLine) {
	root, err := openFiles(project)
	if err != nil {
		return nil
	}
	defer root.Close()
	for _, name := range []string{iterations + ".1", iterations} {
		for text := range bytes.Lines(loopdir.LogTail(root, name, maxLines)) {
			var l line
			if json.Unmarshal(text, &l) == nil && l.RunID == id {
				all = append(all, l.clean())
			}
		}
	}
	return all
}

// maxLines is how many bytes of a file with lines are read.
const maxLines = 8 << 20

func (l line) clean() line {
	l.Agent, l.Model, l.Feature = plain.Line(l.Agent, 80), plain.Line(l.Model, 80), plain.Line(l.Feature, 80)
	l.Outcome, l.Problem, l.Why = plain.Line(l.Outcome, 40), plain.Line(l.Problem, 300), plain.Line(l.Why, 200)
	for i := range l.Signals {
		l.Signals[i] = plain.Line(l.Signals[i], 80)
	}
	for i, c := range l.Checks {
		l.Checks[i].Name, l.Checks[i].Feature = plain.Line(c.Name, 80), plain.Line(c.Feature, 80)
	}
	return l
}

// SessionLog returns the end of what a session of a run has printed, nil if there is nothing.
func SessionLog(project, id string, session int, most int64) []byte {
	root, err := openFiles(project)
	if err != nil {
		return nil
	}
	defer root.Close()
	return loopdir.LogTail(root, filepath.Join("logs", id, fmt.Sprintf("%d.log", session)), most)
}

// openFiles opens the folder of runs in a project. It follows no link out of the project.
func openFiles(project string) (*os.Root, error) {
	top, err := os.OpenRoot(project)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	return top.OpenRoot(Folder)
}

// Escape keeps foreign text from being Markdown or HTML.
func Escape(text string) string { return escape(text) }

// WriteFile writes a file of a run for people, and returns its path.
func WriteFile(project, name string, text []byte) (path string, err error) {
	f, err := openFolder(project, "")
	if err != nil {
		return "", err
	}
	defer f.close()
	if f.trouble != nil {
		return "", f.trouble
	}
	return filepath.Join(project, Folder, name), loopdir.Replace(f.root, name, text, 0o644)
}
