// Package report tells in one file what became of a loop: what was asked, what was proven by which check, what it took
// and cost, which commits were made, how it ended and what to do.
package report

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/tree"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/watch"
)

// Report is all that a report says. Its texts are clean.
type Report struct {
	MadeAt time.Time `json:"madeAt"`
	watch.Detail
	Work              []Feature     `json:"work"`              // the features
	Commits           []tree.Commit `json:"commits"`           // those without a feature
	Earlier           int           `json:"earlierCommits"`    // omitted commits
	EarlierIterations int           `json:"earlierIterations"` // omitted iterations
	Took              time.Duration `json:"-"`
	TookSec           int64         `json:"tookSec"`

	NoItems *struct{} `json:"items,omitempty"` // always null: see work
}

// Feature is a feature with the commits that were made for it.
type Feature struct {
	watch.Item
	Commits []tree.Commit `json:"commits"`
}

// Make reads a loop and makes its report.
func Make(ctx context.Context, env loop.Env, dir string) (*Report, error) {
	d, err := watch.Open(env, dir)
	if err != nil {
		return nil, err
	}
	commits, earlier := Commits(ctx, env, d)
	r := Of(d, commits)
	r.Earlier = earlier
	return r, nil
}

// Commits returns the last commits that were made while a loop, or its last run, worked, and how many came before.
func Commits(ctx context.Context, env loop.Env, d *watch.Detail) (all []tree.Commit, earlier int) {
	from, to := span(d)
	if from.IsZero() {
		return nil, 0
	}
	run := ""
	if d.Run != nil {
		run = d.Run.ID
	}
	return tree.Commits(ctx, proc.EnvOutside(env.Vars, d.Project), d.Project, run, from, to)
}

// span returns when the loop, or its last run, began and ended. An end that has not come is now.
func span(d *watch.Detail) (from, to time.Time) {
	from, _ = time.Parse(time.RFC3339, d.StartedAt)
	to = time.Now()
	if ended, err := time.Parse(time.RFC3339, d.EndedAt); err == nil {
		to = ended
	}
	if d.Run != nil {
		from = d.Run.StartedAt
		if !d.Run.EndedAt.IsZero() {
			to = d.Run.EndedAt
		}
	}
	return from, to
}

// Of makes the report of a loop and the commits that were made while it worked.
func Of(d *watch.Detail, commits []tree.Commit) *Report {
	r := &Report{MadeAt: time.Now().UTC(), Detail: *d, Work: []Feature{}, Commits: []tree.Commit{}}
	from, to := span(d)
	if !from.IsZero() {
		r.Took = max(0, to.Sub(from)).Round(time.Second)
		r.TookSec = int64(r.Took.Seconds())
	}
	at := map[string]int{}
	for _, item := range d.Items {
		at[item.ID] = len(r.Work)
		r.Work = append(r.Work, Feature{Item: item, Commits: []tree.Commit{}})
	}
	for _, c := range commits {
		of := c.Features
		if len(of) == 0 && len(d.ByLane) == 0 {
			of = []string{worked(d.Iterations, c.At)}
		}
		known := false
		for _, id := range of {
			n, is := at[id]
			if is {
				r.Work[n].Commits = append(r.Work[n].Commits, c)
				known = true
			}
		}
		if !known {
			r.Commits = append(r.Commits, c)
		}
	}
	return r
}

// worked returns the feature that was worked on at a time. A stop of the hook names the feature that comes next, so
// there it is that of the last stop before.
func worked(all []record.Session, at time.Time) (feature string) {
	for _, i := range all {
		switch {
		case i.StartedAt.IsZero() && !i.EndedAt.After(at):
			feature = i.Feature
		case i.StartedAt.IsZero():
			return feature
		case !i.StartedAt.Truncate(time.Second).After(at) && !i.EndedAt.Before(at): // git knows seconds alone
			return i.Feature
		}
	}
	return feature
}

// maxListed is how many iterations Markdown and JSON list. The page folds them, so it has all.
const maxListed = 1000

// withLastIterations is a report that lists the last iterations alone, and says so.
func (r *Report) withLastIterations() *Report {
	bounded := *r
	bounded.EarlierIterations = max(0, len(r.Iterations)-maxListed)
	bounded.Iterations = r.Iterations[bounded.EarlierIterations:]
	return &bounded
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	text, err := jsontext.ForPages(r.withLastIterations())
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// OfLastRun says that the report has no sums of earlier runs, whose records are gone; "": the loop had no run.
func (r *Report) OfLastRun() string {
	if r.Run == nil {
		return ""
	}
	return "Time, cost and attempts are those of the last run."
}

// ProvenBy says which checks have proven the feature, and when.
func (f Feature) ProvenBy() (said []string) {
	for _, c := range f.Checks {
		said = append(said, fmt.Sprintf("%s, %s", c.Name, when(c.At)))
	}
	return said
}

// Duration says how long something took, "" if that is not known.
func Duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return plain.Duration(d)
}
