package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// use is verb.Use, with what only a client of ours can say: which session works on the loop.
func (v verbs) use() *cobra.Command {
	var session string
	var none bool
	cmd := v.Use()
	makeCurrent := cmd.RunE
	cmd.RunE = cli.Run(func(w io.Writer, args []string) error {
		switch {
		case cmd.Flags().Changed("session") && none:
			return cli.Usagef("--session and --no-session do not go together")
		case cmd.Flags().Changed("session"):
			return v.OnLoop(func(w io.Writer, l *loop.Loop) error { return v.attach(w, l, session) })(w, args)
		case none:
			return v.OnLoop(v.detach)(w, args)
		}
		return makeCurrent(cmd, args)
	})
	cmd.Flags().StringVar(&session, "session", "",
		"give the loop to the session `ID`; 'self' is the session that calls")
	cmd.Flags().BoolVar(&none, "no-session", false, "take the loop from its session; it then waits for its prompt")
	return cmd
}

// attach gives a loop to a session.
func (v verbs) attach(w io.Writer, l *loop.Loop, session string) error {
	own := cmp.Or(v.Env.Get(client.SessionID), client.Caller(v.Env.Get))
	if session == "self" {
		session = own
	}
	if !loopdir.ValidSession(session) {
		return cli.Usagef("which session? 'claude --resume' lists them; inside Claude Code the calling one is: " +
			"--session self")
	}
	owner, who := proc.Find(client.Find(client.Usual).PID(v.Env.Get)), "session "+session
	other, works, busy := v.otherWork(session, l)
	l.Env.ByAgent = l.Env.ByAgent || loop.CalledByAgent(other)
	if err := v.PersonFor(l); err != nil {
		switch {
		case session != own, owner.PID > 0 && !slices.Contains(proc.Ancestors(), owner.PID):
			return fmt.Errorf("session %s is not the calling session; %w", session, err)
		case works:
			return fmt.Errorf("session %s works on another loop, which is not over; %w", session, err)
		case owner.PID > 0: // only its client says which session it is
			session, who = decide.ClientSession(owner.PID), "this session"
		}
	}
	if busy != nil { // they would be held to have changed whose session it is
		return fmt.Errorf("session %s works on another loop: %w", session, busy)
	}
	next, err := l.Change("attach", func(p *loop.Picture, next *decide.State) error {
		d := p.Attach(session)
		if err := say.Refused(p, d); err != nil {
			return err
		}
		*next = d.Next
		next.SessionPID = owner.PID
		next.ClientStart = owner.Start
		return l.Store.Bind(session)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s works on it now, at iteration %d\n", plain.Line(l.At.Name, 100), who, next.Iteration)
	return nil
}

// otherWork returns the record of the loop that the session works on, unless that is l, and whether it goes on, or has
// something to tell. An agent must not leave it for one that asks less. A record that cannot be read counts. busy is
// why nobody can change that loop now; nil: somebody can.
func (v verbs) otherWork(session string, l *loop.Loop) (state decide.State, works bool, busy error) {
	where := v.Env.Where()
	where.Session = session
	own, err := where.SessionLoop()
	if own == nil || own.Dir == l.At.Dir {
		return state, false, nil
	}
	if err != nil {
		return state, true, nil
	}
	other, err := own.Open()
	if err != nil {
		return state, true, nil
	}
	defer other.Close()
	state, err = other.State()
	goesOn := state.Status == decide.InProgress || slices.ContainsFunc(state.Notices, loop.Unsent)
	busy = other.Locked(0, func() error { return nil })
	if !errors.Is(busy, loopdir.ErrLocked) {
		busy = nil
	}
	return state, err != nil || state.Session == session && goesOn, busy
}

// detach takes a loop away from its session.
func (v verbs) detach(w io.Writer, l *loop.Loop) error {
	if err := v.PersonFor(l); err != nil {
		return err // the loop would stand still, and nobody would be told
	}
	was := ""
	_, err := l.Change("detach", func(_ *loop.Picture, next *decide.State) error {
		was = next.Session
		next.Release()
		return nil
	})
	if err != nil {
		return err
	}
	if was == "" {
		fmt.Fprintf(w, "%s: no session worked on it\n", plain.Line(l.At.Name, 100))
		return nil
	}
	fmt.Fprintf(w, "%s: session %s no longer works on it\n", plain.Line(l.At.Name, 100), plain.Line(was, 80))
	return nil
}
