package verb

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// extension is what a person gives a loop: a new limit, or more of what it has.
type extension struct {
	iterations, moreIterations int // 0: not said
	deadline, moreTime         time.Duration
}

// Extend changes a limit.
func (v Verbs) Extend() *cobra.Command {
	var e extension
	cmd := &cobra.Command{
		Use:   "extend [NAME] [+MORE]",
		Short: "Raise a limit, and continue the loop",
		Example: strings.ReplaceAll("  @ extend +10             ten more iterations\n"+
			"  @ extend checkout +2h    two more hours", "@", v.Env.Program),
		RunE: cli.Run(func(w io.Writer, words []string) error {
			var name []string
			for _, word := range words {
				if !strings.HasPrefix(word, "+") {
					name = append(name, word)
				} else if e.setIterations(word) != nil && e.setDeadline(word) != nil {
					return cli.Usagef("extend by %q? say how many iterations, +10, or how much time, +2h",
						plain.Line(word, 80))
				}
			}
			switch {
			case len(name) > 1:
				return cli.Usagef("extend one loop at a time")
			case e == (extension{}):
				return cli.Usagef("extend what? say +10, +2h, --max-iterations N or --deadline T")
			}
			return v.OnLoop(func(w io.Writer, l *loop.Loop) error {
				err := v.revive(w, l, "extend", e.apply)
				if errors.Is(err, loopdir.ErrLocked) {
					return e.request(w, l, err)
				}
				return err
			})(w, name)
		}),
	}
	cmd.Flags().Func("max-iterations", "allow `N` iterations in all, or +N more", e.setIterations)
	cmd.Flags().Func("deadline", "allow the time `T` in all, such as 12h, or +T more",
		e.setDeadline)
	return cmd
}

// request gives more to a loop that a run works with lanes, whose checks run nearly always. Any other loop has to wait:
// what its checks run must not give it more.
func (e *extension) request(w io.Writer, l *loop.Loop, failed error) error {
	p, err := l.Look()
	if err != nil || len(p.Snapshot.State.Lanes) == 0 {
		return failed
	}
	next := p.Snapshot.Record()
	said, err := e.apply(p, &next)
	if err != nil {
		return err
	}
	r := loopdir.Request{Verb: loopdir.RequestExtend, Iterations: next.MaxIterations, Deadline: next.ExtendedDeadline}
	return later(w, l, request(l, r, failed), strings.TrimSuffix(said, "; "))
}

// RefuseIterations refuses a --max-iterations that ralph.json could not hold.
func RefuseIterations() error {
	return cli.Usagef("--max-iterations must be from 1 to %d", decide.MaxCount)
}

func (e *extension) setIterations(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return cli.Usagef("--max-iterations %q; want a number, such as 30 or +10", text)
	case n < 1 || n > decide.MaxCount:
		return RefuseIterations()
	case strings.HasPrefix(text, "+"):
		e.iterations, e.moreIterations = 0, n
	default:
		e.iterations, e.moreIterations = n, 0
	}
	return nil
}

func (e *extension) setDeadline(text string) error {
	t, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return cli.Usagef("--deadline %q; want a time, such as 90s, 12h or +2h", text)
	case t <= 0 || t > decide.MaxTime:
		return cli.Usagef("--deadline must be a time of more than 0, such as 12h, and at most %s",
			plain.Duration(decide.MaxTime))
	case strings.HasPrefix(text, "+"):
		e.deadline, e.moreTime = 0, t
	default:
		e.deadline, e.moreTime = t, 0
	}
	return nil
}

// apply changes the limits of a loop, and says what they are and were.
func (e *extension) apply(p *loop.Picture, next *decide.State) (said string, err error) {
	limits := p.Snapshot.Limits
	if e.iterations+e.moreIterations > 0 {
		before := next.Limit(limits)
		next.MaxIterations = e.iterations
		if e.moreIterations > 0 {
			next.MaxIterations = min(max(before, next.Iteration)+e.moreIterations, decide.MaxCount)
		}
		after := next.Limit(limits)
		said += fmt.Sprintf("at most %s in all, %s; ", plain.Count(after, "iteration"),
			compared(after, before, strconv.Itoa(before)))
		if after < next.MaxIterations {
			said += "your own ceiling for all loops allows no more; "
		}
	}
	if e.deadline+e.moreTime == 0 {
		return said, nil
	}
	before, ran := next.Deadline(limits), time.Duration(0)
	if !next.StartedAt.IsZero() {
		ran = time.Since(next.StartedAt)
	}
	next.ExtendedDeadline = e.deadline
	if e.moreTime > 0 {
		if before == 0 {
			return "", fmt.Errorf("the loop has no deadline, so its time needs no more; --deadline T gives it one")
		}
		next.ExtendedDeadline = min((max(before, ran) + e.moreTime).Round(time.Second), decide.MaxTime)
	}
	after := next.Deadline(limits)
	was := "it had no deadline"
	if before > 0 {
		was = compared(after, before, plain.Duration(before))
	}
	until := "from its first prompt on"
	if !next.StartedAt.IsZero() {
		until = "until " + say.Clock(next.StartedAt.Add(after))
	}
	said += fmt.Sprintf("at most %s in all, %s, %s; ", plain.Duration(after), until, was)
	if after < next.ExtendedDeadline {
		said += "your own ceiling for all loops allows no more; "
	}
	return said, nil
}

// compared says what became of a limit.
func compared[T int | time.Duration](after, before T, shown string) string {
	switch {
	case after < before:
		return "lowered from " + shown
	case after > before:
		return "raised from " + shown
	}
	return "as before"
}
