package verb

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Cancel ends a loop.
func (v Verbs) Cancel() *cli.Command {
	return v.Loop("cancel", "End a loop; only resume brings it back", func(w io.Writer, l *loop.Loop) error {
		// A person's request is written first, without the lock: it holds even if nothing else can
		// be written. An agent's request counts only together with a notice of it.
		if !v.Env.ByAgent {
			if err := l.Store.AskCancel(); err != nil {
				return fmt.Errorf("cannot cancel: %w", err)
			}
		}
		over := false
		next, err := v.stop(l, "cancel", func(_ *loop.Picture, next *decide.State) error {
			over = !next.Status.GoesOn() && next.Status != decide.Paused
			switch {
			case next.Status == decide.Cancelled:
				return nil
			case over:
				return l.Store.ClearCancel()
			}
			next.Status, next.ExitReason, next.EndedAt = decide.Cancelled, v.caller(), time.Now()
			next.Endings++
			next.Feature, next.Attempts = "", 0
			return nil
		})
		if err != nil && v.Env.ByAgent {
			return fmt.Errorf("cannot cancel: %w", err)
		}
		if err != nil {
			fmt.Fprintf(w, "%s: cancelled; the next stop ends it\n", name(l))
			return fmt.Errorf("the loop's own files could not be brought up to date: %w", err)
		}
		if over {
			fmt.Fprintf(w, "%s is over already: %s (%s)\n", name(l), next.Status, next.ExitReason)
			return nil
		}
		fmt.Fprintf(w, "%s: cancelled at iteration %d; '%s' brings it back\n", name(l), next.Iteration,
			l.Call("resume"))
		return nil
	})
}

// caller returns who stops a loop with a verb.
func (v Verbs) caller() string {
	if v.Env.ByAgent {
		return decide.ByAgent
	}
	return decide.ByPerson
}

// stop is Loop.Change for a verb that stops the loop. If an agent calls it, the notifiers are
// told, but none that the agent's environment names.
func (v Verbs) stop(l *loop.Loop, verb string, edit func(*loop.Picture, *decide.State) error) (decide.State, error) {
	if v.Env.ByAgent {
		l.Env.OnComplete = ""
	}
	next, err := l.Change(verb, edit)
	if err == nil && v.Env.ByAgent {
		_ = l.Tell(background()) // else the next event of the session does
	}
	return next, err
}

// Pause lets the next turn end.
func (v Verbs) Pause() *cli.Command {
	return v.Loop("pause", "Let the next turn end; resume continues the loop", func(w io.Writer, l *loop.Loop) error {
		next, err := v.stop(l, "pause", func(_ *loop.Picture, next *decide.State) error {
			if !next.Status.GoesOn() {
				return fmt.Errorf("nothing to pause: the loop is %s (%s)", next.Status, next.ExitReason)
			}
			next.Status, next.ExitReason, next.EndedAt = decide.Paused, v.caller(), time.Now()
			next.Endings++
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: paused at iteration %d; '%s' continues it\n", name(l), next.Iteration, l.Call("resume"))
		return nil
	})
}

// Resume continues a loop that has ended.
func (v Verbs) Resume() *cli.Command {
	const short = "Continue a loop that has ended, or begin one that came with the repository"
	return v.Loop("resume", short, func(w io.Writer, l *loop.Loop) error {
		return v.revive(w, l, "resume", func(*decide.State) {})
	})
}

// Extend raises a limit.
func (v Verbs) Extend() *cli.Command {
	var iterations int
	var deadline time.Duration
	var cmd *cli.Command
	const short = "Raise a limit of a loop, and continue it if it had reached the limit"
	cmd = v.Loop("extend", short, func(w io.Writer, l *loop.Loop) error {
		byCount, byTime := cmd.Given("max-iterations"), cmd.Given("deadline")
		switch {
		case !byCount && !byTime:
			return cli.Usagef("extend what? say --max-iterations N or --deadline T")
		case byCount && (iterations < 1 || iterations > decide.MaxCount):
			return ErrIterations
		case byTime && deadline <= 0:
			return cli.Usagef("--deadline must be a duration of more than 0, such as 12h")
		}
		return v.revive(w, l, "extend", func(next *decide.State) {
			if byCount {
				next.Extended, next.Lowered = iterations, 0
			}
			if byTime {
				next.ExtendedDeadline = deadline
			}
		})
	})
	cmd.Flags.IntVar(&iterations, "max-iterations", 0, "the iterations, `N`, that the loop may have in all")
	cmd.Flags.DurationVar(&deadline, "deadline", 0,
		"the time, `T`, that it may take in all, from when it began, such as 12h")
	return cmd
}

// ErrIterations refuses a --max-iterations that ralph.json could not hold.
var ErrIterations = cli.Usagef("--max-iterations must be from 1 to %d", decide.MaxCount)

// revive lets a loop continue, and says how.
func (v Verbs) revive(w io.Writer, l *loop.Loop, verb string, edit func(*decide.State)) error {
	if err := v.PersonOnly(); err != nil {
		return err
	}
	next, err := l.Revive(background(), verb, edit)
	if err != nil {
		return err
	}
	then := "type anything in session " + plain.Line(next.Session, 80)
	switch {
	case next.Session != "":
	case next.Bind == decide.BindPrompt:
		prompt := plain.Line(filepath.Join(l.At.Dir, loopdir.PromptFile), 4096)
		then = "start a session with its prompt: " + say.StartLine(prompt)
	default:
		then = "the first session that stops in the project works on it"
	}
	fmt.Fprintf(w, "%s: continues at iteration %d of %d; %s\n", name(l), next.Iteration, next.Header.MaxIterations, then)
	return nil
}
