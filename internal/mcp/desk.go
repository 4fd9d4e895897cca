package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Desk serves the tools to one client.
type Desk struct {
	Env     loop.Env
	Clients []proc.Process // the processes that may be the client: the parent of this one, its parent, and so on
	Init    string         // the command line with which a person makes a loop

	// Hooked reports whether a hook of ours answers the client's stops in a project. Where none does, iteration_next is
	// the stop: it counts, and limits and guards end the loop.
	Hooked func(project string) bool

	// ClientName returns the name of a client that calls itself so here, "" for Claude Code. Nil: nobody is named.
	ClientName func(said string) string

	// HostSession is the session that the client's variables name. It may be an old one, so it finds a loop only where
	// nothing else does, and it never makes the session the loop's owner.
	HostSession string
}

// Call is what a client says about one call.
type Call struct {
	Session string // the session, if the client names it; the agent cannot choose it
	Client  string // the name of the client; "": Claude Code, or not known
}

// Who owns a loop.
const (
	ThisSession    = "this_session"
	AnotherSession = "another_session"
	Nobody         = "nobody"
)

// desk is a loop that one call is about.
type desk struct {
	*loop.Loop
	desk  *Desk
	call  Call
	state decide.State // as it was when the call came
	owner string
	sure  bool // the call names the loop, or its session certainly works it
}

// open opens the loop that a call is about: the one of that name, else the one of the session.
func (d *Desk) open(call Call, name string) (*desk, error) {
	at, sure, err := d.find(call, name)
	if err != nil {
		return nil, err
	}
	k, err := d.openAt(call, at)
	if err == nil {
		k.sure = sure
	}
	return k, err
}

func (d *Desk) openAt(call Call, at *loopdir.Loop) (*desk, error) {
	env := d.Env
	env.OnComplete = ""
	l, err := loop.Open(env, at)
	if err != nil {
		return nil, err
	}
	k := &desk{Loop: l, desk: d, call: call, sure: true}
	k.state, err = l.Store.State()
	if err != nil {
		l.Close()
		return nil, err
	}
	k.Env.OnComplete = k.state.OnComplete // the notifier of the session's own entry
	k.Env.Client = k.state.Client
	k.owner = d.ownerOf(call, k.state)
	return k, nil
}

// ownerOf says who owns a loop.
func (d *Desk) ownerOf(call Call, s decide.State) string {
	switch {
	case s.Session == "", d.isClient(s) && s.Status == decide.Interrupted: // that session is over; the client has another
		return Nobody
	case d.isClient(s):
		return ThisSession
	case s.SessionPID > 0 && proc.Alive(s.SessionPID, s.ClientStart): // whatever session the call names
		return AnotherSession
	case call.Session != "" && call.Session == s.Session:
		return ThisSession
	case s.SessionPID > 0:
		return Nobody
	}
	return AnotherSession
}

// isClient reports whether the process that owns the loop, or owned it before the conversation was cleared, is this
// server's client.
func (d *Desk) isClient(s decide.State) bool {
	return s.SessionPID > 0 && slices.Contains(d.Clients, proc.Process{PID: s.SessionPID, Start: s.ClientStart})
}

// find finds the loop of a call: the one of that name, the one that the environment names, the one that the client's
// process works, the one of the session that the client names. These are sure. The others are guesses: the loop that
// the client's process worked last, the one of the session that the client's variables name, and the current one.
func (d *Desk) find(call Call, name string) (at *loopdir.Loop, sure bool, err error) {
	where := d.Env.Where()
	if name != "" {
		at, err = where.Named(name)
		if err != nil {
			return nil, true, fmt.Errorf("%w; %s", err, d.namesThem())
		}
		return at, true, nil
	}
	sure = where.LoopDir != ""
	if !sure {
		last, works := d.ofClient()
		if works {
			return last, true, last.Check()
		}
		where.Session = call.Session
		if call.Session != "" {
			if at, err := where.SessionLoop(); at != nil || err != nil {
				return at, true, err
			}
		}
		if last != nil {
			return last, false, last.Check()
		}
		where.Session = d.HostSession
		if at, err := where.SessionLoop(); at != nil || err != nil {
			return at, false, err
		}
		where.Session = ""
	}
	at, err = loopdir.Find(where)
	if err == nil && at == nil {
		err = fmt.Errorf("no loop in this project is the current one; %s", d.namesThem())
	}
	return at, sure, err
}

// ofClient returns the loop that the client's process works, or else the one that it worked last; nil if there is none.
// A client can have worked several, one after the other, and has one session at a time.
func (d *Desk) ofClient() (last *loopdir.Loop, works bool) {
	var seen time.Time
	d.each(func(at *loopdir.Loop, s decide.State) {
		if !d.isClient(s) {
			return
		}
		now := s.Session != "" && s.Status == decide.InProgress
		if last == nil || now && !works || now == works && s.Seen.After(seen) {
			last = at
			works = now
			seen = s.Seen
		}
	})
	return last, works
}

// each calls do with every loop of the project, and with those that the user's records name. It leaves out those that
// cannot be read.
func (d *Desk) each(do func(*loopdir.Loop, decide.State)) {
	all, _ := d.Env.Where().All() // others may still be found
	known, _ := d.Env.Where().Known()
	for _, at := range append(all, known...) {
		if at.IsMissing() {
			continue
		}
		store, err := at.Open()
		if err != nil {
			continue
		}
		state, err := store.State()
		store.Close()
		if err == nil {
			do(at, state)
		}
	}
}

// certain refuses a call that names no loop, if this one is only a guess and another one waits for a session, too. The
// session may be that one's: a client can resume any conversation, and tells this server nothing of it.
func (k *desk) certain() error {
	if k.sure {
		return nil
	}
	names := []string{k.name()}
	k.desk.each(func(at *loopdir.Loop, s decide.State) {
		waits := s.Schema != 0 && s.Status.GoesOn() && k.desk.ownerOf(k.call, s) != AnotherSession
		if name := plain.Line(at.Name, 100); waits && at.Project == k.At.Project && !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	if len(names) == 1 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("this session works on no loop, and several wait for one: %s; call iteration_start with "+
		"the taskId of yours", plain.Line(strings.Join(names, ", "), 500))
}

// namesThem names the loops that there are.
func (d *Desk) namesThem() string {
	loops, _ := d.Env.Where().All()
	var names []string
	for _, at := range loops {
		names = append(names, plain.Line(at.Name, 100))
	}
	if len(names) == 0 {
		return fmt.Sprintf("the project has no loop; a person makes one: %s", d.Init)
	}
	return "the loops of this project: " + plain.Line(strings.Join(names, ", "), 500)
}

// iteration opens the loop of an iteration, as ID names it.
func (d *Desk) iteration(call Call, id string) (*desk, error) {
	if id == "" {
		return d.open(call, "")
	}
	if strings.HasPrefix(id, agenthook.CheckpointPrefix) {
		//lint:ignore ST1005 callers know these words
		return nil, fmt.Errorf("Checkpoint %s is not an iteration checkpoint", plain.Line(id, 80))
	}
	all, err := d.Env.Where().All()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, at := range all {
		k, err := d.openAt(call, at)
		if err != nil {
			continue
		}
		if k.ID() == id {
			return k, nil
		}
		ids = append(ids, k.ID())
		k.Close()
	}
	//lint:ignore ST1005 callers know these words
	return nil, fmt.Errorf("Iteration checkpoint not found: %s; there are: %s", plain.Line(id, 80),
		plain.Line(strings.Join(ids, ", "), 500))
}

// ID returns the id of the loop's run: of the loop's key, and the number of the run. So it outlives this process.
func (k *desk) ID() string {
	run := k.state.Endings
	if k.state.Status.GoesOn() || k.state.Schema == 0 {
		run++
	}
	return fmt.Sprintf("IT-%s-%d", filepath.Base(k.At.StatePath())[:12], run)
}

// moves refuses what changes a loop of another living session, and what changes a loop that may be the wrong one.
func (k *desk) moves() error {
	if k.owner != AnotherSession {
		return k.certain()
	}
	return ForPerson("the loop "+k.name()+" is worked by another session",
		"ralph-stop-hook use "+plain.Arg(k.At.Name)+" --session ID")
}

// works refuses what only the session that works on the loop may do.
func (k *desk) works() error {
	if err := k.moves(); err != nil {
		return err
	}
	if k.owner == Nobody {
		return fmt.Errorf("no session works on the loop %s; call iteration_start first", k.name())
	}
	return nil
}

func (k *desk) name() string { return plain.Line(k.At.Name, 100) }

// ForPerson refuses what only a person may do, with the line for a person's terminal.
func ForPerson(why, line string) error {
	return fmt.Errorf("%s; that is for a person, not for an agent; in a terminal of their own: %s", why, line)
}

// event is the stop that a call stands for.
func (k *desk) event(name, message string) loop.Event {
	return loop.Event{
		Report: decide.Report{Session: k.state.Session, Message: message},
		Name:   name, Caller: k.state.Session, At: time.Now(), Timeout: callTime,
	}
}

// counts reports whether this server is all that counts the iterations of the loop: the agent began it by its tools,
// and neither a hook nor a run answers its stops.
func (k *desk) counts() bool {
	if k.owner != ThisSession || k.state.Run() != "" || k.desk.Hooked == nil || k.desk.Hooked(k.At.Project) {
		return false
	}
	p, err := k.Look()
	return err == nil && !p.Agent.Started.IsZero()
}

// Leave ends the loops that the client works and that nothing else will end, and tells the notifiers: the client is
// gone.
func (d *Desk) Leave(ctx context.Context) {
	d.each(func(at *loopdir.Loop, s decide.State) {
		if s.Status != decide.InProgress || !d.isClient(s) {
			return
		}
		k, err := d.openAt(Call{}, at)
		if err != nil {
			return
		}
		defer k.Close()
		if !k.counts() {
			return
		}
		_, _ = k.step(ctx, decide.EventEnd, k.event("SessionEnd", "")) // else 'status --send-due' ends it
	})
}

// step takes an event as the client's own, and tells the notifiers.
func (k *desk) step(ctx context.Context, kind decide.Event, ev loop.Event) (*loop.Step, error) {
	ev.Event = kind
	ev.Client = k.state.SessionPID
	step, err := k.Step(ctx, ev)
	if err == nil {
		k.Notify(ctx, ev, step)
	}
	return step, err
}

// callTime is how long a call may take: as long as a stop, as the entry of the hook says.
const callTime = 660 * time.Second

// endedText begins the answer to a call after the loop has ended.
const endedText = "the loop is over"

// endError says that the loop has ended, and how a person continues it.
func (k *desk) endError() error {
	if k.state.Status.GoesOn() || k.state.Schema == 0 {
		return nil
	}
	why := fmt.Sprintf("%s: %s (%s)", endedText, k.state.Status, k.state.ExitReason)
	resume := k.Call("resume")
	if p, err := k.Look(); err == nil {
		resume = p.Resume(k.state)
	}
	return ForPerson(why, resume)
}
