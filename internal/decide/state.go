package decide

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// Status is the state of a loop: InProgress, or the kind of its ending.
type Status string

// The statuses, as progress.txt and state.json spell them.
const (
	InProgress   Status = "IN_PROGRESS"
	Complete     Status = "COMPLETE"
	ReachedLimit Status = "REACHED_LIMIT"
	Stagnated    Status = "STAGNATED"
	Blocked      Status = "BLOCKED"
	Escalated    Status = "ESCALATED"
	Handover     Status = "HANDOVER"
	Failed       Status = "FAILED"
	Interrupted  Status = "INTERRUPTED"
	Paused       Status = "PAUSED"
	Cancelled    Status = "CANCELLED"
)

// Exit reasons, as notifiers get them.
const (
	AllFeaturesPass   = "all_features_pass"
	AllChecksPass     = "all_checks_pass" // there is no list, or features may be open (the preset "validation")
	ByPromise         = "promise"
	ByEvaluator       = "evaluator"
	MaxIterations     = "max_iterations"
	Deadline          = "deadline"
	Budget            = "budget"     // of a run: its money, its tokens or its iterations
	Attempts          = "attempts"   // checks failed again and again
	SetAside          = "set_aside"  // too many attempts failed at each feature that is left
	Untrusted         = "untrusted"  // nobody has trusted the commands that are to prove the work
	CheckTime         = "check_time" // a check or an evaluator does not fit into the time of a stop
	NoProgress        = "no_progress"
	AllBlocked        = "all_blocked"
	PermissionDenied  = "permission_denied"
	Asks              = "asks" // the agent wants a person
	IterationsPerHour = "iterations_per_hour"
	SessionFull       = "session_full"
	Unusable          = "unusable" // the list or ralph.json
	InternalError     = "internal_error"
	APIError          = "api_error"
	RateLimit         = "rate_limit"
	SessionEnded      = "session_ended"
	ByPerson          = "by_person"
	ByAgent           = "by_agent"  // the agent called `pause` or `cancel`
	ByHeader          = "by_header" // progress.txt says so: a person wrote that, or the agent
)

// Outcome returns what a notifier gets for an ending: a status word and an exit code, as
// docs/configuration.md lists them. notify is false if the loop continues, or if a person may have
// stopped it; see State.Notify.
func (s Status) Outcome() (status string, code int, notify bool) {
	switch s {
	case Complete:
		return "completed", 0, true
	case ReachedLimit:
		return "failed", 1, true
	case Stagnated:
		return "failed", 2, true
	case Blocked, Escalated, Handover:
		return "blocked", 3, true
	case Failed, Interrupted:
		return "failed", 4, true
	case Paused, Cancelled:
		return "blocked", 3, false
	}
	return "", 0, false
}

// RunSession returns the id of the session as which a run of fresh sessions owns a loop.
func RunSession(run string) string { return runPrefix + run }

const runPrefix = "run-"

// ClientSession returns the id of a session of which only the client's process is known. The client's next stop says
// its real id.
func ClientSession(pid int) string { return clientPrefix + strconv.Itoa(pid) }

const clientPrefix = "client-"

// OfClient reports whether a session owns the loop of which only the client's process is known.
func (s State) OfClient() bool { return strings.HasPrefix(s.Session, clientPrefix) }

// Run returns the id of the run that owns the loop, "" if a session of an agent owns it, or nobody.
func (s State) Run() string {
	if !IsRun(s.Session) {
		return ""
	}
	return strings.TrimPrefix(s.Session, runPrefix)
}

// ExitCode returns the exit status that shows how the loop stands, as docs/runner.md lists them.
func (e Ending) ExitCode() int {
	const failed, interrupted = 4, 130
	switch {
	case e.Status == InProgress:
		return failed
	case e.ExitReason == ByPerson: // it is paused or cancelled
		return interrupted
	}
	_, code, _ := e.Status.Outcome()
	return code
}

// Notify reports whether the notifiers are told of the ending. A person who stopped the loop with
// a verb already knows.
func (s State) Notify() bool {
	_, _, notify := s.Status.Outcome()
	return notify || s.ExitReason == ByAgent || s.ExitReason == ByHeader
}

// GoesOn reports whether the loop runs, or continues with a prompt alone.
func (s Status) GoesOn() bool { return s == InProgress || s == Interrupted || s == Handover }

// Judges reports whether the session of the loop's iteration was judged when the loop came to the status.
func (s Status) Judges() bool { return !s.GoesOn() && s != Paused && s != Cancelled }

// parseStatus reads the status word of progress.txt. A word that we do not know counts
// as InProgress, so that only a known word can stop a loop.
func parseStatus(text string) Status {
	word, _, _ := strings.Cut(strings.ToUpper(text), " ")
	switch s := Status(word); s {
	case Complete, ReachedLimit, Stagnated, Blocked, Escalated, Handover, Failed, Interrupted, Paused, Cancelled:
		return s
	case "CANCELED":
		return Cancelled
	}
	return InProgress
}

// SchemaVersion is the version of State that this program writes, and the only one that it reads.
const SchemaVersion = 1

// State is the record of a loop. The file state.json outside the project keeps it, with the fields of all parts side by
// side.
type State struct {
	// 0: there is no record yet
	Schema int `json:"schema,omitzero"`
	// absolute path of the loop folder
	Loop string `json:"loop,omitzero"`
	// absolute path of the list
	List string `json:"list,omitzero"`

	Ending
	Allowance
	Owner
	Counted
	Checking
	Habits
	Work
	Headers
	Notifying
}

// Ending says how the loop stands, and how it ended.
type Ending struct {
	Status     Status `json:"status,omitzero"`
	ExitReason string `json:"exitReason,omitzero"`
	// what a person must look at
	Needs string `json:"needs,omitzero"`
	// after Budget, until the run goes on: the words with which it does
	Raise     string    `json:"raise,omitzero"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	// how many endings the loop has had
	Endings int `json:"endings,omitzero"`
	// when a rate limit, or our limit per hour, lets the loop continue
	RetryAt time.Time `json:"retryAt,omitzero"`
	// with Paused: a host that starts the agent stops it at once
	StopNow bool `json:"stopNow,omitzero"`
	// the loop ended when the session of its iteration was over; a fresh session begins the next one
	Judged bool `json:"judged,omitzero"`
	// the loop was complete at the last stop, and goes on because of Snapshot.MoreToDo
	WasComplete bool `json:"complete,omitzero"`
}

// Allowance says how much the loop may use, if something other than ralph.json says so too.
type Allowance struct {
	// how many iterations the loop could have when it began
	Allowed int `json:"allowed,omitzero"`
	// how many iterations a person allows, with `resume` or by a lower number in the header; 0: nobody has said that
	MaxIterations int `json:"extended,omitzero"`
	// the deadline that `resume` set; 0: it set none; stored in ns
	ExtendedDeadline time.Duration `json:"extendedDeadline,omitzero"`
}

// Owner says which session works on the loop.
type Owner struct {
	// the owner's id; empty: no session owns the loop
	Session string `json:"session,omitzero"`
	// the id of the last owner, also after the loop was released
	LastSession string `json:"lastSession,omitzero"`
	// the process of the owner's client; 0: not known
	SessionPID int `json:"sessionPid,omitzero"`
	// the name of that client; "": the usual one
	Client string `json:"client,omitzero"`
	// when that process began; tells two processes with one pid apart
	ClientStart string `json:"clientStart,omitzero"`
	// the path of the owner's conversation; it is never read, but its growth is a sign of life. "": not known
	Transcript string `json:"transcript,omitzero"`
	// when the last event of the owner was committed
	Seen time.Time `json:"seen,omitzero"`
	// since when the owner's turn is over and only a person's prompt begins another; zero: a turn may run
	Idle time.Time `json:"idle,omitzero"`
	// the owner's session has ended, whatever its client does now
	HasEnded bool `json:"gone,omitzero"`
	// BindPrompt or BindFirst
	Bind string `json:"bind,omitzero"`
	// a person continued the loop after the owner's client was gone; no session works on it yet
	Waits bool `json:"waits,omitzero"`
	// the person was told that something else blocks the session's stops too
	OtherHookShown bool `json:"rivalSaid,omitzero"`
	// since when something runs in the background; zero: nothing does
	WaitingSince time.Time `json:"waitingSince,omitzero"`
	// what ran there at the last stop, in words
	WaitingFor string `json:"waitingFor,omitzero"`
}

// Counted holds what the limits count.
type Counted struct {
	Iteration int `json:"iteration,omitzero"`
	// features that passed when the list was last sound
	Passed int `json:"passed,omitzero"`
	// features that passed while the owner worked
	SessionPassed int `json:"sessionPassed,omitzero"`
	// tokens of the owner's conversation; only kept for the limit context_tokens
	Context int `json:"context,omitzero"`
	// Unix times of the iterations of the last hour; only kept for iterations_per_hour
	Hour []int64 `json:"hour,omitzero"`
	// Unix ms of the blocks of this turn that may have come after the last tool call
	Blocks []int64 `json:"blocks,omitzero"`
	// stops in a row at which a check failed
	CheckFailures int `json:"checkFailures,omitzero"`
	// how often the checks have passed with what counts and failed in the project, since they passed in both
	ProjectFailures int `json:"projectFailures,omitzero"`
	// fingerprint of the list at the last stop
	ListDigest string `json:"listDigest,omitzero"`
	// fingerprint of the work tree then; empty: that stop did not need it
	TreeDigest string `json:"treeDigest,omitzero"`
	// stops in a row with the same fingerprints
	Unchanged int `json:"unchanged,omitzero"`
}

// Checking holds what the checks of the last stop showed.
type Checking struct {
	// claimed features that were proven at the last stop
	Proven int `json:"proven,omitzero"`
	// the check or evaluator for which the time of the last stop was too short; empty: none
	Cut string `json:"cut,omitzero"`
	// variables of the session that the last checks did not get, in words
	Withheld string `json:"withheld,omitzero"`
}

// Work says what the agent works on.
type Work struct {
	// the id of the feature that the agent works on
	Feature string `json:"feature,omitzero"`
	// the open features at which attempts failed, by their ids
	Failures map[string]Failure `json:"failures,omitempty"`
	// of a run with several lanes, by their numbers; Feature is that of the one that moved last
	Lanes []Lane `json:"lanes,omitzero"`
	// a person's text for the next prompt; empty: none
	Note string `json:"note,omitzero"`
	// a check that the loop had when it started and that nobody had trusted then; empty: there was none
	UntrustedCheck string `json:"untrustedCheck,omitzero"`
	// the text that a fresh session got which has not counted yet
	NoteGiven string `json:"noteGiven,omitzero"`
}

// Headers holds the headers of progress.txt.
type Headers struct {
	// what we last wrote to progress.txt
	Header progress.Header `json:"header"`
	// what was there when we decided on Header
	Before progress.Header `json:"before"`
}

// Notifying holds whom to tell of the ending, and what they were told.
type Notifying struct {
	// the notifier of the settings entry, for runs that have no such entry
	OnComplete string `json:"onComplete,omitzero"`
	// the notices that are not sent, and the one of the last ending
	Notices []Notice `json:"notices,omitzero"`
}

// Running describes a hook that answers a stop.
type Running struct {
	PID    int       `json:"pid"`
	Start  string    `json:"start,omitempty"` // when the process began; tells two processes with one pid apart
	Since  time.Time `json:"since"`
	What   string    `json:"what"`             // what it runs, in words; empty: no check
	Killed int       `json:"killed,omitempty"` // in stop.json: how many stops in a row were killed before this one
}

// How a session becomes the owner of a loop.
const (
	BindPrompt = "prompt" // by the prompt that names the loop
	BindFirst  = "first"  // by being the first session that stops
)

// Notice is the duty to tell the notifiers of an ending. It is committed with the ending, so that
// a later process can finish what a killed sender began. A lock file decides who sends
// (loopdir.Store.LockSender), not the record.
type Notice struct {
	DeliveryID string          `json:"deliveryId"`
	Payload    json.RawMessage `json:"payload"` // without the log's tail
	// SentAt is zero if nobody was told. It is to the second, so a mark makes the record no longer: where the record just
	// fitted on the disk, the mark does, too.
	SentAt time.Time `json:"sentAt"`
	Failed []string  `json:"failed,omitempty"` // the commands that failed when they were told; all others know it
}

// Sent reports whether the notifiers have been told.
func (n Notice) Sent() bool { return !n.SentAt.IsZero() }

// Stop ends the loop apart from a decision.
func (s *State) Stop(status Status, reason string, now time.Time) {
	s.Status = status
	s.ExitReason = reason
	s.EndedAt = now
	s.Endings++
}

// Release takes the loop from its session. From then on the loop waits for its prompt, even if it
// was bound to the first session that stops. Otherwise the next stop of any session would take it.
func (s *State) Release() {
	s.Session = ""
	s.SessionPID = 0
	s.ClientStart = ""
	s.Transcript = ""
	s.Bind = BindPrompt
	s.Idle = time.Time{}
	s.WaitingSince, s.WaitingFor = time.Time{}, ""
}
