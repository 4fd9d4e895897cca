package verb

import (
	"cmp"
	"fmt"
	"io"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// prompt shows what the agent would be told now.
func (v Verbs) prompt(w io.Writer, args []string) error {
	return v.OnLoop(func(w io.Writer, l *loop.Loop) error {
		p, err := l.Look()
		if err != nil {
			return err
		}
		p.AskTracker(background())
		d, need := decide.Preview(p.Snapshot)
		switch {
		case need.Kind != decide.NeedNothing:
			fmt.Fprintf(w,
				"that depends on the checks and evaluators, which a stop runs; '%s verify' runs the checks\n",
				v.Env.Program)
			return nil
		case d.Verdict == decide.Pass:
			s := p.Snapshot.State
			s.Status = cmp.Or(s.Status, decide.Status(plain.Line(p.Snapshot.Header.Status, 80)))
			return fmt.Errorf("the agent would be told nothing: the loop is %s; %s", s.Status, say.Continues(p, s))
		case d.Verdict == decide.Continue:
			if s := p.Snapshot.State; s.Session == "" && s.Iteration <= 1 {
				fmt.Fprint(w, "No session works on the loop yet. One that begins now is told this at its first stop:\n\n")
			}
			fmt.Fprint(w, say.Prompt(p, d, ""))
			return nil
		}
		fmt.Fprintln(w, say.DecisionAnswer(p, d).Message)
		return nil
	})(w, args)
}
