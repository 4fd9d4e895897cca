//go:build faults && linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run/runtest"
)

// survived goes on with a run, without faults, until its loop is complete, and checks every invariant.
func (t *runTrial) survived(r result) error {
	after, err := t.goesOn(r)
	if err == nil {
		said := r.stdout + r.stderr + after
		// What lacks something is named.
		err = t.holds(!strings.Contains(said, "warning: "))
		if !strings.Contains(said, "progress.txt: input/output error") {
			err = errors.Join(err, t.showsRecord())
		}
		if errors.Is(err, runtest.ErrCost) && strings.Contains(said, "cannot save") {
			err = nil
		}
	}
	if settled := t.settle(); err == nil {
		err = settled
	}
	if err != nil {
		err = fmt.Errorf("%w\n--- it said:\n%s%s--- and then:\n%s", err, r.stdout, r.stderr, after)
	}
	return err
}

// goesOn does what a person does who sees that a run has ended too early, and returns what was printed.
func (t *runTrial) goesOn(r result) (said string, err error) {
	if err := t.waitAbandoned(); err != nil {
		return "", err
	}
	for range 8 {
		state, err := t.record()
		if err != nil || state.Status == "COMPLETE" && t.over() {
			if strings.Contains(r.stdout+r.stderr+said, "--send-due") {
				err = errors.Join(err, t.hook("status", "--send-due"))
			}
			return said, err
		}
		args := append([]string{"--resume"}, t.more...)
		if t.args[0] == "--resume" || !t.known() { // it was killed before it had a record
			args = t.args
		}
		if state.Schema > 0 && state.Status != "IN_PROGRESS" && state.Status != "COMPLETE" &&
			(state.Status != "REACHED_LIMIT" || t.more == nil) {
			// A run's own resume would work on it.
			if err := t.hook("resume", loopName); err != nil {
				return said, err
			}
		}
		again, err := t.execute("", args...)
		said += again.stdout + again.stderr
		if err != nil {
			return said, err
		}
	}
	return said, errors.New("it does not get COMPLETE")
}

// hook is a person who types a command of ralph-stop-hook.
func (w *world) hook(args ...string) error {
	hook, err := get("product")
	if err != nil {
		return err
	}
	other := *w
	other.program = hook
	other.wrap = nil
	_, err = other.execute("", args...)
	return err
}

// runRecord returns the path of the run's record.
func (w *world) runRecord() string {
	for _, dir := range w.recordDirs() {
		return filepath.Join(dir, "run.json")
	}
	return ""
}

func (w *world) hasRun() bool {
	_, err := os.Stat(w.runRecord())
	return err == nil
}

// known reports whether the run that was tried has a record.
func (t *runTrial) known() bool {
	last, err := t.lastRun()
	return err == nil && last.ID != t.earlier
}

// over reports whether the run has closed its record.
func (w *world) over() bool {
	r, err := w.lastRun()
	return err == nil && !r.EndedAt.IsZero()
}

// oneRun is what a test looks at of run.json.
type oneRun struct {
	ID, Status           string
	Sessions, Iterations int
	EndedAt              time.Time
}

func (w *world) lastRun() (r oneRun, err error) {
	data, err := os.ReadFile(w.runRecord())
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

// showsRecord checks that the header of progress.txt says what the record says.
func (w *world) showsRecord() error {
	state, err := w.record()
	if err != nil {
		return err
	}
	return w.shown(state)
}

// holds checks every other invariant of a loop that runs have completed. whole says that iterations.jsonl lacks
// nothing.
func (w *world) holds(whole bool) error {
	if _, err := os.Stat(filepath.Join(w.diary(), "two")); err == nil {
		return errors.New("two agents worked at once")
	}
	if err := w.settle(); err != nil {
		return err
	}
	if list, err := os.ReadFile(w.listPath()); err != nil || len(passing(string(list))) != 3 {
		return fmt.Errorf("the list is %q, %w", list, err)
	}
	_, err := w.record()
	if err := errors.Join(err, w.sweptByNext(), w.endingsTold(), w.hooksOnce()); err != nil || !whole {
		return err
	}
	last, err := w.lastRun()
	if err != nil {
		return err
	}
	if w.sessions() > last.Sessions && !w.persons {
		return fmt.Errorf("the agent had %d sessions, and the record has %d", w.sessions(), last.Sessions)
	}
	if _, err := os.Stat(filepath.Join(w.project, ".agent-state", "summary-"+last.ID+".md")); err != nil {
		return err
	}
	return runtest.CheckFiles(w.runRecord(), filepath.Join(w.project, ".agent-state"))
}

// sweptByNext checks that the next run removes the temporary files that a killed one has left.
func (w *world) sweptByNext() error {
	left, err := w.strays()
	if err == nil && len(left) > 0 {
		err = w.waitAbandoned()
		if err == nil {
			_, err = w.execute("", loopName, "--agent", "worker") // which says that the loop is complete
		}
		if err == nil {
			left, err = w.strays()
		}
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("temporary files that nobody sweeps: %q", left)
	}
	return err
}

// endingsTold checks that each ending is told, with one id, and COMPLETE last. A run that cannot write down that it
// told tells again when it ends, and so does the run after it.
func (w *world) endingsTold() error {
	state, err := w.record()
	if err != nil {
		return err
	}
	all, err := w.told()
	times, complete := map[string]int{}, map[string]bool{}
	for _, one := range all {
		if one.ofTrouble() {
			continue
		}
		if times[one.DeliveryID]++; one.ExitReason == "all_features_pass" {
			complete[one.DeliveryID] = true
		}
	}
	switch {
	case err != nil:
		return err
	case len(times) > state.Endings || len(times) < state.Endings && !w.persons || len(state.pending()) > 0:
		return fmt.Errorf("%d endings, %d are told, and %v wait: %v", state.Endings, len(times), state.pending(), all)
	case len(complete) != 1 || all[len(all)-1].ExitReason != "all_features_pass":
		return fmt.Errorf("COMPLETE is not told as the one ending at last: %v", all)
	}
	for id, n := range times {
		if n > 3 {
			return fmt.Errorf("%s is told %d times: %v", id, n, all)
		}
	}
	return nil
}

// hooksOnce checks that no iteration had its hooks twice.
func (w *world) hooksOnce() error {
	data, err := os.ReadFile(filepath.Join(w.diary(), "after"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	seen := map[int]bool{}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var one struct{ Iteration int }
		if err := d.Decode(&one); err != nil {
			return fmt.Errorf("a torn payload: %w: %q", err, data)
		}
		if seen[one.Iteration] {
			return fmt.Errorf("iteration %d had its hooks twice: %s", one.Iteration, data)
		}
		seen[one.Iteration] = true
	}
	return nil
}
