package mcp

import (
	"context"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// TaskGet asks how a loop stands.
type TaskGet struct {
	ID              string `json:"id,omitempty"`
	IncludeSubtasks bool   `json:"includeSubtasks,omitempty"`
}

// Task is how a loop stands.
type Task struct {
	ID              string    `json:"id"`
	Title           string    `json:"title,omitempty"`
	Status          string    `json:"status"`
	LoopStatus      string    `json:"loopStatus,omitempty"`
	ExitReason      string    `json:"exitReason,omitempty"`
	IterationID     string    `json:"iterationId,omitempty"`
	IterationNumber int       `json:"iterationNumber"`
	MaxIterations   int       `json:"maxIterations"`
	Owner           string    `json:"owner"`
	Feature         *Feature  `json:"feature,omitempty"`
	Features        Counts    `json:"features"`
	Subtasks        []Subtask `json:"subtasks,omitempty"`
	Needs           string    `json:"needs,omitempty"`
	HookCount       int       `json:"hookCount"`
	CheckpointCount int       `json:"checkpointCount"`
}

// Feature is the feature to work on.
type Feature struct {
	ID          string `json:"id"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Attempts    int    `json:"attempts,omitempty"`
}

// Counts counts the features of a list.
type Counts struct {
	Total  int `json:"total"`
	Passed int `json:"passed"` // as the list claims
	Proven int `json:"proven"` // by our own checks
	Open   int `json:"open"`
}

// Subtask is a feature of the list.
type Subtask struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	State string `json:"state"`
}

// maxSubtasks is how many features are listed.
const maxSubtasks = 100

// Task answers task_get.
func (d *Desk) Task(ctx context.Context, call Call, in TaskGet) (Task, error) {
	k, err := d.open(call, in.ID)
	if err != nil {
		return Task{}, err
	}
	defer k.Close()
	v, err := verb.Of(ctx, k.Loop)
	if err != nil {
		return Task{}, err
	}
	p, err := k.Look()
	if err != nil {
		return Task{}, err
	}
	kept, err := k.checkpoints()
	if err != nil {
		return Task{}, err
	}
	t := Task{
		ID: v.Name, Title: plain.Line(p.Config.Task, 300), Status: word(v, p.Snapshot.State),
		LoopStatus: string(v.Status), ExitReason: v.ExitReason, IterationID: k.ID(), IterationNumber: v.Iteration,
		MaxIterations: v.MaxIterations, Owner: k.owner, Needs: plain.Line(v.Needs, 500), Features: counts(v.Features),
		HookCount: len(k.hooks(p)), CheckpointCount: len(kept.All),
	}
	if t.Needs == "" {
		t.Needs = plain.Line(v.Doom, 500)
	}
	if err := k.certain(); err != nil {
		t.Needs = err.Error()
	}
	if item, open := p.Snapshot.List.Next(); open && v.Status == decide.InProgress {
		t.Feature = &Feature{
			ID: plain.Line(item.ID, 80), Title: plain.Line(item.Title(), 200),
			Description: plain.Line(item.Description(), 600),
		}
		if item.ID == p.Snapshot.State.Feature {
			t.Feature.Attempts = p.Snapshot.State.Attempts
		}
	}
	if in.IncludeSubtasks {
		t.Subtasks = subtasks(ctx, p)
	}
	return t, nil
}

func counts(c decide.Counts) Counts {
	return Counts{Total: c.Total, Passed: c.Passed, Proven: c.Proven, Open: c.Total - c.Passed}
}

// word returns how a loop stands in the words of task_get.
func word(v verb.Status, s decide.State) string {
	switch {
	case v.Status == decide.Complete:
		return "completed"
	case v.Status == decide.Cancelled:
		return "cancelled"
	case !v.Status.GoesOn():
		return "blocked"
	case s.Schema == 0 || s.Session == "":
		return "pending"
	}
	return "in_progress"
}

func subtasks(ctx context.Context, p *loop.Picture) (all []Subtask) {
	p.Snapshot.Contents = p.Contents(ctx)
	proven := p.Snapshot.Proofs()
	items := p.Snapshot.List.Items
	for _, item := range items[:min(len(items), maxSubtasks)] {
		all = append(all, Subtask{
			ID: plain.Line(item.ID, 80), Title: plain.Line(verb.Title(item), 200), State: state(item, proven),
		})
	}
	return all
}

func state(item features.Item, proven map[string]decide.FeatureProof) string {
	switch of := proven[item.ID]; {
	case !item.Passes:
		return "open"
	case of.Proven && of.Stale:
		return "stale"
	case of.Proven:
		return "proven"
	}
	return "claimed"
}

// rule returns the results of the checks and of the agent's rules, each once, the newest first.
func results(p *loop.Picture, message string) []agenthook.Result {
	all, seen := []agenthook.Result{}, map[[2]string]bool{}
	for _, r := range append(append([]decide.Receipt{}, p.Snapshot.Results...), p.Snapshot.Receipts...) {
		if key := [2]string{r.Check, r.Feature}; !seen[key] {
			seen[key] = true
			text := "ok"
			if !r.Passed {
				text = plain.Text(r.Tail, 4000)
			}
			all = append(all, agenthook.Result{Name: plain.Line(r.Name+" "+r.Feature, 200), Passed: r.Passed, Message: text})
		}
	}
	return append(all, p.AgentRules(message)...)
}
