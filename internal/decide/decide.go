// Package decide holds the decision at an event of the host: a pure, total function from
// what was found to what is to be done. It reads no file and no clock.
package decide

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// Bystander tells whether the event is none of the loop's business. It looks at
// no list, so that a caller can ask before it takes the lock.
func Bystander(s *Snapshot) bool {
	owner := s.State.Session != "" && s.State.Session == s.Session
	switch {
	case s.Session == "":
		return true
	case s.Event == PromptSubmit:
		rival := s.Goal && s.State.Status == InProgress && !s.State.RivalSaid
		return !s.Marked && !(owner && (s.State.Status == Interrupted || s.moved() || rival))
	case s.Event == SessionStart && s.Reason == Cleared:
		return s.State.Session != "" || s.State.Status != InProgress || s.Client == 0 || s.Client != s.State.SessionPID
	case s.Event == SessionStart:
		return !owner || s.State.Status != Interrupted && !s.moved()
	case s.Event == SessionEnd && s.OwnerAlive && s.Client > 0 && s.State.SessionPID > 0 && s.Client != s.State.SessionPID:
		return true // of a second client of the session; the first one works on
	case s.Event == StopFailure, s.Event == SessionEnd:
		// A failure may come from the host's own helpers, with an agent's id.
		return !owner || s.State.Status != InProgress
	case s.Event != Stop, s.Agent != "", s.Mode == PlanMode, s.Busy:
		return true
	case s.State.Schema == 0:
		return s.FreshClone || s.Bind == BindPrompt && !s.Bound || parseStatus(s.Header.Status) != InProgress
	case s.State.Session == "":
		return s.State.Bind == BindPrompt || s.State.Status != InProgress
	}
	// A stop that was still at work when its session ended brings nothing back.
	late := s.Now.Before(s.State.EndedAt)
	return !owner || s.State.Status != InProgress && (s.State.Status != Interrupted || late)
}

// moved tells whether the loop's session, if it is that, has another process.
func (s *Snapshot) moved() bool {
	return s.Client != s.State.SessionPID && s.State.Status == InProgress
}

// Record returns the record, or a new one where there is none, at the largest
// iteration that is known, 1 where none is: whatever is lost or put back to an
// older state, a number never comes twice.
func (s *Snapshot) Record() State {
	state := s.State
	if state.Schema == 0 {
		state = State{
			Schema: SchemaVersion, Status: InProgress, HeaderLimit: s.Header.MaxIterations,
			Header: s.Header, Before: s.Header, Bind: s.Bind, Passed: s.List.Passed(),
		}
		state.Allowed = state.Limit(s.Limits)
	}
	state.Iteration = max(1, state.Iteration, s.Header.Iteration, s.LogIteration)
	return state
}

// Decide is the order of the decision in the design: a person's stop, the
// list, the agent's promise, completion, limits, the next feature.
func Decide(s Snapshot) Decision {
	d := decide(&s)
	d.Next.Header = Face(d.Next, d.Limit)
	return d
}

func decide(s *Snapshot) Decision {
	if Bystander(s) {
		return Decision{Verdict: Pass}
	}
	d := Decision{Next: s.Record(), From: s.State}
	if s.Event == Stop {
		d.own(s)
	}
	stopped := d.ReadHeader(s)
	if s.CancelFile {
		stopped = Cancelled
	}
	d.Next.Before = s.Header
	d.Limit = d.Next.Limit(s.Limits)

	switch {
	case s.Event == PromptSubmit:
		return d.prompt(s, stopped)
	case s.Event == SessionStart:
		return d.start(s, stopped)
	case stopped != InProgress:
		return d.end(s, stopped, ByPerson)
	case s.Event == SessionEnd && s.Reason == Cleared:
		return d.release(s)
	case s.Event == SessionEnd || s.Event == StopFailure:
		return d.interrupt(s)
	case s.ConfigErr != nil:
		d.Problem = s.ConfigErr
		return d.end(s, Failed, ConfigInvalid)
	case s.Tampered != "":
		d.Next.Needs = plain.Line(s.Tampered, 300) + " is not what it was when it was trusted"
		return d.end(s, Blocked, ConfigChanged)
	case s.Unlisted:
		return Decision{Verdict: NeedList}
	case s.List.Missing:
		d.Problem = s.List.Err
		return d.end(s, Failed, ListMissing)
	case s.List.Err != nil && !errors.As(s.List.Err, new(*jsontext.Error)):
		// No items, no right to read it, not a file: not for the agent to mend.
		d.Problem = s.List.Err
		return d.end(s, Failed, ListInvalid)
	}
	d.Problem = s.List.Err
	switch status, why := s.promise(); status {
	case Complete:
		d.Promised = true // a claim, no more
	case Blocked:
		d.Next.Needs = plain.Line(why, 500)
		return d.end(s, status, PromiseBlocked)
	case Escalated:
		d.Next.Needs = plain.Line(why, 500)
		return d.end(s, status, PromiseEscalate)
	}
	if d.Next.Late(s.Limits, s.Now) {
		return d.end(s, ReachedLimit, Deadline)
	}
	if d.waits(s) {
		return d
	}
	feature, _ := s.List.Next()
	if warned := d.Next.Warned; len(s.Lost) > 0 {
		if d.Next.Needs = plain.Line(strings.Join(s.Lost, ", "), 500); warned {
			return d.end(s, Blocked, ListChanged)
		}
		d.Next.Needs, d.Next.Warned, d.Lost = "", true, s.Lost
		if end, ok := d.limits(s, feature.ID); ok {
			return end
		}
		return d.goOn(s, features.Item{})
	}
	d.Next.Warned = d.Next.Warned && s.List.Err != nil
	if s.List.Err == nil {
		if verdict, ok := d.evaluate(s); ok {
			return verdict
		}
	}
	if d.Failure != nil && d.Failure.Feature != "" {
		feature, _ = s.List.Find(d.Failure.Feature)
	}
	if d.Failure == nil && s.List.Err == nil && feature.ID == "" && s.List.Passed() < len(s.List.Items) {
		d.Next.Needs = plain.Line(s.List.Stuck(), 500)
		return d.end(s, Blocked, AllBlocked)
	}
	if end, ok := d.limits(s, feature.ID); ok {
		return end
	}
	return d.goOn(s, feature)
}

// own makes the session the loop's, at work.
func (d *Decision) own(s *Snapshot) {
	fresh := cmp.Or(d.Next.LastSession, d.Next.Session) != s.Session || s.State.Status == Handover
	if fresh {
		d.Next.WaitingSince, d.Next.WaitingFor = time.Time{}, ""
		d.Next.SessionPassed, d.Next.Context, d.Next.Blocks, d.Next.RivalSaid = 0, 0, nil, false
	}
	if s.Event == Stop && !s.Active {
		d.Next.Blocks = nil
	}
	if (s.Goal || s.Event == Stop && s.Active && len(d.Next.Blocks) == 0) && !d.Next.RivalSaid {
		d.Rival, d.Next.RivalSaid = true, true
	}
	if passed := s.List.Passed(); s.List.Err == nil {
		if !fresh {
			d.Next.SessionPassed += max(0, passed-d.Next.Passed)
		}
		if passed != d.Next.Passed {
			d.Next.Blocks = nil // that took a tool
		}
		d.Next.Passed = passed
	}
	d.Next.Session, d.Next.LastSession, d.Next.Seen, d.Next.Running = s.Session, s.Session, s.Now, nil
	d.Next.Status, d.Next.ExitReason, d.Next.Needs = InProgress, "", ""
	d.Next.EndedAt, d.Next.RetryAt = time.Time{}, time.Time{}
	if d.Next.StartedAt.IsZero() || d.Next.StartedAt.After(s.Now) {
		d.Next.StartedAt = s.Now // not when it was made, which may be days before
	}
}

// ReadHeader takes a person's edits from the header. Edits can only stop: a
// header equal to the last one written, or to the one before (then our own
// write was cut off), is no edit; a raised limit is reported, not followed.
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
	// Nothing else that stands there ends a loop: an agent may have written it.
	if asked := parseStatus(s.Header.Status); asked == Paused || asked == Cancelled {
		return asked
	}
	return InProgress
}

// waits makes the decision to wait while something runs in the background that
// will wake the session: a block would only make the agent poll. The wait is
// bounded, and costs no iteration.
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
	d.Verdict, d.Next.WaitingFor = Wait, strings.Join(s.Running, " and ")
	return true
}

// goOn begins the next iteration by a block.
func (d Decision) goOn(s *Snapshot, feature features.Item) Decision {
	d.Verdict, d.Feature = Continue, feature
	d.begin(s)
	blocks := d.Next.Blocks[max(0, len(d.Next.Blocks)-maxBlocks+1):]
	d.Next.Blocks = append(slices.Clone(blocks), s.Now.UnixMilli())
	if s.List.Err != nil {
		return d // no feature is worked on
	}
	if feature.ID != d.Next.Feature {
		d.Next.Feature, d.Next.Attempts = feature.ID, 0
	}
	d.Next.Attempts++
	return d
}

// begin begins an iteration.
func (d *Decision) begin(s *Snapshot) {
	d.Next.Iteration++
	d.Next.Hour = nil
	if s.Limits.IterationsPerHour > 0 {
		d.Next.Hour = append(s.State.LastHour(s.Now), s.Now.Unix())
	}
}

// maxBlocks bounds what is kept of a turn that goes on and on.
const maxBlocks = 1000

// end makes the ending.
func (d Decision) end(s *Snapshot, status Status, reason string) Decision {
	d.Verdict = End
	d.Next.Status, d.Next.ExitReason, d.Next.EndedAt = status, reason, s.Now
	d.Next.Endings++
	if !status.GoesOn() {
		d.Next.Feature, d.Next.Attempts = "", 0
	}
	d.Next.WaitingSince, d.Next.WaitingFor, d.Next.Blocks = time.Time{}, "", nil
	return d
}

// Face returns the header that shows a record in progress.txt.
func Face(s State, limit int) progress.Header {
	return progress.Header{
		Status: string(s.Status), Iteration: s.Iteration, MaxIterations: limit, Feature: plain.Line(s.Feature, 80),
	}
}
