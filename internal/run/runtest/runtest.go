// Package runtest looks at what a run has left on the disk, with its own eyes: it shares no code with what wrote it.
package runtest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// ErrCost is why a record is wrong that has another sum than the lines. A run that could not save its record when
// a session ended does not know what that session cost. It says that it could not.
var ErrCost = errors.New("the costs differ")

// CheckFiles returns what is wrong with the files of a run whose loop is complete. record is the path of its run.json,
// folder the project's folder with iterations.jsonl. Each session is in there once, each iteration counts once, and
// what they cost is the sum of the record. If the run has a chain, its steps have those iterations, too.
func CheckFiles(record, folder string) error {
	data, err := os.ReadFile(record)
	if err != nil {
		return err
	}
	run := gjson.ParseBytes(data)
	text, err := Lines(folder)
	if err != nil {
		return err
	}
	all, err := add(text, run.Get("id").Str)
	if err == nil {
		err = all.is(run)
	}
	if err == nil && run.Get("chain").Exists() {
		err = all.hasSteps(run.Get("chain.steps").Array())
	}
	if err != nil {
		return fmt.Errorf("%w:\n%s\n%s", err, text, data)
	}
	return nil
}

// Lines returns iterations.jsonl of a folder, after the file that was put aside when it became large.
func Lines(folder string) ([]byte, error) {
	before, err := os.ReadFile(filepath.Join(folder, "iterations.jsonl.1"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, "iterations.jsonl"))
	return append(before, text...), err
}

// lines is what the lines of iterations.jsonl come to.
type lines struct {
	sessions, counted, steps map[int64]int // lines by session, by iteration, and by step
	cost                     float64
	unknown                  int64
}

// add adds up the lines of the run with that id. There may be lines of earlier runs before them.
func add(text []byte, id string) (lines, error) {
	l := lines{sessions: map[int64]int{}, counted: map[int64]int{}, steps: map[int64]int{}}
	for row := range strings.Lines(string(text)) {
		if !gjson.Valid(row) {
			return l, fmt.Errorf("a torn line: %s", row)
		}
		line := gjson.Parse(row)
		if line.Get("runId").Str != id {
			if len(l.sessions) > 0 {
				return l, fmt.Errorf("a line of another run: %s", row)
			}
			continue
		}
		l.sessions[line.Get("session").Int()]++
		if line.Get("counted").Bool() {
			l.counted[line.Get("iteration").Int()]++
			l.steps[line.Get("step").Int()]++
		}
		l.cost += line.Get("costUsd").Num
		if line.Get("costUsd").Type == gjson.Null {
			l.unknown++
		}
	}
	return l, nil
}

// is compares the lines with the record of the run. Iterations are those of the loop: a run may begin after the first.
func (l lines) is(run gjson.Result) error {
	spent := run.Get("spent")
	switch {
	case !maps.Equal(l.sessions, once(1, run.Get("sessions").Int())):
		return errors.New("not each session is there once")
	case !maps.Equal(l.counted, once(least(l.counted), run.Get("iterations").Int())):
		return errors.New("not each iteration counts once")
	case run.Get("status").Str != "COMPLETE" || run.Get("endedAt").Str == "" || run.Get("current").Exists():
		return errors.New("the run is not over")
	case spent.Get("unknown").Int() != l.unknown, spent.Get("costUsd").Num < l.cost,
		l.unknown == 0 && spent.Get("costUsd").Num != l.cost: // of the others, a part may be known
		return fmt.Errorf("%w: the sessions cost %v, and of %d it is not known", ErrCost, l.cost, l.unknown)
	}
	return nil
}

// hasSteps compares the lines with the steps of a chain.
func (l lines) hasSteps(steps []gjson.Result) error {
	for i, step := range steps {
		n := int64(i + 1)
		if step.Get("status").Str != "COMPLETE" || step.Get("iterations").Int() != int64(l.steps[n]) || l.steps[n] == 0 {
			return fmt.Errorf("step %d is not over, or has not %d iterations", n, l.steps[n])
		}
	}
	return nil
}

// once has n numbers, from the first one on, each once.
func once(first, n int64) map[int64]int {
	all := map[int64]int{}
	for i := range n {
		all[first+i] = 1
	}
	return all
}

// least returns the smallest key, or 1.
func least(of map[int64]int) int64 {
	if len(of) == 0 {
		return 1
	}
	return slices.Min(slices.Collect(maps.Keys(of)))
}
