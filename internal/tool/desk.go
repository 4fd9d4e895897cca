// Package tool does what an agent asks for by a tool: it tells how a loop stands, runs the loop's checks, and keeps the
// agent's hooks and checkpoints. It decides with the spine of a stop, and does nothing that only a person may do.
package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Desk serves the tools to one client.
type Desk struct {
	Env     loop.Env
	Clients func() []loop.Process // the processes that may be the client: the parent of this one, its parent, and so on
	Init    string                // the command line with which a person makes a loop

	// HostSession is the session that the client's variables name. It may be an old one, so it finds a loop only where
	// nothing else does, and it never makes the session the loop's owner.
	HostSession string
}

// Call is what a client says about one call.
type Call struct {
	Session string // the session, if the client names it; the agent cannot choose it
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
}

// open opens the loop that a call is about: the one of that name, else the one of the session.
func (d *Desk) open(call Call, name string) (*desk, error) {
	at, err := d.find(call, name)
	if err != nil {
		return nil, err
	}
	return d.openAt(call, at)
}

func (d *Desk) openAt(call Call, at *loopdir.Loop) (*desk, error) {
	env := d.Env
	env.OnComplete = ""
	l, err := loop.Open(env, at)
	if err != nil {
		return nil, err
	}
	k := &desk{Loop: l, desk: d, call: call}
	if k.state, err = l.Store.State(); err != nil {
		l.Close()
		return nil, err
	}
	k.Env.OnComplete = k.state.OnComplete // the notifier of the session's own entry
	k.owner = d.ownerOf(call, k.state)
	return k, nil
}

// ownerOf says who owns a loop.
func (d *Desk) ownerOf(call Call, s decide.State) string {
	switch {
	case s.Session == "":
		return Nobody
	case call.Session != "" && call.Session == s.Session, d.isClient(s):
		return ThisSession
	case s.SessionPID > 0 && !alive(s):
		return Nobody
	}
	return AnotherSession
}

// isClient reports whether the process that owns the loop, or owned it before the conversation was cleared, is this
// server's client.
func (d *Desk) isClient(s decide.State) bool {
	return s.SessionPID > 0 && slices.Contains(d.Clients(), loop.Process{PID: s.SessionPID, Start: s.ClientStart})
}

// find finds the loop of a call: the one of that name, the one that the environment names, the one that the client's
// process owns, the one of the session that the client or its variables name, and the current one.
func (d *Desk) find(call Call, name string) (*loopdir.Loop, error) {
	where := d.Env.Where()
	if name != "" {
		at, err := where.Named(name)
		if err != nil {
			return nil, fmt.Errorf("%w; %s", err, d.namesThem())
		}
		return at, nil
	}
	if where.LoopDir == "" {
		if at := d.ofClient(); at != nil {
			return at, at.Check()
		}
		for _, session := range []string{call.Session, d.HostSession} {
			where.Session = session
			if at, err := where.Own(); at != nil || err != nil {
				return at, err
			}
		}
		where.Session = ""
	}
	at, err := loopdir.Find(where)
	if err == nil && at == nil {
		err = fmt.Errorf("no loop in this project is the current one; %s", d.namesThem())
	}
	return at, err
}

// ofClient returns the loop that the client's process owns, nil if there is none.
func (d *Desk) ofClient() *loopdir.Loop {
	all, _ := d.Env.Where().All() // others may still be found
	known, _ := d.Env.Where().Known()
	var released *loopdir.Loop
	for _, at := range append(all, known...) {
		store, err := at.Open()
		if err != nil {
			continue
		}
		state, err := store.State()
		store.Close()
		if err != nil || !d.isClient(state) {
			continue
		}
		if state.Session != "" && state.Status.GoesOn() {
			return at
		}
		if released == nil {
			released = at
		}
	}
	return released
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
	if strings.HasPrefix(id, checkpointPrefix) {
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

// moves refuses what changes a loop of another living session.
func (k *desk) moves() error {
	if k.owner != AnotherSession {
		return nil
	}
	return ForPerson("the loop "+k.name()+" is worked by another session", "ralph-stop-hook attach "+plain.Arg(k.At.Name))
}

// works refuses what only the session that works the loop may do.
func (k *desk) works() error {
	if err := k.moves(); err != nil {
		return err
	}
	if k.owner == Nobody {
		return fmt.Errorf("no session works the loop %s; call iteration_start first", k.name())
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
		Name: name, Session: k.state.Session, Message: message, Caller: k.state.Session, At: time.Now(),
		Timeout: callTime,
	}
}

// callTime is how long a call may take: as long as a stop, as the entry of the hook says.
const callTime = 660 * time.Second

// ErrOver means that a loop is over.
var ErrOver = errors.New("the loop is over")

// over says that the loop has ended, and how a person continues it.
func (k *desk) over() error {
	if k.state.Status.GoesOn() || k.state.Schema == 0 {
		return nil
	}
	why := fmt.Sprintf("%s: %s (%s)", ErrOver, k.state.Status, k.state.ExitReason)
	return ForPerson(why, k.Call("resume"))
}

// Ancestors returns the processes that may be the client of this one.
func Ancestors(pids []int) []loop.Process {
	var all []loop.Process
	for _, pid := range pids {
		all = append(all, loop.FindProcess(pid))
	}
	return all
}
