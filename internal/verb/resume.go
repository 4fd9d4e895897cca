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

// Resume continues a loop that has ended, and may give it more than it had.
func (v Verbs) Resume() *cobra.Command {
	return &cobra.Command{
		Use:   "resume [NAME] [+N]...",
		Short: "Continue a loop; +N gives it N more iterations",
		Long: "Continue a loop that has ended, or start one that came with the repository.\n" +
			"+N gives it N more iterations; a time such as +2h moves its deadline.",
		Example: strings.ReplaceAll("  @ resume checkout        continue it\n"+
			"  @ resume +10             ten more iterations\n"+
			"  @ resume checkout +2h    two more hours", "@", v.Env.Program),
		RunE: cli.Run(func(w io.Writer, words []string) error {
			more, name, err := TakeMore(words)
			if err != nil {
				return err
			}
			return v.OnLoop(func(w io.Writer, l *loop.Loop) error { return v.Continue(w, l, more) })(w, name)
		}),
	}
}

// More is what a person gives a loop beside what it has.
type More struct {
	Iterations int           // 0: none
	Time       time.Duration // 0: none
}

// TakeMore takes the words that begin with + out of a command line.
func TakeMore(words []string) (m More, rest []string, err error) {
	for _, word := range words {
		if !strings.HasPrefix(word, "+") {
			rest = append(rest, word)
			continue
		}
		n, notCount := strconv.Atoi(word)
		t, notTime := time.ParseDuration(word)
		switch {
		case notCount == nil && n > 0 && n <= decide.MaxCount:
			m.Iterations = n
		case notCount != nil && notTime == nil && t > 0 && t <= decide.MaxTime:
			m.Time = t
		default:
			return m, nil, cli.Usagef("%s? say how many more iterations, +10, or how much more time, +2h",
				plain.Line(word, 80))
		}
	}
	if len(rest) > 1 {
		return m, nil, cli.Usagef("resume one loop at a time; a number of iterations begins with a +, such as +3")
	}
	return m, rest, nil
}

// Continue puts a loop back to work, with more than it had, and says how it goes on.
func (v Verbs) Continue(w io.Writer, l *loop.Loop, m More) error {
	if err := v.PersonFor(l); err != nil {
		return err
	}
	var picture *loop.Picture
	said := ""
	next, err := l.Revive(background(), func(p *loop.Picture, next *decide.State) (err error) {
		picture = p
		said, err = m.Give(p, next)
		return err
	})
	if errors.Is(err, loopdir.ErrLocked) && m != (More{}) {
		return m.request(w, l, err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %scontinues at iteration %d of %d\n  %s\n", name(l), said, iterationOf(next),
		next.Header.MaxIterations, say.GoOn(picture, next))
	picture, err = l.Look()
	if err != nil {
		return err
	}
	warnings := say.Warnings(picture)
	lost, _ := say.LoopHookProblem(picture, next)
	if lost != "" {
		warnings = append(warnings, lost)
	}
	for _, warning := range warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	return nil
}

// iterationOf returns the iteration in which a loop continues: if the session of its last one was over when it ended,
// a fresh session begins the next one.
func iterationOf(next decide.State) int {
	if next.Run() != "" && next.Judged {
		return next.Iteration + 1
	}
	return next.Iteration
}

// request gives more to a loop that a run works with lanes, whose checks run nearly always. Any other loop has to wait:
// what its checks run must not give it more.
func (m More) request(w io.Writer, l *loop.Loop, failed error) error {
	p, err := l.Look()
	if err != nil || len(p.Snapshot.State.Lanes) == 0 {
		return failed
	}
	next := p.Snapshot.Record()
	said, err := m.Give(p, &next)
	if err != nil {
		return err
	}
	r := loopdir.Request{Verb: loopdir.RequestMore, Iterations: next.MaxIterations, Deadline: next.ExtendedDeadline}
	return later(w, l, request(l, r, failed), strings.TrimSuffix(said, "; "))
}

// RefuseIterations refuses a --max-iterations that ralph.json could not hold.
func RefuseIterations() error {
	return cli.Usagef("--max-iterations must be from 1 to %d", decide.MaxCount)
}

// Give raises the limits of a loop, and says what they are and were. A loop that has used more than its limit gets more
// than it has used.
func (m More) Give(p *loop.Picture, next *decide.State) (said string, err error) {
	limits := p.Snapshot.Limits
	if m.Iterations > 0 {
		before := next.Limit(limits)
		next.MaxIterations = min(max(before, next.Iteration)+m.Iterations, decide.MaxCount)
		after := next.Limit(limits)
		said += fmt.Sprintf("at most %s in all, %s; ", plain.Count(after, "iteration"),
			raised(after, before, strconv.Itoa(before)))
		if after < next.MaxIterations {
			said += atCeiling
		}
	}
	if m.Time == 0 {
		return said, nil
	}
	before, ran := next.Deadline(limits), time.Duration(0)
	if before == 0 {
		return "", errors.New("the loop has no deadline, so its time needs no more")
	}
	if !next.StartedAt.IsZero() {
		ran = time.Since(next.StartedAt)
	}
	next.ExtendedDeadline = min((max(before, ran) + m.Time).Round(time.Second), decide.MaxTime)
	after := next.Deadline(limits)
	until := "from its first prompt on"
	if !next.StartedAt.IsZero() {
		until = "until " + say.Clock(next.StartedAt.Add(after))
	}
	said += fmt.Sprintf("at most %s in all, %s, %s; ", plain.Duration(after), until,
		raised(after, before, plain.Duration(before)))
	if after < next.ExtendedDeadline {
		said += atCeiling
	}
	return said, nil
}

const atCeiling = "your own ceiling for all loops allows no more; "

// raised says what became of a limit.
func raised[T int | time.Duration](after, before T, shown string) string {
	if after > before {
		return "raised from " + shown
	}
	return "as before"
}
