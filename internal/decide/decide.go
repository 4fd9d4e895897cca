// Package decide makes the decision at an event of a host. Decide is a pure and total function: it
// gets what was found, reads no file and no clock, and returns what to do.
package decide

import (
	"cmp"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// Record returns the record, or a new one if there is none. Its iteration is then the largest known
// one, at least 1. So no number comes twice, even if the record was lost.
func (s *Snapshot) Record() State {
	state := s.State
	if state.Schema == 0 {
		state = State{
			Schema:    SchemaVersion,
			Ending:    Ending{Status: InProgress},
			Allowance: Allowance{Allowed: cmp.Or(s.Limits.MaxIterations, s.Header.MaxIterations)},
			Headers:   Headers{Header: s.Header, Before: s.Header},
			Owner:     Owner{Bind: s.Bind},
			Counted:   Counted{Passed: s.List.Passed(), Iteration: max(1, s.Header.Iteration, s.LogIteration)},
		}
		state.Allowed = state.Limit(s.Limits)
	}
	return state
}

// Decide makes the decision, or says what it needs to know first. What happens at a stop is in stop.go.
func Decide(s Snapshot) (d Decision, need Need) {
	if Bystander(&s) {
		return pass(&s), Need{}
	}
	d = Decision{Next: s.Record(), From: s.State}
	if s.Event == EventStop {
		d.takeOwnership(&s)
	}
	inHeader := d.ReadHeader(&s)
	st := &stop{Snapshot: &s, d: &d, next: &d.Next, stopped: cmp.Or(s.Requested, inHeader)}
	d.Next.Before = s.Header
	d.Limit = d.Next.Limit(s.Limits)

	switch s.Event {
	case EventPrompt:
		need = st.answer(promptRules)
	case EventStart:
		need = st.answer(startRules)
	case EventEnd, EventFailure:
		need = st.answer(endRules)
	default:
		need = st.answer(stopRules)
	}

	if d.Verdict != "" && d.Commits() {
		d.Next.Schema = SchemaVersion
		d.Next.Header = HeaderOf(d.Next, d.Limit)
	}
	return d, need
}

// pass leaves the record as it is.
func pass(s *Snapshot) Decision { return Decision{Verdict: Pass, Next: s.State, From: s.State} }

// Names returns the first of some files in a line.
func Names(files []string) string { return plain.First(files, 5, 1000) }

// ReadHeader takes a lower limit from the header and returns the status that it asks for, Paused or
// Cancelled, InProgress if none. No other edit counts. A header that equals the last one written is
// not an edit. Neither is one that equals the one before: then our own write was cut off.
func (d *Decision) ReadHeader(s *Snapshot) Status {
	if s.State.Schema == 0 || s.Header == s.State.Header || s.Header == s.State.Before {
		return InProgress
	}
	asked := s.Header.MaxIterations
	if asked > 0 && asked != s.State.Header.MaxIterations && asked < d.Next.Limit(s.Limits) {
		d.Next.MaxIterations = asked
	}
	// Other words do not end a loop, because an agent may have written them.
	if asked := parseStatus(s.Header.Status); asked == Paused || asked == Cancelled {
		return asked
	}
	return InProgress
}

// RequestedStatus returns how the next stop ends the loop because somebody wants that: with `cancel` or `pause`, or in
// the header of progress.txt. IN_PROGRESS: nobody does.
func (s *Snapshot) RequestedStatus() Status {
	d := Decision{Next: s.State}
	return cmp.Or(s.Requested, d.ReadHeader(s))
}

// stoppedBy says who stopped the loop, if it is stopped.
func (s *Snapshot) stoppedBy() string {
	if s.Requested != "" {
		return ByPerson
	}
	return ByHeader
}

// giveNote puts a person's note into the prompt. A fresh session that does not count does not take it along: it is
// given again.
func (d *Decision) giveNote(s *Snapshot, counted bool) {
	if counted {
		d.Next.NoteGiven = ""
	}
	d.Note = strings.TrimPrefix(d.Next.NoteGiven+"\n"+d.Next.Note, "\n")
	d.Note = strings.TrimSuffix(d.Note, "\n")
	d.Next.Note = ""
	if s.FreshSession {
		d.Next.NoteGiven = d.Note
	}
}

func (d *Decision) countIteration(s *Snapshot) {
	d.Next.Iteration++
	if s.Limits.IterationsPerHour > 0 {
		d.Next.Hour = append(d.Next.LastHour(s.Now), s.Now.Unix())
	} else {
		d.Next.Hour = nil
	}
}

// CountProven counts the proven features of a loop that ends and is not complete: by feature, as everything else that
// shows a loop counts.
func (s *Snapshot) CountProven(next *State) {
	if next.Status != Complete && len(s.Checks) > 0 && !s.NoList && s.List.Err == nil {
		next.Proven = s.Proven()
	}
}

func (d *Decision) end(s *Snapshot, status Status, reason string) {
	d.Verdict, d.Binding = End, ""
	d.Next.Status = status
	d.Next.ExitReason = reason
	d.Next.EndedAt = s.Now
	d.Next.Endings++
	s.CountProven(&d.Next)
	if s.Event == EventStop || s.Event == EventFailure {
		d.Next.Idle = s.Now
	}
	if !status.GoesOn() {
		d.Next.Feature = ""
		d.Next.Lanes = nil
	}
	d.Next.Judged = s.FreshSession && s.Event == EventStop && status.Judges()
	d.Next.WaitingSince = time.Time{}
	d.Next.WaitingFor = ""
	d.Next.Blocks = nil
}

// HeaderOf returns the header of progress.txt that shows the record. limit is the number of
// iterations in force.
func HeaderOf(s State, limit int) progress.Header {
	return progress.Header{
		Status: string(s.Status), Iteration: s.Iteration, MaxIterations: limit, Feature: plain.Line(s.Feature, 80),
	}
}
