package decide

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
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
