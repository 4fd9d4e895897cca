package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func attachCommand() *command {
	var session string
	cmd := loopVerb("attach", "Give a loop to a session, as its prompt would", func(w io.Writer, s *loopdir.Store) error {
		session = cmp.Or(session, os.Getenv("CLAUDE_CODE_SESSION_ID"))
		if !loopdir.ValidSession(session) {
			return &usageError{errors.New("which session? inside Claude Code it is the one that asks; elsewhere say --session ID ('claude --resume' lists them)")}
		}
		if worksAnother(session, s) {
			if err := personOnly(); err != nil {
				return fmt.Errorf("session %s works another loop, which goes on; %w", session, err)
			}
		}
		next, err := change(s, "attach", func(l *loaded, next *decide.State) error {
			// The same question as a prompt's, so the same answer.
			l.snap.Event, l.snap.Session, l.snap.Marked = decide.PromptSubmit, session, true
			l.snap.Now = time.Now()
			d := decide.Decide(l.snap)
			switch d.Verdict {
			case decide.Take:
			case decide.End:
				return fmt.Errorf("progress.txt says %s; set it to IN_PROGRESS first", d.Next.Status)
			default:
				return errors.New(strings.TrimPrefix(wordsTell(l, d), "ralph: "))
			}
			*next = d.Next
			next.SessionPID, next.ClientStart = client()
			return s.Bind(session)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: session %s works it now, at iteration %d\n", plain.Line(s.Name, 100), session, next.Iteration)
		return nil
	})
	cmd.flags.StringVar(&session, "session", "", "the session's `ID`; inside Claude Code its own, where none is said")
	return cmd
}

// worksAnother tells whether the session has a loop that goes on, other than s. An
// agent must not leave it for one that asks less.
func worksAnother(session string, s *loopdir.Store) bool {
	w := where()
	w.Session = session
	own, err := w.Own()
	if err != nil || own == nil || own.Dir == s.Dir {
		return false
	}
	other, err := own.Open()
	if err != nil {
		return true
	}
	defer other.Close()
	state, err := other.State()
	return err != nil || state.Session == session && state.Status == decide.InProgress
}

func detachCommand() *command {
	return loopVerb("detach", "Take a loop from its session; it waits for its prompt, or for attach", func(w io.Writer, s *loopdir.Store) error {
		was := ""
		if _, err := change(s, "detach", func(_ *loaded, next *decide.State) error {
			was = next.Session
			next.Release()
			return nil
		}); err != nil {
			return err
		}
		if was == "" {
			fmt.Fprintf(w, "%s: no session worked it\n", plain.Line(s.Name, 100))
			return nil
		}
		fmt.Fprintf(w, "%s: session %s does not work it any more\n", plain.Line(s.Name, 100), plain.Line(was, 80))
		return nil
	})
}
