package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/hookio"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

func nextCommand() *command {
	return loopVerb("next", "Show what the agent would be told now", func(w io.Writer, s *loopdir.Store) error {
		l, err := load(s, hookio.Event{Name: decide.Stop, SessionID: "next"}, time.Now())
		if err != nil {
			return err
		}
		l.freshen()
		// Asked as its owner would, at a tree that is always another one.
		if l.snap.State.Session != "" {
			l.snap.Session = l.snap.State.Session
		}
		l.snap.State.Session, l.snap.State.Bind, l.snap.Bind, l.snap.FreshClone = l.snap.Session, "", "", false
		l.snap.Tree, l.snap.Tail = "next", &decide.Tail{}
		d := decide.Decide(l.snap)
		d.Next.Loop, d.Next.Name, d.Next.List = s.Dir, s.Name, l.listPath()
		switch d.Verdict {
		case decide.Pass:
			status := cmp.Or(string(l.snap.State.Status), plain.Line(l.snap.Header.Status, 80))
			return fmt.Errorf("the agent would be told nothing: the loop is %s; '%s' takes it up again", status, doer(s.Name)("resume"))
		case decide.Continue:
			fmt.Fprint(w, wordsPrompt(l, d))
			return nil
		case decide.NeedChecks, decide.NeedAnswer:
			fmt.Fprintln(w, "that depends on the checks and evaluators, which a stop runs; 'ralph-stop-hook verify' runs the checks")
			return nil
		}
		fmt.Fprintln(w, wordsAnswer(l, d).Message)
		return nil
	})
}
