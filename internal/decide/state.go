package decide

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// Status is where a loop stands: InProgress, or an ending.
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
	AllFeaturesPass    = "all_features_pass"
	AllChecksPass      = "all_checks_pass" // with features open, where ralph.json asks the checks alone
	ByPromise          = "promise"
	ByEvaluator        = "evaluator"
	MaxIterations      = "max_iterations"
	Deadline           = "deadline"
	FeatureAttempts    = "feature_attempts"
	CheckFailures      = "check_failures"
	NoProgress         = "no_progress"
	NoToolUse          = "no_tool_use"
	PromiseBlocked     = "promise_blocked"
	PromiseEscalate    = "promise_escalate"
	ConfigChanged      = "config_changed"
	ListChanged        = "list_changed"
	AllBlocked         = "all_blocked"
	IterationsPerHour  = "iterations_per_hour"
	FeaturesPerSession = "features_per_session"
	ContextTokens      = "context_tokens"
	ListMissing        = "list_missing"
	ListInvalid        = "list_invalid"
	ConfigInvalid      = "config_invalid"
	InternalError      = "internal_error"
	APIError           = "api_error"
	RateLimit          = "rate_limit"
	SessionEnded       = "session_ended"
	ByPerson           = "by_person"
)

// Outcome is what a notifier is told of an ending: the status word and the
// code of the design's table. Notify is false where a person ended the loop,
// who need not be told.
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
	}
	return "", 0, false
}

// GoesOn tells whether a loop is at work, or goes on by a prompt alone.
func (s Status) GoesOn() bool { return s == InProgress || s == Interrupted || s == Handover }

// parseStatus reads a status word of progress.txt. Words that are none of
// ours mean work: only what we know can stop a loop.
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

// SchemaVersion is the version of State that this program writes. A record of
// a later one is refused, not guessed at.
const SchemaVersion = 1

// State is the record of a loop, kept outside the project as state.json.
type State struct {
	Schema int // 0: there is no record yet
	Name   string
	Loop   string // absolute path of the loop folder
	List   string // absolute path of the list

	Status     Status
	ExitReason string
	Needs      string // what a person has to look at
	Iteration  int
	Endings    int // how many there have been

	RetryAt time.Time // when the provider's limit, or our own, lets it go on

	HeaderLimit      int           // Max Iterations as the loop began with it
	Allowed          int           // iterations that the loop began with
	Lowered          int           // Max Iterations as a person lowered it in the header
	Extended         int           // Max Iterations as `extend` set it
	ExtendedDeadline time.Duration // ns; deadline as `extend` set it

	Session     string    // the owner; empty until a session is bound
	LastSession string    // the last owner, also after it was let go
	SessionPID  int       // process of the owner's client, where it said so
	ClientStart string    // tells two processes of one pid apart
	Seen        time.Time // last event of the owner that was committed
	Bind        string    // BindPrompt, or BindFirst

	Passed        int     // features that passed when a sound list was last seen
	SessionPassed int     // features that came to pass while the owner worked
	Context       int     // tokens of the owner's conversation, where there is a limit
	Hour          []int64 // Unix time of each iteration begun in the last hour, where there is a limit
	Blocks        []int64 // Unix ms of each block in this turn, without those known to lie before a tool call
	RivalSaid     bool    // the owner's person knows that something else blocks too

	WaitingSince time.Time // something has run in the background since
	WaitingFor   string    // what, at the last stop

	Proven        int      // claimed features that were proven at the last stop
	Manual        int      // claimed features with points that only a person can look at
	CheckFailures int      // stops in a row at which a check failed
	Warned        bool     // the agent was told to put features back
	Running       *Running // checks, since a stop that has not ended

	Feature    string // worked on now
	Attempts   int    // iterations given to it in a row
	ListDigest string // fingerprint of the last stop
	TreeDigest string // empty where that stop did not need it
	Unchanged  int    // stops in a row with that fingerprint

	Header progress.Header // as last written to progress.txt
	Before progress.Header // as found there when Header was decided

	StartedAt time.Time
	EndedAt   time.Time

	OnComplete string   // the settings entry's notifier, for runs without that entry
	Notices    []Notice // of endings that have to be told, and of the last one
}

// Fields are the keys of the record and their values.
func (s *State) Fields() jsontext.Object {
	return jsontext.Object{
		"schema", &s.Schema, "name", &s.Name, "loop", &s.Loop, "list", &s.List, "status", (*string)(&s.Status),
		"exitReason", &s.ExitReason, "needs", &s.Needs, "iteration", &s.Iteration, "endings", &s.Endings,
		"retryAt", &s.RetryAt, "headerLimit", &s.HeaderLimit, "allowed", &s.Allowed, "lowered", &s.Lowered,
		"extended", &s.Extended, "extendedDeadline", (*int64)(&s.ExtendedDeadline), "session", &s.Session,
		"lastSession", &s.LastSession, "sessionPid", &s.SessionPID, "clientStart", &s.ClientStart, "seen", &s.Seen,
		"bind", &s.Bind, "passed", &s.Passed, "sessionPassed", &s.SessionPassed, "context", &s.Context, "hour", &s.Hour,
		"blocks", &s.Blocks, "rivalSaid", &s.RivalSaid, "waitingSince", &s.WaitingSince, "waitingFor", &s.WaitingFor,
		"proven", &s.Proven, "manual", &s.Manual, "checkFailures", &s.CheckFailures, "warned", &s.Warned,
		"running", &s.Running, "feature", &s.Feature, "attempts", &s.Attempts, "listDigest", &s.ListDigest,
		"treeDigest", &s.TreeDigest, "unchanged", &s.Unchanged, "header", headerFields(&s.Header),
		"before", headerFields(&s.Before), "startedAt", &s.StartedAt, "endedAt", &s.EndedAt, "onComplete", &s.OnComplete,
		"notices", &s.Notices,
	}
}

func headerFields(h *progress.Header) jsontext.Object {
	return jsontext.Object{
		"status", &h.Status, "iteration", &h.Iteration, "maxIterations", &h.MaxIterations, "feature", &h.Feature,
	}
}

// Running is what a hook that runs checks says of itself.
type Running struct {
	PID   int       `json:"pid"`
	Start string    `json:"start,omitempty"` // tells two processes of one pid apart
	Since time.Time `json:"since"`
	What  string    `json:"what"` // in words
}

// How a session becomes a loop's: by the prompt that names the loop, or by
// being the first that stops.
const (
	BindPrompt = "prompt"
	BindFirst  = "first"
)

// Notice is the duty to tell the notifiers of an ending. It is committed with the
// ending, so that a later process can finish what a killed sender began. Who sends
// is settled by a lock file (loopdir.Store.LockSender), not by the record.
type Notice struct {
	DeliveryID string          `json:"deliveryId"`
	Payload    json.RawMessage `json:"payload"` // without the log's tail
	SentAt     time.Time       `json:"sentAt,omitzero"`
}

// Sent reports whether the notifiers have been told.
func (n Notice) Sent() bool { return !n.SentAt.IsZero() }

// Release takes the loop from its session. From then on the loop waits for its
// prompt, even if it was bound to the first session that stops: else the next stop
// of any session would take it.
func (s *State) Release() {
	s.Session, s.SessionPID, s.ClientStart, s.Bind = "", 0, "", BindPrompt
	s.WaitingSince, s.WaitingFor = time.Time{}, ""
}
