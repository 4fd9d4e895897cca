package mcp

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/verb"
)

// TaskGet asks how a loop stands.
type TaskGet struct {
	ID              string `json:"id,omitempty"`
	IncludeSubtasks bool   `json:"includeSubtasks,omitempty"`
}

func (t TaskGet) open(d *Desk, call Call) (*desk, error) { return d.open(call, t.ID) }

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
	More            int       `json:"moreSubtasks,omitempty"` // for which there was no room
	Needs           string    `json:"needs,omitempty"`
	HookCount       int       `json:"hookCount"`
	CheckpointCount int       `json:"checkpointCount"`
}

// Feature is the feature to work on.
type Feature struct {
	ID          string   `json:"id"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Must        []string `json:"mustHold,omitempty"` // for it to pass
	Attempts    int      `json:"attempts,omitempty"`
}

// Counts counts the features of a list.
type Counts struct {
	Total    int `json:"total"`
	Passed   int `json:"passed"` // as the list claims
	Proven   int `json:"proven"` // by our own checks
	Claimed  int `json:"claimed"`
	SetAside int `json:"setAside"`
	Added    int `json:"added"`
	Open     int `json:"open"`
}

// Subtask is a feature of the list.
type Subtask struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	State string `json:"state"`
}

// maxAnswer is the room for what grows with the list or with the output of checks, in bytes. Some clients put all of an
// answer into the conversation, and Claude Code shows the first 2 KB of what has more than 50.
const maxAnswer = 6000

// task answers task_get.
func (k *desk) task(_ context.Context, in TaskGet) (Task, error) {
	p, err := k.Look()
	if err != nil {
		return Task{}, err
	}
	v := verb.Quick(p)
	kept, err := k.checkpoints()
	if err != nil {
		return Task{}, err
	}
	c := v.Features
	t := Task{
		ID: v.Name, Title: plain.Line(p.Config.Task, 300), Status: word(v, p.Snapshot.State),
		LoopStatus: string(v.Status), ExitReason: v.ExitReason, IterationID: k.ID(), IterationNumber: v.Iteration,
		MaxIterations: v.MaxIterations, Owner: k.owner, Needs: plain.Line(cmp.Or(v.Needs, v.Doom), 500),
		Features: Counts{
			Total: c.Total, Passed: c.Passed, Proven: c.Proven, Claimed: c.Claimed, SetAside: c.SetAside, Added: c.Added,
			Open: c.Remaining(),
		},
		HookCount: len(k.hooks(p)), CheckpointCount: len(kept.All),
	}
	if problem := unread(p); problem != "" {
		t.Needs = problem
	}
	if err := k.certain(); err != nil {
		t.Needs = err.Error()
	}
	if item, open := p.Snapshot.Next(); open && v.Status == decide.InProgress {
		t.Feature = &Feature{
			ID: plain.Line(item.ID, 80), Title: plain.Line(item.Title(), 200),
			Description: plain.Line(item.Description(), 1000), Must: mustHold(item),
		}
		if item.ID == p.Snapshot.State.Feature {
			t.Feature.Attempts = p.Snapshot.State.Attempt()
		}
	}
	if in.IncludeSubtasks {
		t.Subtasks, t.More = subtasks(p)
	}
	return t, nil
}

// unread says why the list cannot be read, and what to do; "" if it can be.
func unread(p *loop.Picture) string {
	err := p.Snapshot.List.Err
	if err == nil {
		return ""
	}
	return fmt.Sprintf("the feature list cannot be read: %s; repair %s", plain.Line(err.Error(), 500),
		plain.Path(p.Loop.At.Project, p.ListName()))
}

// mustHold returns the points that a feature has to meet. Its last line counts the points for which there is no room.
func mustHold(item features.Item) []string {
	points, more := say.Points(item.Acceptance(), maxAnswer)
	if more > 0 {
		points = append(points, "and in the list "+plain.Count(more, "more point"))
	}
	return points
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

func subtasks(p *loop.Picture) (all []Subtask, more int) {
	items, states := p.Snapshot.List.Items, p.Snapshot.FeatureStates()
	size := 0
	for i, item := range items {
		s := Subtask{ID: plain.Line(item.ID, 80), Title: plain.Line(verb.Title(item), 200), State: states[i]}
		size += len(s.ID) + len(s.Title) + len(`{"id":"","title":"","state":"claimed"},`)
		if size > maxAnswer {
			return all, len(items) - i
		}
		all = append(all, s)
	}
	return all, 0
}

// results returns the results of the checks and of the agent's rules, each once, the newest first.
func results(p *loop.Picture, message string) []agenthook.Result {
	all := []agenthook.Result{}
	room := maxAnswer
	for _, r := range agenthook.Latest(&p.Snapshot) {
		text := "ok"
		if !r.Passed {
			text = output(r, &room)
		}
		all = append(all, agenthook.Result{Name: plain.Line(r.Name+" "+r.Feature, 200), Passed: r.Passed, Message: text})
	}
	return append(all, p.AgentRules(message)...)
}

// output returns the end of a failed check's output, and takes it from the room that there is for all outputs.
func output(r decide.Receipt, room *int) string {
	text := plain.End(r.Tail, max(*room, 0))
	*room -= len(text)
	if text == "" && r.Tail != "" {
		return "it failed; no room for its output: run it yourself"
	}
	return text
}
