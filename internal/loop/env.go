// Package loop is shared by every program over a loop: it finds the loop of an event, loads what a
// decision depends on, decides, runs checks, commits the record and tells the notifiers. It does
// not know which host calls it.
package loop

import (
	"context"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Env describes the process's surroundings. main reads them once; nothing below reads the
// environment.
type Env struct {
	Program    string   // this program's name, as a person types it
	Self       string   // this program's path; "" if the system does not tell
	Agent      string   // the host's name in notices, such as "claude"
	Client     string   // the host that calls, or for which a loop is made; "": the usual one
	Vars       []string // the environment, as of os.Environ
	Cwd        string   // the working folder
	Home       string   // the user's home folder; "" if there is none
	ConfigDir  string   // the system's folder for users' configuration; "" if there is none
	StateDir   string   // the user's state folder; "" if there is none
	StateErr   error    // why there is no state folder
	LoopDir    string   // a loop's folder that a flag or the environment names
	ProjectDir string   // the host's project; "" if the host does not say
	OnComplete string   // a notifier of the host's own entry, a line for the shell
	ByAgent    bool     // an agent called this program, not a person
	Report     string   // the path of the report that the host will have written; "": it writes none

	// OfHost reports whether a variable is of the host, and IsSecret whether it is a key or a
	// token of the host, which no check gets. If they are nil, none is.
	OfHost, IsSecret func(name string) bool

	// Clients returns the words before a prompt and before a session's id, with which a person begins
	// and resumes a session of a host.
	Clients func(client string) (ask, resume []string)

	// Everywhere reports whether the host calls this program in all projects. Then a stop begins
	// no loop. It may read files, so it is called only if needed.
	Everywhere func() bool

	// Catch, if it is not nil, is called around work that may take long. It returns a
	// context that ends when the process is told to end, and a function that undoes
	// what it did to the process's signals.
	Catch func(context.Context) (context.Context, context.CancelFunc)
}

// Get returns a variable of the environment, "" if it is not set.
func (e Env) Get(name string) string { return proc.Value(e.Vars, name) }

func (e Env) catch(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.Catch == nil {
		return context.WithCancel(ctx)
	}
	return e.Catch(ctx)
}

// Where returns what the search for a loop starts from.
func (e Env) Where() loopdir.Where {
	return loopdir.Where{
		StateDir: e.StateDir, StateErr: e.StateErr, LoopDir: e.LoopDir, ProjectDir: e.ProjectDir, Cwd: e.Cwd,
		Home: e.Home,
	}
}

// Process is the process of a host.
type Process struct {
	PID   int    // 0: not known
	Start string // as of proc.Start; tells two processes of one pid apart
}

// FindProcess returns the process of that id as it runs now.
func FindProcess(pid int) Process {
	if pid <= 0 {
		return Process{}
	}
	return Process{pid, proc.Start(pid)}
}

// Event is what a host reports, in words that are no host's own.
type Event struct {
	Kind         decide.Event
	Name         string // the host's own name for the event, for iterations.jsonl
	Session      string // the session that it is about
	Client       int    // the process id of the host; 0: not known
	Cwd          string // the session's working folder; "": that of this process
	Message      string // the agent's last message
	Prompt       string // EventPrompt: what was submitted
	Aside        bool   // not the agent's own event: a subagent's, for example, or one that the agent made up
	Caller       string // the session whose agent sends this event by hand; "": the host sends it
	Active       bool   // EventStop: some hook has blocked in this turn
	Goal         bool   // EventPrompt: the prompt sets the host's own goal
	Cleared      bool   // EventStart, EventEnd: the conversation was cleared
	Failure      string // EventFailure: the name of the API error, such as decide.RateLimit
	Dying        bool   // the host may end this process at any moment, and reads no answer
	decide.Round        // EventStop of a host that works each iteration in a fresh session

	Subagents, Shells, Wakeups int // what runs in the background and will wake the session

	BlockCap int                             // blocks in a row without a tool call that the host honours; 0: any number
	Tail     func(now time.Time) decide.Tail // reads the end of the transcript; nil: there is none
	At       time.Time                       // when the event came
	Timeout  time.Duration                   // how long its answer may take, with the notifiers
}

// margin is how much of an event's time is kept free at its end: a late answer is dropped.
const margin = 5 * time.Second

// Deadline returns when notifiers must be done.
func (ev Event) Deadline() time.Time { return ev.At.Add(max(ev.Timeout-margin, ev.Timeout/2)) }

// background says in words what runs in the background and will wake the session.
// Shells count only if the loop waits for them: a dev server runs for ever.
func (ev Event) background(shells bool) (running []string) {
	add := func(n int, thing string) {
		if n > 0 {
			running = append(running, plain.Count(n, thing))
		}
	}
	add(ev.Subagents, "subagent")
	if shells {
		add(ev.Shells, "shell")
	}
	add(ev.Wakeups, "wake-up")
	return running
}

// now is an event of no host: a verb looks at the loop.
func now() Event { return Event{At: time.Now(), Timeout: maxSend} }

// Instant shows a time in payloads and in `status --json`; the zero time is "".
func Instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
