package decide

import (
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
)

// Event is the kind of an event that a host reports.
type Event string

// The events that get an answer. No other event concerns the loop.
const (
	EventStop    Event = "stop"    // the agent's turn is about to end
	EventPrompt  Event = "prompt"  // a person submits a prompt
	EventFailure Event = "failure" // the turn ended with an API error
	EventStart   Event = "start"   // a session starts or is resumed
	EventEnd     Event = "end"     // a session ends
)

// Verdict says what happens to the agent's turn.
type Verdict string

// The verdicts. A Decision that needs to know more has none.
const (
	Pass     Verdict = "pass"     // the turn goes on or ends as it would without us
	Wait     Verdict = "wait"     // the turn may end; the loop continues when the session wakes up
	Continue Verdict = "continue" // the turn continues with the next prompt
	End      Verdict = "end"      // the turn may end; the loop is over
)

// Binding says what an event other than a stop changes between a session and the loop.
type Binding string

// The bindings. At a stop there is none.
const (
	Take    Binding = "take"    // the session owns the loop now, or works on it again
	Tell    Binding = "tell"    // nothing changes; the session is told how the loop stands
	Release Binding = "release" // the loop waits for another session
	Note    Binding = "note"    // the record learns something about its owner
)

// Need is one fact that the decision still lacks.
type Need struct {
	Kind      NeedKind
	Runs      []Run    // NeedChecks, NeedProject: the checks to run; NeedChecks without: only the contents are wanted
	Evaluator int      // NeedAnswer: the index of the evaluator to ask
	Reopen    []string // NeedReopen: the features whose claim failed
}

// NeedKind says which field of Found a Need asks for.
type NeedKind string

// The kinds of needs.
const (
	NeedNothing NeedKind = ""        // the decision is made
	NeedTree    NeedKind = "tree"    // Found.Tree
	NeedTail    NeedKind = "tail"    // Found.Tail
	NeedChecks  NeedKind = "checks"  // Found.Results, Found.Contents and Found.NotCounted
	NeedProject NeedKind = "project" // Found.InProject
	NeedAnswer  NeedKind = "answer"  // Found.Answers
	NeedHooks   NeedKind = "hooks"   // Found.HookAnswers
	NeedList    NeedKind = "list"    // Snapshot.List, fresh from the tracker
	NeedReopen  NeedKind = "reopen"  // Snapshot.List without these claims, or Found.ListNotWritten
	NeedTrees   NeedKind = "trees"   // Found.Trees
)

// List is the feature list, or what is wrong with it.
type List struct {
	features.List
	Err     error // what is wrong with it; features.ErrEmpty if only items are missing
	Missing bool  // there is no such file; Err names the path, unless the list is known as it was trusted
}

// Tail is what the end of a conversation's transcript shows. The host writes the transcript with
// some delay, so the last message may be missing.
type Tail struct {
	ToolCall time.Time // of the main agent's last tool call; zero: none in the tail
	Context  int       // tokens of the last request and its answer; -1: not in the tail
	Error    string    // the API error that the conversation ends in, as in Snapshot.Failure
	RetryAt  time.Time // when that error is over, if the host says so
}

// Found is what was looked up because a decision needed it. It is empty at first.
type Found struct {
	Tree           string    // fingerprint of the work tree
	Changes        []string  // with Tree: the files that were written since State.Seen, without the list; nil: not known
	Trees          []string  // other work trees of the repository with work since the loop began; nil: not known
	Tail           *Tail     // the end of the transcript
	Results        []Receipt // results of this stop's checks
	Contents       string    // hash of the work tree's contents, as the checks find it
	Answers        []Answer  // answers of evaluators that are commands, by index
	HookAnswers    []Answer  // answers of hooks that the agent registered; nil: they were not asked
	ListNotWritten bool      // the list could not be written, so no feature can be reopened
	Reopened       []string  // the features that were reopened at this stop
	NotCounted     []string  // with Contents: changed files that the checks do not see as they are in the project
	InProject      []Receipt // results of the checks in the project as it is; nil: they did not run there
}

// Snapshot is everything that a decision depends on.
type Snapshot struct {
	Found
	Report
	Folder
	Listed
	Rules

	NoClaims bool    // of a run: no session had to do with the list, so neither it nor the checks are judged
	MoreToDo bool    // of a run: a loop that is complete goes on
	HandOut  HandOut // of a run that hands out the features itself

	AgentHooks bool      // the agent registered hooks, which are asked before the loop is complete
	Receipts   []Receipt // the stored ones
	Now        time.Time
}

// HandOut is what a run knows of a session that works beside others, and of the next one.
type HandOut struct {
	Feature       *features.Item // to work on next; without an id: none; nil: the run hands out nothing
	Stuck         string         // why the run has none; "": the list says
	SameIteration bool           // the next session gets an iteration that was counted before, and that none has ended
	NewWork       bool           // the session changed files
}

// Report is what the client reports with an event.
type Report struct {
	Event     Event
	IsIgnored bool     // not the agent's own event: a subagent's, one in plan mode, or one that the agent made up
	Session   string   // the session that the event is about
	Client    int      // its process id; 0: unknown
	Cwd       string   // the session's working folder; "": not known
	Message   string   // the agent's last message
	Claim     *Claim   // what the agent says about the whole loop with a tool; nil: what the message says
	Running   []string // what runs in the background and will wake the session, in words
	Marked    bool     // EventPrompt: the prompt names this loop
	Goal      bool     // EventPrompt: the prompt sets the host's own goal
	Cleared   bool     // EventStart, EventEnd: the conversation was cleared
	Failure   string   // EventFailure: the name of the API error, such as RateLimit
	Active    bool     // EventStop: some hook has blocked in this turn
	BlockCap  int      // blocks in a row without a tool call that the host honours; 0: any number

	// What a host says that starts the agent's sessions itself.
	FreshSession bool   // each iteration has a session of its own
	NoSession    bool   // EventStop: no session has ended, the host asks what is next; EventPrompt: none gets the prompt
	Claimed      bool   // the session claims that all is done, by its exit status for example
	Broken       string // how the session broke off, so that it promises nothing, but may ask for a person; "": it did not
	Denied       string // the tools that the agent's permissions refused in the session, in words; "": none
	Refused      bool   // what the session did is not merged, because a check failed or it was in conflict
	CheckFailed  bool   // with Refused: a check failed
	OthersWork   bool   // other sessions of the host run, or have work that is not in the list yet
	Why          string // why the host begins no other session, such as money that is spent; "": it may, or nobody says
	Raise        string // with Why, of EventStop: the flag with which the host goes on
}

// Folder is what the folder of the loop and its record show.
type Folder struct {
	Bound         bool            // the session's own file names this loop
	Bind          string          // ralph.json's "bind", for a loop without a record
	OwnerKnown    bool            // the owner's process can be looked at
	OwnerAlive    bool            // the owner's session is open, as far as can be seen
	State         State           // Schema 0: there is no record yet
	Header        progress.Header // of progress.txt as it is now
	LogIteration  int             // of the last line of stops.jsonl, for a loop without a record
	Brought       string          // why a stop does not begin this loop, which has no record; "" if it may
	Requested     Status          // Paused or Cancelled: a person wants that; "": nobody does
	Killed        int             // how many stops in a row were killed
	CutOff        *Running        // the last of them, if nobody has typed anything since; nil: none
	DuplicateStop bool            // another process runs the checks of this very stop
}

// Listed is the list of the loop, and what became of it.
type Listed struct {
	List      List
	NoList    bool // the loop has no list: a claim and the checks complete it; List is empty
	ListIsOld bool // List is what a tracker printed at an earlier time
}

// Rules is what ralph.json says, as a person trusted it.
type Rules struct {
	ConfigErr  error // why ralph.json cannot be used
	Limits     Limits
	GuardsOff  bool        // a person has switched the guards off
	Promises   []Promise   // lines with which an agent says how the loop stands, beside the built-in ones
	Evaluators []Evaluator // none: the default
	Checks     []Check
	Untrusted  bool // there are checks or commands that nobody has trusted, so they do not run
}

// Decision says what to do. Next is the new record. It is committed before anything is printed,
// unless the verdict is Pass without a binding, or the binding is Tell. While the decision needs
// more, Verdict is empty, and Next has what is settled so far.
type Decision struct {
	Verdict       Verdict
	Binding       Binding // empty at a stop
	Next          State
	Limit         int           // iterations in force
	Feature       features.Item // to work on; zero if the list is broken
	Problem       error         // what is wrong with the list or ralph.json
	Unshown       error         // why progress.txt does not show Next, which is committed
	From          State         // the record before
	Refusal       string        // Tell: the exit reason that keeps the loop from continuing here and now
	Promised      bool          // the agent said that everything is complete
	Note          string        // a person's text for the next prompt, which Next no longer has
	Answer        *Answer       // the last answer that counts, if the loop goes on
	Failure       *Receipt      // the check that failed, of Feature or of the whole tree
	InProject     bool          // Failure is of the project as it is: in the copy the check has passed
	Lane          int           // of a run: the number of the lane that it is about; 0: there are no lanes
	WarnOtherHook bool          // something else blocks this session's stops too, and nobody was told yet
}

// Word returns the decision's name in logs: the binding, else the verdict.
func (d *Decision) Word() string {
	if d.Binding != "" {
		return string(d.Binding)
	}
	return string(d.Verdict)
}

// Commits reports whether Next is to be committed.
func (d *Decision) Commits() bool {
	return d.Binding != Tell && (d.Binding != "" || d.Verdict != Pass)
}
