//go:build faults && linux

package faults

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// files are those of the project that a person would miss.
type files struct{ list, settings, current string }

func (w *world) files() files {
	list, _ := os.ReadFile(w.listPath()) // lost is not the same as before
	settings, _ := os.ReadFile(filepath.Join(w.project, ".claude", "settings.json"))
	link := filepath.Join(filepath.Dir(w.loop()), "current")
	current, err := os.Readlink(link)
	if err != nil {
		line, _ := os.ReadFile(link) // what it is where links cannot be made
		current = strings.TrimSpace(string(line))
	}
	// An init that cannot look for itself on PATH writes the whole path, which is as good.
	settings = bytes.ReplaceAll(settings, []byte(`"`+w.path+`"`), []byte(`"ralph-stop-hook"`))
	return files{string(list), string(settings), current}
}

// trial is one scenario in one world, ready to be run again and again.
type trial struct {
	scenario
	*world
	ready  picture
	before files
	after  files           // a run without a fault
	state  record          // before
	seen   map[string]bool // what runs have left, of those that went on from there
}

// newTrial makes the scenario's world, and looks at a run without a fault.
func newTrial(w *world, s scenario) (*trial, error) {
	t := &trial{scenario: s, world: w, seen: map[string]bool{}}
	if err := do(s.make)(w); err != nil {
		return nil, fmt.Errorf("%s cannot be made: %w", s.name, err)
	}
	if err := w.settle(); err != nil {
		return nil, err
	}
	var err error
	t.state, err = w.record()
	if err != nil {
		return nil, err
	}
	t.before = w.files()
	t.ready, err = w.take()
	if err != nil {
		return nil, err
	}
	r, err := s.act(w)
	if err == nil && r.status != 0 {
		err = fmt.Errorf("ends with %d: %s", r.status, r.stderr)
	}
	if err == nil {
		t.after = w.files()
		err = t.settle()
	}
	if err == nil {
		err = allTold(w) // also what an earlier run left; survived would have somebody else tell it
	}
	if err == nil {
		err = t.survived(r, fault{})
	}
	if err != nil {
		return nil, fmt.Errorf("%s without a fault: %w", s.name, err)
	}
	return t, nil
}

// fault is what was done to a run.
type fault struct {
	cleanup bool // it may have kept the program from removing temporary files
}

// survived checks every invariant: how a run may end, and what it may leave. Then it
// takes the loop on until it is COMPLETE.
func (t *trial) survived(r result, f fault) error {
	if err := r.sound(); err != nil {
		return err
	}
	if err := t.ack(r); err != nil {
		return err
	}
	if err := t.settle(); err != nil {
		return err
	}
	if err := t.whole(); err != nil {
		return err
	}
	state, err := t.record()
	if err != nil {
		return err
	}
	switch {
	case t.state.Schema > 0 && state.Schema == 0:
		return errors.New("the record is gone")
	case state.Iteration < t.state.Iteration || state.Iteration > t.state.Iteration+1:
		return fmt.Errorf("iteration %d after %d", state.Iteration, t.state.Iteration)
	case state.Endings < t.state.Endings || state.Endings > t.state.Endings+1:
		return fmt.Errorf("%d endings after %d", state.Endings, t.state.Endings)
	}
	if r.status == 0 && t.done != nil {
		if err := t.done(t.world); err != nil {
			return err
		}
	}
	if t.keeps && state.Endings != t.state.Endings {
		return fmt.Errorf("%s (%s), which is no ending of this", state.Status, state.ExitReason)
	}
	if state.Status == "COMPLETE" && t.state.Status != "COMPLETE" && t.ends != "COMPLETE" {
		return errors.New("COMPLETE, which it is not")
	}
	owns := state.Status == "IN_PROGRESS" && strings.Contains(t.stdin, `"`+state.Session+`"`)
	if strings.Contains(r.stdout, "this session works on the loop") && !owns {
		return fmt.Errorf("it said that the session has the loop, and the record says %s of %q", state.Status,
			state.Session)
	}
	if t.ends != "" && strings.Contains(r.stdout, t.ends) && state.Status != t.ends {
		return fmt.Errorf("the ending %s was printed, and the record says %s", t.ends, state.Status)
	}
	if err := t.swept(r, f); err != nil {
		return err
	}
	if err := t.notesKept(); err != nil {
		return err
	}
	if err := t.noticed(state, r); err != nil {
		return err
	}
	if err := t.begunOnce(state); err != nil {
		return err
	}
	if f.cleanup { // and what an earlier run has left is looked for once
		left, _ := t.strays()
		for _, path := range left {
			if _, was := t.ready[path]; was {
				_ = os.Remove(path)
			}
		}
	}
	// The same folders have the same future.
	left, err := t.take()
	if err != nil {
		return err
	}
	key := left.digest() + fmt.Sprint(r.status, t.acked)
	if t.seen[key] {
		return nil
	}
	t.seen[key] = true
	if err := t.goesOn(r); err != nil {
		return fmt.Errorf("afterwards: %w", err)
	}
	return nil
}

// whole checks that each of a person's files is the old or the new one.
func (t *trial) whole() error {
	now := t.files()
	if now.list != t.before.list && now.list != t.after.list {
		return fmt.Errorf("the list is neither the old nor the new one: %q", now.list)
	}
	if now.settings != t.before.settings && now.settings != t.after.settings {
		return fmt.Errorf("the settings are neither the old nor the new ones: %q", now.settings)
	}
	if now.current != t.before.current && now.current != t.after.current {
		return fmt.Errorf("current is neither the old nor the new one: %q", now.current)
	}
	return nil
}

// swept checks that a run which could remove its temporary files did.
func (t *trial) swept(r result, f fault) error {
	if r.killed() || f.cleanup {
		return nil
	}
	left, err := t.strays()
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(path string) bool {
		_, was := t.ready[path]
		return was || (r.status != 0 || r.hook) && unlocked(path)
	})
	if len(left) > 0 {
		return fmt.Errorf("temporary files after a run that was not killed: %q", left)
	}
	return nil
}

// notesKept checks that nobody's notes are lost.
func (t *trial) notesKept() error {
	was, ok := t.ready[filepath.Join(t.loop(), "progress.txt")]
	if !ok {
		return nil
	}
	now, err := os.ReadFile(filepath.Join(t.loop(), "progress.txt"))
	_, notes, _ := strings.Cut(was.text, "\n\n")
	if err != nil || !strings.HasSuffix(string(now), notes) || !strings.HasPrefix(string(now), "Status: ") {
		return fmt.Errorf("progress.txt is %q, was %q; %w", now, was.text, err)
	}
	return nil
}

// noticed checks that each ending is told exactly once, or at least once if the run was
// killed or could not mark that it had told; always with the ending's one id.
func (t *trial) noticed(state record, r result) error {
	if pending := state.pending(); len(pending) > 0 {
		// What nobody told is told by the next run; here by a person's cron.
		if err := verb("status", "--all", "--send-due")(t.world); err != nil {
			return err
		}
		if err := t.settle(); err != nil {
			return err
		}
		if err := allTold(t.world); err != nil {
			return err
		}
	}
	all, err := t.told()
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, one := range all {
		count[one.DeliveryID]++
	}
	for _, n := range state.Notices {
		switch times := count[n.DeliveryID]; {
		case times == 0:
			return fmt.Errorf("the ending %s (%s) was never told", state.Status, n.DeliveryID)
		case times > 1 && !r.killed() && !n.SentAt.IsZero():
			return fmt.Errorf("the ending %s was told %d times", state.Status, times)
		}
		delete(count, n.DeliveryID)
	}
	for _, one := range all {
		if times := count[one.DeliveryID]; times > 1 {
			return fmt.Errorf("told %d times of %s", times, one.ExitReason)
		}
	}
	return nil
}

// begunOnce checks that no iteration is told twice, and none that never began.
func (w *world) begunOnce(state record) error {
	all, err := payloads(w.begun())
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, one := range all {
		if seen[one.DeliveryID] || one.Event != "on-iteration" || one.Iterations > state.Iteration {
			return fmt.Errorf("at iteration %d it was told of these: %v", state.Iteration, all)
		}
		seen[one.DeliveryID] = true
	}
	return nil
}

// goesOn takes the loop to its end, without faults: the next event of the host
// where it is at work; else a person takes it up again.
func (t *trial) goesOn(r result) error {
	w := t.world
	wrap := w.wrap
	w.wrap = nil
	defer func() { w.wrap = wrap }()
	if err := w.waitAbandoned(); err != nil {
		return err
	}
	if t.args != nil && (t.fresh || t.done(w) != nil) {
		again, err := t.act(w) // a person says it again
		if err == nil {
			err = t.done(w)
		}
		if err != nil {
			return fmt.Errorf("said again: %q: %w", again.stdout+again.stderr, err)
		}
	}
	if t.then != nil {
		if err := t.then(w); err != nil {
			return err
		}
	}
	state, err := w.record()
	if err != nil {
		return err
	}
	// Work that every stop can see, on the list as it is trusted.
	if err := do([]step{satisfied, pass("a", "b")})(w); err != nil {
		return err
	}
	session := cmp.Or(state.Session, "s1")
	steps := []step{event(stop(session), `"decision":"block"`)}
	const fresh = "fresh" // a session
	inFresh := []step{event(prompt(fresh), "this session works on the loop"), event(stop(fresh), `"decision":"block"`)}
	switch {
	case state.Status == "IN_PROGRESS" && state.Iteration == state.Extended:
		steps = append([]step{event(stop(session), "REACHED_LIMIT"), verb("resume", "+6")}, steps...)
	case state.Status == "REACHED_LIMIT", state.Iteration == state.Extended:
		steps = append([]step{verb("resume", "+6")}, steps...)
	case t.ends == "HANDOVER" && state.Status == "IN_PROGRESS":
		steps = append([]step{event(stop(session), "HANDOVER")}, inFresh...)
		session = fresh
	case state.Status == "HANDOVER":
		steps, session = inFresh, fresh
	case state.Status == "INTERRUPTED":
		steps = append([]step{event(prompt(session), "systemMessage")}, steps...)
	case state.Status != "IN_PROGRESS":
		steps = append([]step{verb("resume")}, steps...)
	case state.Session == "":
		steps = append([]step{event(prompt(session), "systemMessage")}, steps...)
	}
	if err := do(steps)(w); err != nil {
		return err
	}
	before, err := w.told()
	if err != nil {
		return err
	}
	end := []step{verb("status", "--all", "--json"), pass("a", "b", "c"), event(stop(session), "Ralph loop COMPLETE")}
	if err := do(end)(w); err != nil {
		return err
	}
	if err := w.settle(); err != nil {
		return err
	}
	now, err := w.told()
	if err != nil || len(now) != len(before)+1 || now[len(now)-1].ExitReason != "all_features_pass" {
		return fmt.Errorf("COMPLETE was told like this: %v %w", now[min(len(before), len(now)):], err)
	}
	if slices.ContainsFunc(before, func(one told) bool { return one.DeliveryID == now[len(now)-1].DeliveryID }) {
		return errors.New("two endings have one id")
	}
	begun, err := payloads(w.begun())
	if err != nil || t.tells && (len(begun) == 0 || begun[len(begun)-1].Iterations != w.acked) {
		return fmt.Errorf("iteration %d began, and it was told of these: %v %w", w.acked, begun, err)
	}
	return w.agree()
}

// unlocked tells whether it is a temporary file of the settings, of what a tracker has
// said, of a session's, or of a run's files for people. Where no lock is held it is swept
// only when nobody has written it for a while.
func unlocked(path string) bool {
	name, in := filepath.Base(path), filepath.Base(filepath.Dir(path))
	return strings.HasPrefix(name, ".settings.json") || strings.HasPrefix(name, ".source.json") ||
		in == "sessions" || in == ".agent-state"
}

// waitAbandoned makes such files as old as after that while.
func (w *world) waitAbandoned() error {
	left, err := w.strays()
	for _, path := range left {
		if unlocked(path) {
			old := time.Now().Add(-time.Hour)
			err = errors.Join(err, os.Chtimes(path, old, old))
		}
	}
	return err
}

// agree checks that record, header and log say the same, and that no temporary file is
// left.
func (w *world) agree() error {
	state, err := w.record()
	if err == nil {
		err = w.shown(state)
	}
	if err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(w.loop(), "stops.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	last := log[bytes.LastIndexByte(bytes.TrimRight(log, "\n"), '\n')+1:]
	if !bytes.Contains(last, fmt.Appendf(nil, `"iteration":%d,`, state.Iteration)) {
		return fmt.Errorf("the log ends with %q, the record is at %d", last, state.Iteration)
	}
	left, err := w.strays()
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("temporary files that nobody sweeps: %q", left)
	}
	return err
}

// shown checks that the header of progress.txt says what the record says.
func (w *world) shown(state record) error {
	header, err := os.ReadFile(filepath.Join(w.loop(), "progress.txt"))
	if err != nil {
		return err
	}
	for _, line := range []string{"Status: " + state.Status, fmt.Sprintf("Iteration: %d", state.Iteration)} {
		if !slices.Contains(strings.Split(string(header), "\n"), line) {
			return fmt.Errorf("progress.txt has no line %q: %q", line, header)
		}
	}
	return nil
}
