package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
)

// judge decides whether the session that has ended did its step's own part. The answer is kept before the loop hears
// of the session: a run that is killed then knows it. There is none if a person stopped the run meanwhile.
func (r *Run) judge(ctx context.Context) error {
	step, c := r.Record.Step(), r.Record.Current
	if step == nil || c == nil || !c.HasEnded() || c.Part != nil {
		return nil
	}
	s, err := r.lookAt()
	if err != nil {
		return err
	}
	part := &record.Part{Done: r.claims(step, c, &s.Picture.Snapshot)}
	if part.Done {
		watched, stop := context.WithCancel(ctx)
		defer stop()
		go r.watch(watched, stop)
		ctx = watched
		for _, line := range step.Checks {
			part.Failed, err = r.check(ctx, line)
			if err != nil {
				return err
			}
			part.Checks = append(part.Checks, record.Check{Name: plain.Line(line, 200), Passed: part.Failed == ""})
			if part.Failed != "" {
				part.Done = false
				break
			}
		}
	}
	if ctx.Err() != nil && part.Failed != "" {
		return nil // it was cut off; when the run goes on, the checks run again
	}
	byStatus := s.Picture.Snapshot.NoList && c.Claimed && len(step.Checks) > 0
	part.Claims = part.Done && (!step.Loop || byStatus)
	c.Part = part
	r.Screen.ShowJudgement(r.Record, *part)
	return r.save()
}

// claims reports whether a step may be over with a session, so that its own checks are run. A review that leaves
// features open need not say that it is done: another one follows when they are built.
func (r *Run) claims(step *record.Step, c *record.Current, s *decide.Snapshot) bool {
	claims := c.Claimed || slices.Contains(c.Signals, record.Marker)
	open := s.List.Passed() < len(s.List.Items)
	switch said, _ := decide.ReadPromise(c.Message, r.pattern); {
	case said != "" && said != decide.Complete: // a person is needed
		return false
	case step.Reviews && open && !c.Class().Breaks():
		return true
	case !step.Loop:
		return claims
	case len(step.Checks) == 0: // its end is the loop's
		return true
	case s.NoList:
		return claims
	}
	return !open || len(s.Evaluators) > 0
}

// maxFailed is how many bytes of a check's output are kept.
const maxFailed = 4000

// check runs a check of a step. It returns the end of what the check said if it does not hold, else nothing.
func (r *Run) check(ctx context.Context, line string) (failed string, err error) {
	p, done, err := r.look()
	if err != nil {
		return "", err
	}
	defer done()
	r.Screen.Check(line)
	output, err := p.RunLine(ctx, line)
	switch {
	case err == nil:
		return "", nil
	case errors.As(err, new(loop.CopyError)):
		return "", err
	}
	text := plain.End(string(output)+"\n"+err.Error(), maxFailed)
	return fmt.Sprintf("%s\n%s", plain.Line(line, 200), strings.TrimSpace(text)), nil
}
