// Package decide makes the decision at an event of a host. Decide is a pure and total function: it
// gets what was found, reads no file and no clock, and returns what to do.
package decide

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// Record returns the record, or a new one if there is none. The iteration is the largest known
// one, at least 1. So no number comes twice, even if a file was lost or is an older version.
func (s *Snapshot) Record() State {
	state := s.State
	if state.Schema == 0 {
		state = State{
			Schema:    SchemaVersion,
			Ending:    Ending{Status: InProgress},
			Allowance: Allowance{HeaderLimit: s.Header.MaxIterations},
			Headers:   Headers{Header: s.Header, Before: s.Header},
			Owner:     Owner{Bind: s.Bind},
			Counted:   Counted{Passed: s.List.Passed()},
		}
		state.Allowed = state.Limit(s.Limits)
	}
	state.Iteration = max(1, state.Iteration, s.Header.Iteration, s.LogIteration)
	return state
}

// Decide makes the decision, or says what it needs to know first. It looks in this order at a
// person's stop, the list, the agent's promise, completion, the limits, and the next feature.
func Decide(s Snapshot) (Decision, Need) {
	if Bystander(&s) {
		return pass(&s), Need{}
	}
	d := Decision{Next: s.Record(), From: s.State, Lane: s.Lane}
	need := d.settle(&s)
	switch {
	case !s.Commit:
		d.Next.Uncommitted = ""
	case s.Committed != nil:
		d.Next.Uncommitted = s.Committed.Why
	case s.Event == EventStop && need.Kind == NeedNothing:
		need = d.toCommit(&s)
	}
	if d.Verdict != "" && d.Commits() {
		d.Next.Schema = SchemaVersion
		d.Next.Header = HeaderOf(d.Next, d.Limit)
	}
	return d, need
}

// pass leaves the record as it is.
func pass(s *Snapshot) Decision { return Decision{Verdict: Pass, Next: s.State, From: s.State} }

// settle answers an event that concerns the loop.
func (d *Decision) settle(s *Snapshot) Need {
	if s.Event == EventStop {
		d.takeOwnership(s)
	}
	stopped := d.ReadHeader(s)
	if s.CancelFile {
		stopped = Cancelled
	}
	d.Next.Before = s.Header
	d.Limit = d.Next.Limit(s.Limits)

	switch {
	case s.Event == EventPrompt:
		d.prompt(s, stopped)
	case s.Event == EventStart:
		d.start(s, stopped)
	case stopped != InProgress:
		d.end(s, stopped, s.stoppedBy())
	case s.Event == EventEnd && s.Cleared:
		d.release(s)
	case s.Event == EventEnd || s.Event == EventFailure:
		return d.interrupt(s)
	default:
		return d.stop(s)
	}
	return Need{}
}

func (d *Decision) stop(s *Snapshot) Need {
	if s.ConfigErr == nil && s.Tampered == "" && s.Foreign == "" && len(s.Changed) == 0 && s.ListIsOld {
		return Need{Kind: NeedList}
	}
	if s.KilledInAll >= maxKilled {
		d.Next.Needs = fmt.Sprintf("the hook was killed at %d stops in a row: find out what kills it",
			s.KilledInAll)
		d.end(s, Failed, InternalError)
		return Need{}
	}
	if s.Patient && (s.ConfigErr != nil || s.List.Err != nil || len(s.Lost) > 0) {
		*d = pass(s)
		return Need{}
	}
	if d.unusable(s) || !s.Begins && d.promise(s) {
		return Need{}
	}
	if d.Next.PastDeadline(s.Limits, s.Now) {
		d.end(s, ReachedLimit, Deadline)
		return Need{}
	}
	if d.waits(s) {
		return Need{}
	}
	if len(s.Lost)+len(s.Changed) > 0 {
		return d.restore(s)
	}
	d.Next.Warned = d.Next.Warned && s.List.Err != nil
	d.Next.Complete = false
	if s.Leg.Job {
		d.handOn(s)
		return d.next(s, "", features.Item{})
	}
	// A lane without a session need not know how the loop stands if there is a feature for it, or other lanes work.
	readable := s.List.Err == nil
	onlyBegins := readable && s.Begins && s.Lane > 0 && (s.othersWork() || d.choose(s).ID != "")
	if readable && !onlyBegins {
		if need := d.evaluate(s); need.Kind != NeedNothing || d.Verdict != "" {
			return need
		}
	}
	feature := d.choose(s)
	switch {
	case feature.ID == "" && s.othersWork():
		d.idle(s)
		return Need{}
	case feature.ID == "" && d.needsTrust(s):
		d.Next.Needs = untrusted(d.Failure.Called())
		d.end(s, Blocked, Untrusted)
		return Need{}
	case feature.ID == "" && s.Left[""] != "", // what the loop as a whole lacks waits for a person, too
		d.Failure == nil && s.List.Err == nil && feature.ID == "" && s.List.Passed() < len(s.List.Items):
		d.Next.Needs = plain.Line(s.stuck(), 500)
		d.end(s, Blocked, AllBlocked)
		return Need{}
	}
	if s.Leg.Review { // it made no attempt at a feature, and does not get one
		d.handOn(s)
		if !s.Leg.Done {
			feature = features.Item{}
		}
		return d.next(s, "", feature)
	}
	return d.next(s, feature.ID, feature)
}

// maxKilled is how many hooks in a row may be killed before the loop ends. A person who presses Esc does that once or
// twice; what does it again and again is a fault or the agent's.
const maxKilled = 3

// choose returns the feature to work on, zero if there is none.
func (d *Decision) choose(s *Snapshot) (feature features.Item) {
	if s.Lane > 0 {
		return d.chooseOfLane(s)
	}
	if d.Failure != nil && d.Failure.Feature != "" && !d.Failure.NotRun {
		feature, _ = s.List.Find(d.Failure.Feature)
		return feature
	}
	feature, _ = s.List.Next()
	return feature
}

// untrusted says what did not run.
func untrusted(what string) string {
	return "nobody has trusted the loop's commands, so the " + what + " did not run"
}

// needsTrust reports whether a person has to trust a check before it proves what is claimed. No work of the agent's
// changes that.
func (d *Decision) needsTrust(s *Snapshot) bool {
	return s.Untrusted && d.Failure != nil && d.Failure.NotRun && !d.Failure.Cut && (!s.NoList || d.claimed(s))
}

// unusable ends a loop whose configuration or list cannot be used.
func (d *Decision) unusable(s *Snapshot) bool {
	switch {
	case s.Foreign != "":
		d.Next.Needs = plain.Line(s.Foreign, 300) + " was changed while a command of the loop ran; it is put back"
		d.end(s, Blocked, RecordChanged)
	case s.ConfigErr != nil:
		d.failed(s, s.ConfigErr)
	case s.Tampered != "":
		d.Next.Needs = plain.Line(s.Tampered, 300) + " was touched while a check ran, so nothing is proven"
		d.end(s, Blocked, ConfigChanged)
	case len(s.Changed) > 0 && s.ListIsOld: // the tracker's commands run when that is put back
		return false
	case s.List.Err != nil && (s.List.Missing || s.Lane > 0 || !errors.As(s.List.Err, new(*jsontext.Error))):
		// There are no items, the file cannot be read, or it is not a file: the agent cannot
		// repair that. An agent in a lane can repair nothing outside its work tree.
		d.failed(s, s.List.Err)
	default:
		d.Problem = s.List.Err
		return false
	}
	return true
}

func (d *Decision) failed(s *Snapshot, problem error) {
	d.Problem, d.Next.Needs = problem, plain.Line(problem.Error(), 500)
	d.end(s, Failed, Unusable)
}

// promise reads what the agent says about the whole loop. If it wants a person, the loop ends. If
// it says that everything is complete, that is only a claim.
func (d *Decision) promise(s *Snapshot) (ended bool) {
	status, why := Said(s.Message, s.Promises)
	if status != Blocked && status != Escalated {
		d.Promised = status == Complete && !s.Broken
		return false
	}
	d.Next.Needs = plain.Line(s.saidBy(why), 500)
	d.end(s, status, Asks)
	return true
}

// restore asks the agent to put back what is locked: features that were deleted or reworded, and files. It asks once;
// then the loop ends. An agent in a lane has copies, so it is not asked.
func (d *Decision) restore(s *Snapshot) Need {
	switch asked := d.Next.Warned || s.Lane > 0; {
	case asked && len(s.Changed) > 0:
		d.Next.Needs = Differs(s.Changed)
		d.end(s, Blocked, ConfigChanged)
		return Need{}
	case asked:
		d.Next.Needs = plain.Line("parts of the list were deleted or reworded after it was trusted: "+
			strings.Join(s.Lost, ", "), 500)
		d.end(s, Blocked, ListChanged)
		return Need{}
	}
	d.Next.Warned = true
	d.Lost = s.Lost
	d.Changed = s.Changed
	feature, _ := s.List.Next()
	return d.next(s, feature.ID, features.Item{})
}

// Differs says in a line which locked files have changed.
func Differs(changed []string) string {
	differ := " differ"
	if len(changed) == 1 {
		differ = " differs"
	}
	return Names(changed) + differ + " from what was trusted"
}

// Names returns the first of some files in a line.
func Names(files []string) string { return plain.First(files, 5, 1000) }

// next begins the next iteration with a feature, unless a limit is reached. due is the id of the
// feature whose attempts count.
func (d *Decision) next(s *Snapshot, due string, feature features.Item) Need {
	need := d.limits(s, due)
	if need.Kind == NeedNothing && d.Verdict == "" {
		d.goOn(s, feature)
	}
	return need
}

// ReadHeader takes a person's edits from the header and returns the status that it asks for,
// InProgress if none. Edits can only stop a loop: a raised limit is reported and ignored. A header
// that equals the last one written is not an edit. Neither is one that equals the one before: then
// our own write was cut off.
func (d *Decision) ReadHeader(s *Snapshot) Status {
	if s.State.Schema == 0 || s.Header == s.State.Header || s.Header == s.State.Before {
		return InProgress
	}
	if asked := s.Header.MaxIterations; asked > 0 && asked != s.State.Header.MaxIterations {
		if limit := d.Next.Limit(s.Limits); asked < limit {
			d.Next.Lowered = asked
		} else if asked > limit {
			d.Raised = asked
		}
	}
	// Other words do not end a loop, because an agent may have written them.
	if asked := parseStatus(s.Header.Status); asked == Paused || asked == Cancelled {
		return asked
	}
	return InProgress
}

// Asked returns how the next stop ends the loop because somebody wants that: with `cancel`, or in the header of
// progress.txt. IN_PROGRESS: nobody does.
func (s *Snapshot) Asked() Status {
	if s.CancelFile {
		return Cancelled
	}
	d := Decision{Next: s.State}
	return d.ReadHeader(s)
}

// stoppedBy says who stopped the loop, if ReadHeader or the file of `cancel` says that it is
// stopped.
func (s *Snapshot) stoppedBy() string {
	if s.CancelFile {
		return ByPerson
	}
	return ByHeader
}

// waits decides to wait while something in the background will wake the session. A block would
// only make the agent poll. The wait is bounded and costs no iteration.
func (d *Decision) waits(s *Snapshot) bool {
	if len(s.Running) == 0 {
		d.Next.WaitingSince, d.Next.WaitingFor = time.Time{}, ""
		return false
	}
	if d.Next.WaitingSince.IsZero() || d.Next.WaitingSince.After(s.Now) {
		d.Next.WaitingSince = s.Now
	}
	if s.Now.Sub(d.Next.WaitingSince) >= s.Limits.MaxWait {
		d.Next.WaitingFor = ""
		return false
	}
	d.Verdict, d.Next.WaitingFor = Wait, plain.Line(strings.Join(s.Running, " and "), 300)
	return true
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
	if s.Fresh {
		d.Next.NoteGiven = d.Note
	}
}

func (d *Decision) goOn(s *Snapshot, feature features.Item) {
	d.Verdict, d.Feature = Continue, feature
	d.giveNote(s, true)
	d.handOn(s) // this stop is the last one that counts
	if s.Lane > 0 {
		d.give(s, feature)
		return
	}
	d.countIteration(s)
	d.Next.Lanes = nil
	blocks := d.Next.Blocks[max(0, len(d.Next.Blocks)-maxBlocks+1):]
	d.Next.Blocks = append(slices.Clone(blocks), s.Now.UnixMilli())
	if s.List.Err != nil {
		return // no feature is worked on
	}
	if s.Leg.Review {
		d.Promised = false // it said so of the review
		d.Next.Feature, d.Next.Attempts = "", 0
	}
	if s.Leg.Job || d.Next.Complete || s.Leg.Review && !s.Leg.Done {
		d.Next.Feature, d.Next.Attempts = "", 0
		return
	}
	d.attempt(feature)
}

// attempt counts an iteration that is given to a feature.
func (d *Decision) attempt(feature features.Item) {
	if feature.ID != d.Next.Feature {
		d.Next.Feature, d.Next.Attempts = feature.ID, 0
	}
	d.Next.Attempts++
}

func (d *Decision) countIteration(s *Snapshot) {
	d.Next.Iteration++
	if s.Limits.IterationsPerHour > 0 {
		d.Next.Hour = append(d.Next.LastHour(s.Now), s.Now.Unix())
	} else {
		d.Next.Hour = nil
	}
}

// handOn forgets what counts against the agent of a leg that is over: the agent of the next leg begins anew.
func (d *Decision) handOn(s *Snapshot) {
	if s.Leg.Done && (s.Leg.Job || s.Leg.Review || d.Next.Complete) {
		d.Next.ListDigest = ""
		d.Next.TreeDigest = ""
		d.Next.Unchanged = 0
		d.Next.CheckFailures = 0
		d.Next.Habits = Habits{Checked: d.Next.Checked}
	}
}

// maxBlocks bounds the times of blocks that the record keeps for one turn.
const maxBlocks = 1000

// CountProven counts the proven features of a loop that ends and is not complete: by feature, as everything else that
// shows a loop counts.
func (s *Snapshot) CountProven(next *State) {
	if next.Status != Complete && len(s.Checks) > 0 && !s.NoList && s.List.Err == nil {
		next.Proven = s.Proof().Proven
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
		d.Next.Attempts = 0
		d.Next.Lanes = nil
	}
	d.Next.Judged = s.Fresh && s.Event == EventStop && status.Judges()
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
