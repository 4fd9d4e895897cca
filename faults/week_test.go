//go:build faults && linux

package faults

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// life is one loop's week: an agent, its person, and faults now and then.
type life struct {
	*world
	rand     *rand.Rand
	passing  []string
	notes    int // lines that the agent has written into progress.txt
	faults   int // runs that were killed, or in which a call failed
	limit    int
	stops    int
	rotating bool
	session  string

	kind       int           // what the clock is to it
	mean       time.Duration // of a turn
	ahead      time.Duration // its clock, of the system's
	deadline   time.Duration // from its start
	deadlines  int           // that have passed
	begun      []span        // its iterations
	background bool          // something runs there
}

func newLife(w *world, n, stops int) (*life, error) {
	l := &life{
		world: w, rand: rand.New(rand.NewPCG(*seed, uint64(n))), limit: 50, session: fmt.Sprint("s", n),
		kind: n % 10, mean: aWeek / time.Duration(stops), deadline: givenTime,
	}
	if l.kind == hourly {
		l.limit = 50000 // its hour is to be the end of it
	}
	l.waits(0)
	more := `"stagnation": 0, `
	if n%4 == 1 {
		more = ""
	}
	more += limitsOf(l.kind)
	sum := sha256.Sum256([]byte(w.loop()))
	w.key = hex.EncodeToString(sum[:10])
	l.rotating = n == 0
	return l, do([]step{loopMade, func(w *world) error {
		checks := ""
		if n%20 == 2 {
			checks = `, "checks": [{"command": "test ! -e bad", "when": "claim"}]`
		}
		return w.write(loopFolder+"/ralph.json", fmt.Sprintf(`{"list": "feature_list.json", "bind": "prompt", `+
			`"limits": {%s"max_iterations": %d}, "on_complete": [%q]%s}`, more, l.limit, w.notifier(), checks))
	}, verb("trust", "--yes"), event(prompt(l.session), "systemMessage"), func(w *world) error {
		if !l.rotating {
			return nil
		}
		// As after a long while: the logs are nearly as large as they get.
		line := `{"iteration":1,"note":"` + strings.Repeat("x", 200) + `"}` + "\n"
		old := strings.Repeat(line, (1<<20-2000)/len(line))
		return do([]step{write(loopFolder+"/hook.log", old), write(loopFolder+"/stops.jsonl", old)})(w)
	}})(w)
}

// turn is a turn of work and its stop.
func (l *life) turn() error {
	w := l.world
	r := l.rand
	l.works()
	if r.IntN(5) == 0 && len(l.passing) < 3 {
		l.passing = append(l.passing, []string{"a", "b", "c"}[len(l.passing)])
		if err := w.write(w.list, listOf(l.passing...)); err != nil {
			return err
		}
	}
	if r.IntN(20) == 0 {
		f, err := os.OpenFile(filepath.Join(w.loop(), "progress.txt"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		fmt.Fprintf(f, "note %d\n", l.notes)
		f.Close()
		l.notes++
	}
	if r.IntN(10) == 0 {
		if err := w.write("work", fmt.Sprint(l.stops)); err != nil {
			return err
		}
	}
	bad := filepath.Join(w.project, "bad")
	os.Remove(bad)
	if r.IntN(10) == 0 {
		if err := os.WriteFile(bad, nil, 0o644); err != nil {
			return err
		}
	}
	w.wrap = nil
	switch r.IntN(60) {
	case 0:
		w.wrap = []string{"timeout", "-s", "KILL", fmt.Sprintf("0.00%d", 1+r.IntN(8))}
	case 1:
		name := []string{"openat", "read", "pread64", "write", "fsync", "renameat", "newfstatat"}[r.IntN(7)]
		what := []string{"signal=KILL", "error=EIO", "error=ENOSPC"}[r.IntN(3)]
		inject := fmt.Sprintf("inject=%s:%s:when=%d", name, what, 1+r.IntN(25))
		w.wrap = []string{"strace", "-qq", "-o", os.DevNull, "-e", "trace=" + name, "-e", inject}
	}
	faulty := w.wrap != nil
	before, err := w.record()
	if err != nil {
		return err
	}
	at := span{from: l.now()}
	answer, err := w.run(l.stopping(), "hook")
	at.to = l.now()
	w.wrap = nil
	if err == nil {
		err = w.ack(answer)
	}
	if err != nil {
		return err
	}
	l.stops++
	if faulty {
		l.faults++
	}
	list, err := os.ReadFile(w.listPath())
	if err != nil {
		return err
	}
	l.passing = passing(string(list))
	if string(list) != listOf(l.passing...) {
		return fmt.Errorf("the list is %q", list)
	}
	state, err := w.record()
	if err != nil {
		return err
	}
	blocked, _ := answer.block()
	if err := l.onTime(before, state, at, blocked > 0, faulty); err != nil {
		return err
	}
	if state.Status == "IN_PROGRESS" {
		return l.visits()
	}
	return l.over(state)
}

// over is what a person does when the loop has ended.
func (l *life) over(state record) error {
	w := l.world
	if len(l.passing) == 3 {
		l.passing = nil
		if err := w.write(w.list, listOf()); err != nil {
			return err
		}
	}
	if state.ExitReason == "iterations_per_hour" {
		return l.retries(state)
	}
	more, err := l.longer(state)
	if err != nil {
		return err
	}
	if state.Iteration >= l.limit {
		l.limit = state.Iteration + 50
		more = append(more, "+50")
	}
	return l.gives(more)
}

// gives resumes the loop with more of what it has, and holds that a deadline has moved by what was given.
func (l *life) gives(more []string) error {
	began := l.now()
	if err := verb(append([]string{"resume"}, more...)...)(l.world); err != nil {
		return err
	}
	if !slices.Contains(more, "+"+givenTime.String()) {
		return nil
	}
	state, err := l.record()
	if err != nil {
		return err
	}
	want := max(l.deadline, began.Sub(state.StartedAt)) + givenTime
	if off := state.ExtendedDeadline - want; off.Abs() > time.Minute {
		return fmt.Errorf("the deadline is to be %s after the start, and is %s", want, state.ExtendedDeadline)
	}
	l.deadline = state.ExtendedDeadline
	return nil
}

var passed = regexp.MustCompile(`"id": ?"([abc])" ?,.*?"passes": ?true`)

func passing(list string) (ids []string) {
	for _, m := range passed.FindAllStringSubmatch(list, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// done holds that nothing has drifted and nothing has piled up.
func (l *life) done() error {
	w := l.world
	if err := l.finish(); err != nil {
		return err
	}
	if err := w.settle(); err != nil {
		return err
	}
	if err := w.agree(); err != nil {
		return err
	}
	state, err := w.record()
	if err != nil {
		return err
	}
	progress, err := os.ReadFile(filepath.Join(w.loop(), "progress.txt"))
	if err != nil {
		return err
	}
	for i := range l.notes {
		if !strings.Contains(string(progress), fmt.Sprintf("\nnote %d\n", i)) {
			return fmt.Errorf("note %d of %d is lost", i, l.notes)
		}
	}
	all, err := w.told()
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	ofEndings := 0
	for _, one := range all {
		if !one.ofTrouble() {
			ofEndings++
			ids[one.DeliveryID] = true
		}
	}
	switch {
	case len(ids) != state.Endings:
		return fmt.Errorf("%d endings, and %d were told", state.Endings, len(ids))
	case ofEndings > state.Endings+l.faults:
		return fmt.Errorf("%d endings were told %d times, with %d faults", state.Endings, ofEndings, l.faults)
	}
	if err := l.passed(state, all); err != nil {
		return err
	}
	return l.bounded()
}

// finish brings the loop to an end without faults.
func (l *life) finish() error {
	state, err := l.record()
	if err != nil {
		return err
	}
	os.Remove(filepath.Join(l.project, "bad"))
	if more, err := l.longer(state); err != nil || more != nil {
		if err != nil {
			return err
		}
		if err := l.gives(more); err != nil {
			return err
		}
	}
	if state.Iteration+1 >= l.limit {
		if err := verb("resume", "+50")(l.world); err != nil {
			return err
		}
	}
	return do([]step{pass("a", "b", "c"), event(stop(l.session), "Ralph loop COMPLETE")})(l.world)
}

const mostOfLog = 1<<20 + 4096

func (l *life) bounded() error { return fewAndSmall(append(l.recordDirs(), l.loop())...) }

// fewAndSmall holds that the files of some folders are few and small.
func fewAndSmall(dirs ...string) error {
	files := 0
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return err
			}
			most := int64(64 << 10)
			if strings.Contains(e.Name(), ".log") || strings.Contains(e.Name(), ".jsonl") {
				most = mostOfLog
			}
			if info.Size() > most {
				return fmt.Errorf("%s has %d bytes", e.Name(), info.Size())
			}
			if filepath.Base(dir) != ".agent-state" { // which has files of each run
				files++
			}
		}
	}
	if files > 24 {
		return fmt.Errorf("%d files", files)
	}
	return nil
}

// week lives n loops, of which the first has some part of the stops for itself.
func week(t *testing.T, h *harness, program string, loops, stops int) {
	p, err := get(program)
	if err != nil {
		t.Fatal(err)
	}
	state := tempIn(t, memory)
	share := stops / 10
	for n := range loops {
		mine := share
		if n > 0 {
			mine = (stops - share) / (loops - 1)
		}
		t.Run(fmt.Sprint("loop ", n), func(t *testing.T) {
			t.Parallel()
			lives(t, h, p, state, n, mine)
		})
	}
}

// lives lives one loop, with its record in a folder that many share.
func lives(t *testing.T, h *harness, p program, state string, n, stops int) {
	w := newWorld(t, p, inMemory)
	w.state = state
	for i, kv := range w.env {
		if strings.HasPrefix(kv, "RALPH_STATE_DIR=") {
			w.env[i] = "RALPH_STATE_DIR=" + state
		}
	}
	l, err := newLife(w, n, stops)
	for err == nil && l.stops < stops && !h.enough() {
		err = l.turn()
	}
	if err == nil {
		err = l.done()
	}
	if err != nil {
		err = fmt.Errorf("seed %d: %w", *seed, err)
	}
	h.many(max(1, l.stops), fmt.Sprintf("loop %d", n), err)
}

func TestWeek(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "a week of stops, one in thirty with a fault")
	needStrace(t)
	if testing.Short() {
		week(t, h, "one thread", 20, 2000)
	} else {
		week(t, h, "one thread", 200, 100000)
	}
	h.control("lets logs grow", func(h *harness) { week(h.T, h, h.broken, 2, 400) })
	h.control("tells again and again", func(h *harness) { week(h.T, h, h.broken, 2, 400) })
	for broken, kind := range map[string]int{
		"has no deadline":                late,
		"forgets the hour":               hourly,
		"lets an agent wait for ever":    waiting,
		"takes a loop from who works it": shared,
	} {
		h.control(broken, clocked(kind))
	}
}
