package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Complete claims that a loop is complete, or says that it needs a person.
type Complete struct {
	OfIteration
	CompletionPromise string `json:"completionPromise"`
	Reason            string `json:"reason,omitempty"`
}

// Completed says what became of the claim.
type Completed struct {
	IterationID       string   `json:"iterationId"`
	TaskID            string   `json:"taskId"`
	CompletedAt       string   `json:"completedAt,omitempty"`
	TotalIterations   int      `json:"totalIterations"`
	CompletionPromise string   `json:"completionPromise"`
	Accepted          bool     `json:"accepted"`
	Missing           []string `json:"missing,omitempty"`
}

// complete answers iteration_complete.
func (k *desk) complete(ctx context.Context, in Complete) (Completed, error) {
	p, err := k.Look()
	if err != nil {
		return Completed{}, err
	}
	claim, words := decide.ClaimOf(in.CompletionPromise), p.Agent.Words()
	if !slices.Contains(words, claim.Word) && !claim.AsksForPerson() { // a person may always be asked for
		//lint:ignore ST1005 callers know these words
		return Completed{}, fmt.Errorf("Invalid completion promise: %s. Must be one of: %s",
			plain.Line(in.CompletionPromise, 100), plain.Line(strings.Join(words, ", "), 300))
	}
	c := Completed{
		IterationID: k.ID(), TaskID: k.name(), TotalIterations: p.Snapshot.Record().Iteration,
		CompletionPromise: claim.Tag(),
	}
	message := claim.Tag()
	if why := plain.Line(in.Reason, 500); why != "" && claim.AsksForPerson() {
		message = fmt.Sprintf("<promise>%s: %s</promise>", claim.Word, strings.ReplaceAll(why, "<", "("))
	}
	want := claim.Status
	if k.endError() != nil {
		k.finish(ctx)
		c.Accepted = k.state.Status == want
		if c.Accepted {
			c.CompletedAt = plain.Instant(k.state.EndedAt)
		} else {
			c.Missing = []string{k.endError().Error()}
		}
		return c, nil
	}
	if err := k.works(); err != nil {
		return Completed{}, err
	}
	return k.claim(ctx, c, message, want)
}

// claim decides with the claim as the agent's last message. A run ends its loop itself, when the session is over.
func (k *desk) claim(ctx context.Context, c Completed, message string, want decide.Status) (Completed, error) {
	byRun := k.state.Run() != ""
	if byRun && want != decide.Complete {
		c.Missing = []string{"end your turn, with the last line: " + message}
		return c, nil
	}
	j, err := k.judge(ctx, "iteration_complete", message, agenthook.Draft{}, func(d decide.Decision) bool {
		return !byRun && d.Next.Status == want
	})
	if err != nil {
		return c, err
	}
	d := j.Decision
	c.Accepted = d.Verdict == decide.End && d.Next.Status == want
	if !c.Accepted {
		c.Missing = j.missing(maxAnswer)
		return c, nil
	}
	if !byRun {
		c.CompletedAt = plain.Instant(d.Next.EndedAt)
		k.Notify(context.WithoutCancel(ctx), k.event("iteration_complete", message), j.Step)
	}
	return c, nil
}

// finish finishes what a server that was killed began: the header of progress.txt, and the notice of the ending.
func (k *desk) finish(ctx context.Context) {
	k.Store.FinishCommit(loop.LockWait)
	_ = k.Tell(context.WithoutCancel(ctx)) // what is not told now is told later
}
