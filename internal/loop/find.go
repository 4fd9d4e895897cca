package loop

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/progress"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proof"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
)

// Loop is an open loop. Close must be called.
type Loop struct {
	At    *loopdir.Loop  // where it is
	Store *loopdir.Store // its open folders
	Env   Env

	work        string          // see InWorkTree; "": the project itself
	marked      bool            // the event's prompt names it
	client      proc.Process    // the host's process, as of the last event
	seen        decide.Snapshot // what tells a bystander, as it was when the loop was found
	previous    *loopdir.Loop   // the loop that the session worked on before this one
	sentNotices map[string]bool // notices that this process has told
	inWorkTree  bool            // work is a work tree of InWorkTree, or the copy of one
	slot        string          // tells apart copies for checks that run at the same time; "": the first one
	look        *proof.Look     // at the project, as the last one was in this decision; nil: there was none
	base        *proof.Baseline // as it was read last

	omissions []proof.Change // what the baseline that was taken last does not have

	stopping bool              // this process answers a stop; see BeginStop
	answered bool              // the stop is answered already; see answeredMeanwhile
	hook     *decide.Running   // that answers a stop, or was killed while it did, as of the last look; nil: none
	requests []loopdir.Request // which the last look has taken into account

	Unshown error // why progress.txt does not show what a verb has changed in the record; nil: it does

	forAgent bool // an agent has started this process: a notice counts as sent only if its notifiers succeed
}

// Open opens a loop for a verb.
func Open(env Env, at *loopdir.Loop) (*Loop, error) {
	store, err := at.Open()
	if err != nil {
		return nil, err
	}
	return &Loop{At: at, Store: store, Env: env}, nil
}

// OpenRecorded opens the loop whose record names the folder dir. If that folder is now refused, it
// opens the record alone.
func OpenRecorded(env Env, dir string) (*Loop, error) {
	at, refused := env.Where().Recorded(dir)
	if refused == nil {
		return Open(env, at)
	}
	return openRecord(env, at)
}

// openRecord opens the record alone. The loop beside an error can only say what is wrong with it.
func openRecord(env Env, at *loopdir.Loop) (*Loop, error) {
	store, err := at.OpenRecord()
	return &Loop{At: at, Store: store, Env: env}, err
}

// Close closes the loop's folders.
func (l *Loop) Close() { l.Store.Close() }

// Call returns the command line with which a person calls a verb for this loop. It names the loop,
// which may not be the current one.
func (l *Loop) Call(verb string) string { return l.Env.Call(verb, l.At.Name) }

// Call returns the command line with which a person calls a verb for a loop. The name of a loop
// never begins with "-", so flags may follow it.
func (e Env) Call(verb, name string) string {
	return e.Program + " " + verb + " " + plain.Arg(name)
}

// InProject returns a line that a person types in the loop's project, with a cd before it if that is another folder.
func InProject(env Env, at *loopdir.Loop, line string) string {
	switch {
	case !env.Anywhere && loopdir.SameFile(env.Cwd, at.Project):
		return line
	case runtime.GOOS == "windows":
		return fmt.Sprintf("cd %s; %s", plain.Arg(at.Project), line)
	}
	return fmt.Sprintf("cd %s && %s", plain.Arg(at.Project), line)
}

// finder searches the loop of one event.
type finder struct {
	env   Env
	ev    Event
	where loopdir.Where
}

// Find returns the loop that an event is about, open, or nil. If it returns a loop and an error,
// the loop is certainly the session's own. Its trouble is then an ending, which is told from its
// record; see GiveUp.
func Find(env Env, ev Event) (*Loop, error) {
	if !loopdir.ValidSession(ev.Session) || ev.IsIgnored {
		return nil, nil // whatever state the loop is in
	}
	f := finder{env, ev, env.Where()}
	f.where.Session = ev.Session
	if ev.Client > 0 {
		f.where.Holder = decide.ClientSession(ev.Client)
	}
	if ev.Cwd != "" {
		f.where.Cwd = ev.Cwd
	}
	return f.find()
}

// CalledByAgent reports whether this process was started below the run or the client that works on a loop: by a
// command of its agent, whatever variables that has. A client that is known by its process alone may be an editor, with
// a person's terminals below it. A command that has left the client's processes looks like a person's.
func CalledByAgent(s decide.State) bool {
	below := s.SessionPID > 0 && !s.OfClient() && slices.Contains(proc.Ancestors(), s.SessionPID)
	return below && proc.Start(s.SessionPID) == s.ClientStart
}

func (f finder) find() (*Loop, error) {
	switch ev := f.ev; ev.Event {
	case decide.EventStop:
		return f.stop()
	case decide.EventPrompt:
		return f.prompt()
	case decide.EventStart:
		if ev.Cleared {
			return f.cleared()
		}
		return f.sessionLoop()
	case decide.EventFailure, decide.EventEnd:
		return f.sessionLoop()
	}
	return nil, nil
}

// Bystander reports whether the event does not concern the loop, as far as Find could see. Of a prompt nobody knows
// that while another event of the session waits to be answered.
func (l *Loop) Bystander() bool {
	waits := l.seen.Event == decide.EventPrompt && l.eventsQueued()
	return decide.Bystander(&l.seen) && !waits
}

// sessionLoop returns the loop that the session works on.
func (f finder) sessionLoop() (*Loop, error) {
	at, err := f.where.SessionLoop()
	if at == nil && err == nil && f.ev.Event != decide.EventPrompt {
		at, err = loopdir.Find(f.where) // the session's own file could not be written
	}
	return f.open(at, err)
}

// prompt returns the loop that a person's prompt names, or the session's own.
func (f finder) prompt() (*Loop, error) {
	at, err := f.where.PromptLoop(f.ev.Prompt)
	if at == nil && err == nil {
		return f.sessionLoop()
	}
	l, err := f.open(at, err)
	if l != nil {
		l.marked, l.seen.Marked = true, true
	}
	return l, err
}

// cleared returns the loop that the host's process worked on before the conversation
// was cleared, which gave the session another id.
func (f finder) cleared() (*Loop, error) {
	all, err := f.where.All()
	for _, at := range all {
		if at.Check() != nil {
			continue // the loop's own events say so
		}
		l, err := f.open(at, nil)
		if err == nil && !l.Bystander() {
			return l, nil
		}
		if l != nil {
			l.Close()
		}
	}
	return nil, err
}

// open opens a loop and reads what tells a bystander. If a loop cannot be read and is not
// certainly the session's own, it is closed. If the folder of the session's own loop is refused,
// only its record is opened.
func (f finder) open(at *loopdir.Loop, refused error) (l *Loop, err error) {
	if at == nil {
		return nil, refused
	}
	if refused == nil {
		l, refused = Open(f.env, at)
	}
	if refused != nil {
		if !at.Bound {
			return nil, refused
		}
		l, err = openRecord(f.env, at)
		if err != nil {
			return l, refused
		}
	}
	l.seen, err = l.peek(f.ev)
	switch {
	case refused != nil && err == nil && (l.seen.State.Schema == 0 || l.Bystander()):
		l.Close()
		return nil, refused // the folder of a loop that this session does not work on
	case refused == nil && err != nil && !at.Bound:
		l.Close()
		return nil, err
	}
	return l, cmp.Or(refused, err)
}

// stop returns the loop of a stop. A session whose own loop is over may work on the one of
// `current`. A session whose own loop is not over stays with it, whatever the environment names:
// an agent can write the settings.
func (f finder) stop() (*Loop, error) {
	if f.env.LoopDir != "" && f.env.LoopDir == f.env.Get("RALPH_LOOP_DIR") {
		if at, err := f.where.SessionLoop(); at != nil || err != nil {
			l, err := f.open(at, err) // the other loop's answer would hide an error
			if err != nil || l.seen.State.Status == decide.InProgress {
				return l, err
			}
			l.Close()
		}
	}
	at, err := loopdir.Find(f.where)
	l, err := f.open(at, err)
	if l == nil || err != nil {
		return l, err
	}
	switch l.seen.State.Status {
	case decide.InProgress, decide.Paused, decide.Interrupted:
		return l, nil
	}
	if at.Bound {
		if other, err := f.where.Current(); err == nil && other != nil && other.Dir != at.Dir {
			l.Close()
			return f.open(other, nil)
		}
	}
	return l, nil
}

// A loop that somebody made by hand has no record. A person begins it with its prompt, `use --session`,
// resume or init. A stop begins it only if nobody else can have brought it.

// peekUnrecorded reads who may begin a loop that has no record.
func (l *Loop) peekUnrecorded(s *decide.Snapshot, ev Event) error {
	text, err := l.Store.Progress()
	if err != nil {
		return err
	}
	s.Header = progress.Parse(text)
	s.LogIteration = l.Store.LogIteration()
	s.Bind = decide.BindPrompt // an unreadable ralph.json must not make a bystander an owner
	text, err = l.Store.Config()
	if err == nil {
		var c config.Effective
		c, err = config.Choose(nil, text)
		if err == nil {
			s.Bind = c.Bind
		}
	}
	if err != nil {
		s.ConfigErr = fmt.Errorf("%s: %w", filepath.Join(l.At.Dir, loopdir.ConfigFile), err)
	}
	if ev.Event == decide.EventStop || ev.Event == "" {
		s.Brought = l.brought(ev)
	}
	return nil
}

// brought says why a stop does not begin a loop that has no record, "" if it may. A verb has no
// event, and does not ask where the session is.
func (l *Loop) brought(ev Event) string {
	where := l.Env.Where()
	if ev.Cwd != "" {
		where.Cwd = ev.Cwd
	}
	switch {
	case l.At.Bound: // a person has given it to this session
	case l.Env.Everywhere != nil && l.Env.Everywhere():
		return "the hook's entry is for all projects"
	case ev.Event == decide.EventStop && !where.InProject(l.At):
		return "it is not in the project of this session"
	case where.Dependency(l.At):
		return "it is in the folder of a dependency, or of a repository within another one"
	}
	return l.tracked()
}

// tracked says that the loop came with a repository or could have come with one; "" if not.
func (l *Loop) tracked() string {
	root := loopdir.RepoRoot(l.At.Dir)
	if root == "" {
		return ""
	}
	const came = "it came with the repository, or was moved with it"
	if rel, err := filepath.Rel(l.At.Project, root); err == nil && rel != "." && filepath.IsLocal(rel) {
		return came // a repository of its own, in the folder of loops
	}
	switch none, known := tree.Untracked(l.environ(), l.At.Dir); {
	case !known:
		return "git does not say whether it came with the repository"
	case !none:
		return came
	}
	return ""
}

// Waits reports whether the event is a stop that did not begin the loop, which has no
// record.
func (l *Loop) Waits(ev Event) bool {
	return ev.Event == decide.EventStop && l.seen.State.Schema == 0 && l.seen.MayBegin()
}

// Paused reports whether the event is a stop of the loop's own session, and somebody paused the loop before it.
func (l *Loop) Paused(ev Event) bool {
	s := &l.seen.State
	return ev.Event == decide.EventStop && !ev.IsIgnored && s.Status == decide.Paused && s.Session == ev.Session &&
		s.ExitReason != decide.ByHeader // the stop that found it in the header has said so
}

// TellPause reports whether the session should hear of the pause, and records that it did.
func (l *Loop) TellPause(session string) bool {
	return l.At.FirstTime(session + " " + strconv.Itoa(l.seen.State.Endings))
}

// WaitsFor says why the loop waits for a person, "" if the session was told before.
func (l *Loop) WaitsFor(session string) string {
	if !l.At.FirstTime(session) {
		return ""
	}
	switch s := &l.seen; {
	case s.ConfigErr != nil:
		return s.ConfigErr.Error()
	case s.Brought != "":
		return s.Brought
	}
	return "it waits for its prompt"
}
