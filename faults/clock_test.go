//go:build faults && linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// aWeek is how long a life takes, by the clock that its programs see.
const aWeek = 7 * 24 * time.Hour

// What is special of a life, by its number's last digit.
const (
	late     = 3 // it has a deadline, which a person moves again and again
	hourly   = 4 // so many iterations of an hour
	waiting  = 5 // something runs in the background now and then
	shared   = 6 // two sessions, of which one leaves without a word
	backward = 7 // the clock is set back now and then
	limited  = 8 // the provider's limit is reached now and then
)

const (
	perHour   = 4
	givenTime = 20 * time.Hour
)

// limitsOf are the limits of a life, in ralph.json.
func limitsOf(kind int) string {
	switch kind {
	case late:
		return fmt.Sprintf(`"deadline": %q, `, givenTime)
	case hourly:
		return fmt.Sprintf(`"iterations_per_hour": %d, `, perHour)
	}
	return ""
}

// span is when something happened: not before from, not after to.
type span struct{ from, to time.Time }

func (l *life) now() time.Time { return time.Now().Add(l.ahead) }

// waits lets time pass, in whole seconds.
func (l *life) waits(d time.Duration) {
	l.ahead = max(0, l.ahead+d).Truncate(time.Second)
	l.setClock(l.ahead)
}

// setClock puts the clock of the world's programs ahead of the system's, in whole seconds.
func (w *world) setClock(ahead time.Duration) {
	const name = "FAULTS_AHEAD="
	rest := slices.DeleteFunc(slices.Clone(w.env), func(kv string) bool { return strings.HasPrefix(kv, name) })
	w.env = append(rest, fmt.Sprint(name, int64(ahead.Seconds())))
}

// works lets the time of a turn pass: mostly it is short, now and then a night lies
// in between.
func (l *life) works() {
	most := l.mean / 2
	switch {
	case l.rand.IntN(5) == 0:
		most = 8 * l.mean
	case l.kind == backward && l.rand.IntN(20) == 0:
		most = -min(l.ahead, 3*time.Hour)
	}
	l.waits(time.Duration(l.rand.Float64() * float64(most)))
}

// stopping is the host's event at the end of the turn.
func (l *life) stopping() string {
	if l.kind != waiting {
		return stop(l.session)
	}
	if l.rand.IntN(6) == 0 {
		l.background = !l.background
	}
	if !l.background {
		return stop(l.session)
	}
	return `{"session_id":"` + l.session + `","hook_event_name":"Stop","stop_hook_active":false,` +
		`"background_tasks":[{"id":"1","type":"subagent","status":"running"}]}`
}

// maxWait is the default of limits.max_wait.
const maxWait = time.Hour

// onTime holds what the clock says of a stop.
func (l *life) onTime(before, after record, at span, blocked, faulty bool) error {
	if blocked {
		if err := l.begins(at); err != nil {
			return err
		}
	}
	goesOn := after.Status == "IN_PROGRESS"
	switch l.kind {
	case late:
		end := before.StartedAt.Add(l.deadline)
		ended := after.ExitReason == "deadline"
		if ended {
			l.deadlines++
		}
		switch {
		case !before.StartedAt.Equal(after.StartedAt):
			return fmt.Errorf("the deadline's clock started at %v, now at %v", before.StartedAt, after.StartedAt)
		case blocked && !at.from.Before(end):
			return fmt.Errorf("iteration begun at %v, after the deadline %v", at.from, end)
		case ended && at.to.Before(end):
			return fmt.Errorf("the deadline is %v, and it ended at %v", end, at.to)
		case !ended && !faulty && !at.from.Before(end):
			return fmt.Errorf("the deadline was %v; at %v it is %s (%s)", end, at.from, after.Status, after.ExitReason)
		}
	case waiting:
		since := before.WaitingSince
		switch {
		case !l.background:
		case blocked && (since.IsZero() || at.to.Sub(since) < maxWait):
			return fmt.Errorf("it blocks at %v while something runs since %v", at.to, since)
		case !blocked && !faulty && goesOn && !since.IsZero() && at.from.Sub(since) >= maxWait:
			return fmt.Errorf("it waits at %v, since %v", at.from, since)
		}
	}
	if faulty || !goesOn {
		return nil
	}
	return l.shown(after)
}

// begins counts an iteration, of which an hour has no more than it may.
func (l *life) begins(at span) error {
	l.begun = append(l.begun, at)
	if n := len(l.begun) - 1 - perHour; l.kind == hourly && n >= 0 {
		// Both are cut to whole seconds.
		if gap := at.to.Sub(l.begun[n].from); gap < time.Hour-2*time.Second {
			return fmt.Errorf("%d iterations in %v", perHour+1, gap)
		}
	}
	return nil
}

// visits is what happens between two turns. The runs in it have no faults.
func (l *life) visits() error {
	if l.rand.IntN(6) > 0 {
		return nil
	}
	switch l.kind {
	case shared:
		other := l.session + "-other"
		if was, ok := strings.CutSuffix(l.session, "-other"); ok {
			other = was
		}
		l.waits(time.Duration(l.rand.Int64N(int64(2 * time.Hour))))
		before, after, at, err := l.hears(prompt(other))
		if err != nil {
			return err
		}
		switch {
		case after.Session == other && at.to.Sub(before.Seen) < time.Hour:
			return fmt.Errorf("taken from a session that was there %v ago", at.to.Sub(before.Seen))
		case after.Session != other && at.from.Sub(before.Seen) >= time.Hour:
			return fmt.Errorf("kept for a session that was last there %v ago", at.from.Sub(before.Seen))
		}
		l.session = after.Session
	case limited:
		_, after, at, err := l.hears(stopFailure(l.session))
		switch {
		case err != nil:
			return err
		case after.Status != "INTERRUPTED", after.RetryAt.UTC().Hour() != 15,
			!after.RetryAt.After(at.from), after.RetryAt.Sub(at.to) > 24*time.Hour:
			return fmt.Errorf("at %v it is %s, to be tried again at %v", at.from, after.Status, after.RetryAt)
		}
		l.waits(after.RetryAt.Sub(l.now()))
		_, after, _, err = l.hears(said(l.session))
		if err == nil && (after.Status != "IN_PROGRESS" || !after.RetryAt.IsZero()) {
			err = fmt.Errorf("at work again it is %s, to be tried again at %v", after.Status, after.RetryAt)
		}
		return err
	}
	return nil
}

// hears runs the hook for an event, and returns the record before and after it.
func (l *life) hears(stdin string) (before, after record, at span, err error) {
	before, err = l.record()
	if err != nil {
		return before, after, at, err
	}
	at.from = l.now()
	_, err = l.run(stdin, "hook")
	at.to = l.now()
	if err == nil {
		after, err = l.record()
	}
	return before, after, at, err
}

// retries takes up a loop whose hour was full: not before it says, and then.
func (l *life) retries(state record) error {
	if until := state.RetryAt.Sub(state.EndedAt); until <= 0 || until > time.Hour {
		return fmt.Errorf("ended at %v, to be tried again at %v", state.EndedAt, state.RetryAt)
	}
	const early = 30 * time.Second
	if left := state.RetryAt.Sub(l.now()); left > early {
		l.waits(left - early)
		_, after, at, err := l.hears(prompt(l.session))
		if err != nil || after.Status != "HANDOVER" || after.Endings != state.Endings {
			return fmt.Errorf("it is to be tried again at %v; at %v it is %s; %w", state.RetryAt, at.from, after.Status,
				err)
		}
	}
	l.waits(state.RetryAt.Sub(l.now()) + 2*time.Second)
	_, after, at, err := l.hears(prompt(l.session))
	if err != nil || after.Status != "IN_PROGRESS" || after.Iteration != state.Iteration+1 {
		return fmt.Errorf("it was to be tried again at %v; at %v it is %s; %w", state.RetryAt, at.from, after.Status,
			err)
	}
	return l.begins(at)
}

// longer returns the words that give the loop more time, none where it has enough.
func (l *life) longer(state record) ([]string, error) {
	ran := l.now().Sub(state.StartedAt)
	if l.kind != late || ran < l.deadline-time.Minute {
		return nil, nil
	}
	if state.ExitReason == "deadline" { // it has ended once, and is over
		r, err := l.run("", "resume")
		if err == nil && r.status == 0 {
			err = errors.New("resumed after its deadline")
		}
		if err == nil {
			err = event(stop(l.session), "")(l.world)
		}
		now, unread := l.record()
		if err == nil && (unread != nil || now.Endings != state.Endings || now.Status != state.Status) {
			err = fmt.Errorf("%s after the deadline's ending; %w", now.Status, unread)
		}
		if err != nil {
			return nil, err
		}
	}
	return []string{"+" + givenTime.String()}, nil
}

// shown holds that progress.txt and the log are those of the record.
func (l *life) shown(state record) error {
	header, err := os.ReadFile(filepath.Join(l.loop(), "progress.txt"))
	if err != nil {
		return err
	}
	for _, line := range []string{"Status: " + state.Status, fmt.Sprintf("Iteration: %d", state.Iteration)} {
		if !slices.Contains(strings.Split(string(header), "\n"), line) {
			return fmt.Errorf("progress.txt has no line %q: %.200q", line, header)
		}
	}
	last, err := l.logged()
	if err == nil && last[len(last)-1].Iteration != state.Iteration {
		err = fmt.Errorf("the log is at iteration %d, the record at %d", last[len(last)-1].Iteration, state.Iteration)
	}
	return err
}

type logLine struct {
	Time      time.Time
	Iteration int
}

// logged returns the last lines of stops.jsonl.
func (l *life) logged() (lines []logLine, err error) {
	data, err := os.ReadFile(filepath.Join(l.loop(), "stops.jsonl"))
	if err != nil {
		return nil, err
	}
	data = data[max(0, len(data)-20000):]
	for line := range bytes.Lines(data[max(0, bytes.IndexByte(data, '{')):]) {
		var one logLine
		if json.Unmarshal(line, &one) == nil && one.Iteration > 0 { // one that was cut here is none
			lines = append(lines, one)
		}
	}
	if len(lines) == 0 {
		err = errors.New("stops.jsonl says nothing")
	}
	return lines, err
}

// passed holds that the time has passed for all alike: the record, the log and what
// was told.
func (l *life) passed(state record, all []told) error {
	ids := map[string]bool{}
	for _, one := range all {
		if one.ExitReason == "deadline" {
			ids[one.DeliveryID] = true
		}
	}
	if len(ids) != l.deadlines {
		return fmt.Errorf("%d deadlines passed, and %d were told", l.deadlines, len(ids))
	}
	if l.kind == backward {
		return nil
	}
	lived := l.now().Sub(state.StartedAt)
	if last := all[len(all)-1]; (lived - time.Duration(last.DurationSec)*time.Second).Abs() > time.Minute {
		return fmt.Errorf("after %v, %d s were told", lived, last.DurationSec)
	}
	if lived < aWeek/3 {
		return fmt.Errorf("it lived no longer than %v", lived)
	}
	lines, err := l.logged()
	for i := 1; err == nil && i < len(lines); i++ {
		if lines[i].Time.Before(lines[i-1].Time) {
			err = fmt.Errorf("the times in the log go back, from %v to %v", lines[i-1], lines[i])
		}
	}
	if last := lines[max(0, len(lines)-1)]; err == nil && l.now().Sub(last.Time).Abs() > time.Minute {
		err = fmt.Errorf("at %v the log's last line is of %v", l.now(), last.Time)
	}
	return err
}

// clocked has a control look at a life of the kind that has to see it.
func clocked(kind int) func(*harness) {
	return func(h *harness) {
		p, err := get(h.broken)
		if err != nil {
			h.Fatal(err)
		}
		h.Run("life", func(t *testing.T) { lives(t, h, p, tempIn(t, memory), kind, 400) })
	}
}
