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

// Verdict is the kind of a Decision.
type Verdict string

// The verdicts.
const (
	Pass     Verdict = "pass"     // not our business: print nothing, write nothing
	Wait     Verdict = "wait"     // let the turn end; the loop goes on when the session wakes
	Continue Verdict = "continue" // block, with the next prompt
	End      Verdict = "end"      // allow, the loop is over
	Take     Verdict = "take"     // the session is the loop's now, or works it again
	Tell     Verdict = "tell"     // only say how the loop stands; nothing is written
	Release  Verdict = "release"  // the loop waits for another session
	Note     Verdict = "note"     // the record learns something of its owner
	NeedTree Verdict = "tree"     // ask again with Snapshot.Tree
	NeedTail Verdict = "tail"     // ask again with Snapshot.Tail

	NeedChecks Verdict = "checks" // ask again with the Results of Decision.Runs, and Contents
	NeedAnswer Verdict = "answer" // ask again with the answer of Decision.Evaluator in Answers
	NeedList   Verdict = "list"   // ask again with what the tracker lists now
	NeedReopen Verdict = "reopen" // ask again when Decision.Reopen do not pass in the list any more
)

// The host's events that are answered.
const (
	Stop         = "Stop"
	PromptSubmit = "UserPromptSubmit"
	StopFailure  = "StopFailure"
	SessionStart = "SessionStart"
	SessionEnd   = "SessionEnd"
)

// Cleared is the Reason of a SessionEnd and a SessionStart around /clear.
const Cleared = "clear"

// PlanMode is the host's permission mode in which the agent may only plan.
const PlanMode = "plan"

// List is the feature list as it was found.
type List struct {
	features.List
	Err     error // what is wrong with it; features.ErrEmpty where only items are lacking
	Missing bool  // there is no such file; Err says which path was looked for
}

// Tail is what the end of a conversation's transcript tells. The host writes it
// with some delay, so the last message may be lacking.
type Tail struct {
	ToolCall time.Time // of the main agent's last one; zero: none in the tail
	Context  int       // tokens of the last request and its answer; -1: not in the tail
	Error    string    // the API error that the conversation ends in, as in Snapshot.Error
	RetryAt  time.Time // when that will be over, where it says so
}

// Snapshot is everything that a decision rests on.
type Snapshot struct {
	Event   string // the host's name for it
	Session string
	Agent   string   // set inside a subagent
	Mode    string   // permission mode
	Message string   // the agent's last message
	Running []string // what runs in the background and will wake the session, in words

	Client   int       // the host's process, 0 where it does not say
	Marked   bool      // PromptSubmit: the prompt names this loop
	Goal     bool      // PromptSubmit: it sets the host's own /goal
	Reason   string    // SessionEnd, SessionStart: why
	Error    string    // StopFailure: of what
	RetryAt  time.Time // StopFailure: when that will be over, where it says so
	Active   bool      // Stop: some hook has blocked in this turn
	BlockCap int       // blocks in a row without a tool call that the host honours; 0: any number
	Tail     *Tail     // only looked at after NeedTail

	Busy         bool            // another hook is at the checks of this very stop
	Bound        bool            // the session's file names this loop
	Bind         string          // ralph.json's, for a loop without a record
	OwnerKnown   bool            // the process of the owner's client can be looked at
	OwnerAlive   bool            // it runs, as far as can be seen
	State        State           // Schema 0: none yet
	Header       progress.Header // of progress.txt as it is now
	LogIteration int             // of the last line of iterations.jsonl
	FreshClone   bool            // no record, and progress.txt came with the repository
	CancelFile   bool            // a person's `cancel` lies in the state folder
	List         List
	Unlisted     bool     // List is what a tracker has said at another time
	ConfigErr    error    // ralph.json cannot be used
	Tampered     string   // a file that is not what a person trusted any more
	Lost         []string // features that are gone, or ask for something else than a person trusted
	Limits       Limits
	Tree         string // fingerprint of the work tree; only looked at after NeedTree

	Promises   []Promise   // by which an agent says how the loop stands, beside our own
	Evaluators []Evaluator // none: the default
	Answers    []Answer    // of those that are commands, by their place; only looked at after NeedAnswer

	Checks    []Check
	Manual    map[string]bool // features with points that only a person can look at
	Recheck   string          // RecheckStale, RecheckAll or RecheckNever
	Receipts  []Receipt       // stored ones
	Results   []Receipt       // of this stop's checks
	Contents  string          // of the work tree, as the checks find it; only looked at after NeedChecks
	Unwritten bool            // the list could not be written, so nothing is reopened

	Now time.Time
}

// Decision is what is to be done. Next is the record to commit before anything
// is printed; it is meaningless for Pass, Tell and where more is needed.
type Decision struct {
	Verdict   Verdict
	Next      State
	Limit     int           // iterations in force
	Feature   features.Item // to work on; zero where the list is broken
	Problem   error         // what is wrong with the list or ralph.json
	Unshown   error         // why progress.txt does not show Next, which is committed
	From      State         // the record before
	Raised    int           // Max Iterations that the header asked for and does not get
	Refusal   string        // Tell: the reason, as of an ending, why the loop does not go on here and now
	Runs      []Run         // NeedChecks: which
	Evaluator int           // NeedAnswer: which
	Promised  bool          // the agent said that all is complete
	Answer    *Answer       // the last of an evaluator's that counts, where the loop goes on
	By        string        // the evaluator's name
	Lost      []string      // features that the agent has to put back
	Reopen    []string      // NeedReopen: the features whose claim failed
	Failure   *Receipt      // the check that failed, of Feature or of the whole tree
	Rival     bool          // something else blocks this session's stops too, which nobody has been told
}

// Bystander tells whether the event is none of the loop's business. It looks at
// no list, so that a caller can ask before it takes the lock.
func Bystander(s Snapshot) bool {
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
func (s Snapshot) moved() bool {
	return s.Client != s.State.SessionPID && s.State.Status == InProgress
}

// Record returns the record, or a new one where there is none, at the largest
// iteration that is known, 1 where none is: whatever is lost or put back to an
// older state, a number never comes twice.
func (s Snapshot) Record() State {
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
	d := decide(s)
	d.Next.Header = Face(d.Next, d.Limit)
	return d
}

func decide(s Snapshot) Decision {
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
func (d *Decision) own(s Snapshot) {
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

// unseen is after how long without a sign an owner is no longer waited for,
// where its process is not known.
const unseen = time.Hour

// prompt answers a prompt that names the loop, or one in the session that was
// interrupted. An owner that is alive keeps its loop.
func (d Decision) prompt(s Snapshot, stopped Status) Decision {
	alive := s.OwnerAlive && (s.OwnerKnown || s.Now.Sub(s.State.Seen).Abs() < unseen)
	status := s.State.Status
	if s.State.Schema == 0 {
		status = parseStatus(s.Header.Status)
		d.From.Status = status
	}
	switch status {
	case InProgress:
		if s.State.Session != "" && s.State.Session != s.Session && alive {
			d.Verdict = Tell
			return d
		}
	case Interrupted, Handover: // its owner has stopped
		if d.Refusal = d.refusal(s); d.Refusal != "" {
			d.Verdict = Tell
			return d
		}
	default:
		d.Verdict = Tell
		return d
	}
	if stopped != InProgress {
		return d.end(s, stopped, ByPerson)
	}
	d.own(s)
	if status == Handover {
		d.begin(s) // what is interrupted goes on, but this is another turn of work
	}
	if d.Verdict = Take; !s.Marked && status == InProgress {
		d.Verdict = Note
	}
	return d
}

// refusal says which limit keeps a prompt from taking a loop up again.
func (d *Decision) refusal(s Snapshot) string {
	handover := s.State.Status == Handover
	switch hourly := s.Limits.IterationsPerHour; {
	case d.Next.Late(s.Limits, s.Now):
		return Deadline
	case !handover:
		return ""
	case d.Next.Iteration >= d.Limit:
		return MaxIterations
	case hourly > 0 && len(s.State.LastHour(s.Now)) >= hourly:
		return IterationsPerHour
	case s.State.LastSession == s.Session && s.State.ExitReason != IterationsPerHour:
		return s.State.ExitReason // it wants a fresh session
	}
	return ""
}

// start answers a session that begins. An interrupted loop waits for a prompt
// all the same: a person may only want to look at what was said.
func (d Decision) start(s Snapshot, stopped Status) Decision {
	if stopped != InProgress {
		return Decision{Verdict: Pass} // the next stop says so
	}
	if d.Verdict = Tell; s.State.Session == s.Session && s.State.Status == InProgress {
		d.Verdict = Note
	}
	return d
}

// interrupt ends a loop whose turn died of an API error, or whose session
// ended: perhaps of such an error too, whose own event was cut off.
func (d Decision) interrupt(s Snapshot) Decision {
	if s.Tail == nil {
		return Decision{Verdict: NeedTail}
	}
	failure := s.Tail.Error
	if s.Event == StopFailure {
		failure = s.Error
	}
	reason := SessionEnded
	switch {
	case failure == RateLimit:
		reason = RateLimit
		if d.Next.RetryAt = s.RetryAt; s.RetryAt.IsZero() {
			d.Next.RetryAt = s.Tail.RetryAt
		}
	case failure != "" || s.Event == StopFailure:
		reason = APIError
	}
	return d.end(s, Interrupted, reason)
}

// release lets the loop go: after /clear the session has another id, and knows
// nothing of the loop.
func (d Decision) release(s Snapshot) Decision {
	d.Verdict = Release
	d.Next.Release()
	d.Next.SessionPID = s.State.SessionPID // by which the cleared session is known
	return d
}

// ReadHeader takes a person's edits from the header. Edits can only stop: a
// header equal to the last one written, or to the one before (then our own
// write was cut off), is no edit; a raised limit is reported, not followed.
func (d *Decision) ReadHeader(s Snapshot) Status {
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
func (d *Decision) waits(s Snapshot) bool {
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

// fingerprint counts the stops in a row at which nothing changed. The list's
// states are looked at first; only if those did not change is the tree asked
// for, and false returned until it is there.
func (d *Decision) fingerprint(s Snapshot) bool {
	list := s.List.Digest()
	if s.List.Err != nil {
		list = "broken: " + s.List.Err.Error()
	}
	before := d.Next.ListDigest
	if before != "" && before != list {
		d.Next.ListDigest, d.Next.TreeDigest, d.Next.Unchanged = list, "", 1
		d.Next.Blocks = nil // that took a tool
		return true
	}
	if s.Tree == "" {
		return false
	}
	if before == list && d.Next.TreeDigest == s.Tree {
		d.Next.Unchanged++
	} else {
		d.Next.Unchanged = 1
	}
	d.Next.ListDigest, d.Next.TreeDigest = list, s.Tree
	return true
}

// goOn begins the next iteration by a block.
func (d Decision) goOn(s Snapshot, feature features.Item) Decision {
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
func (d *Decision) begin(s Snapshot) {
	d.Next.Iteration++
	d.Next.Hour = nil
	if s.Limits.IterationsPerHour > 0 {
		d.Next.Hour = append(s.State.LastHour(s.Now), s.Now.Unix())
	}
}

// maxBlocks bounds what is kept of a turn that goes on and on.
const maxBlocks = 1000

// end makes the ending.
func (d Decision) end(s Snapshot, status Status, reason string) Decision {
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
