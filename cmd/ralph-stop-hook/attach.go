package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/claude"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/host"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

func (v verbs) attach() *cli.Command {
	var session string
	cmd := v.Loop("attach", "Give a loop to a session, as its prompt would", func(w io.Writer, l *loop.Loop) error {
		own := cmp.Or(v.Env.Get(claude.SessionID), host.Caller(boot.Hosts, v.Env.Get))
		session = cmp.Or(session, own)
		if !loopdir.ValidSession(session) {
			return cli.Usagef("which session? inside Claude Code it is the calling one; elsewhere say --session ID " +
				"('claude --resume' lists them)")
		}
		if err := v.PersonOnly(); err != nil {
			switch {
			case session != own:
				return fmt.Errorf("session %s is not the calling session; %w", session, err)
			case v.worksAnother(session, l):
				return fmt.Errorf("session %s works on another loop, which is not over; %w", session, err)
			}
		}
		next, err := l.Change("attach", func(p *loop.Picture, next *decide.State) error {
			d := decide.Attach(p.Snapshot, session)
			if err := say.Refused(p, d); err != nil {
				return err
			}
			*next = d.Next
			owner := proc.Find(claude.Vars(v.Env.Get).PID())
			next.SessionPID, next.ClientStart = owner.PID, owner.Start
			return l.Store.Bind(session)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: session %s works on it now, at iteration %d\n", plain.Line(l.At.Name, 100), session,
			next.Iteration)
		return nil
	})
	cmd.Flags.StringVar(&session, "session", "", "the session's `ID` (default inside Claude Code: its own)")
	return cmd
}

// worksAnother reports whether the session has a loop that goes on, other than l. An
// agent must not leave it for one that asks less.
func (v verbs) worksAnother(session string, l *loop.Loop) bool {
	where := v.Env.Where()
	where.Session = session
	own, err := where.Own()
	if own == nil || own.Dir == l.At.Dir {
		return false
	}
	if err != nil {
		return true
	}
	other, err := own.Open()
	if err != nil {
		return true
	}
	defer other.Close()
	state, err := other.State()
	return err != nil || state.Session == session && state.Status == decide.InProgress
}

func (v verbs) detach() *cli.Command {
	const short = "Take a loop away from its session; it waits for its prompt, or for attach"
	return v.Loop("detach", short, func(w io.Writer, l *loop.Loop) error {
		if err := v.PersonOnly(); err != nil {
			return err // the loop would stand still, and nobody would be told
		}
		was := ""
		_, err := l.Change("detach", func(_ *loop.Picture, next *decide.State) error {
			was = next.Session
			next.Release()
			return nil
		})
		switch {
		case err != nil:
			return err
		case was == "":
			fmt.Fprintf(w, "%s: no session worked on it\n", plain.Line(l.At.Name, 100))
		default:
			fmt.Fprintf(w, "%s: session %s no longer works on it\n", plain.Line(l.At.Name, 100), plain.Line(was, 80))
		}
		return nil
	})
}
