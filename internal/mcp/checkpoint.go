package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Bounds of checkpoints.
const (
	maxDraft     = 50 << 10 // bytes
	draftPreview = 200      // characters
	maxLife      = 366 * 24 * time.Hour
)

// checkpoints reads the checkpoints that have not expired.
func (k *desk) checkpoints() (agenthook.Checkpoints, error) {
	c, err := agenthook.ReadCheckpoints(k.Store)
	if err != nil {
		return c, fmt.Errorf("%s cannot be used: %w; move it away",
			filepath.Join(k.At.StatePath(), agenthook.CheckpointsFile), err)
	}
	return c, nil
}

// errKept means that there is such a checkpoint already.
var errKept = errors.New("there is such a checkpoint")

// keep adds a checkpoint. unless, if it is not nil, keeps it from being added.
func (k *desk) keep(p *loop.Picture, one agenthook.Checkpoint, unless func(agenthook.Checkpoint) bool) (
	agenthook.Checkpoint, error) {
	one.Iteration = p.Snapshot.Record().Iteration
	err := k.Store.LockAgent(loop.LockWait, func() error {
		c, err := k.checkpoints()
		if err != nil {
			return err
		}
		if unless != nil && slices.ContainsFunc(c.All, unless) {
			return errKept
		}
		one, err = c.Keep(one)
		if err != nil {
			return err
		}
		return c.Save(k.Store)
	})
	return one, err
}

// keepBlocked keeps what the agent has, once in an iteration, if it told a hook of the type default that it is blocked.
func (k *desk) keepBlocked(j judged, in Evaluate) (id string, err error) {
	isDefault := func(h agenthook.Hook) bool { return !h.Off && h.Type == decide.EvaluateDefault }
	if j.claim.Status != decide.Blocked || in.AgentOutput == "" && in.DraftContent == "" ||
		!slices.ContainsFunc(j.Picture.Agent.Hooks, isDefault) {
		return "", nil
	}
	context, _ := json.Marshal(map[string]string{"summary": plain.Text(in.AgentOutput, 2000)}) // cannot fail
	one := agenthook.Checkpoint{
		Trigger: agenthook.Auto, Phase: "blocked", Context: context, DraftType: plain.Line(in.DraftType, 40),
	}
	one.Draft, _ = cutDraft(in.DraftContent)
	iteration := j.Picture.Snapshot.Record().Iteration
	kept, err := k.keep(j.Picture, one, func(p agenthook.Checkpoint) bool {
		return p.Phase == one.Phase && p.Iteration == iteration
	})
	if errors.Is(err, errKept) {
		return "", nil
	}
	return kept.ID, err
}

// keepAnswers keeps what the evaluators' commands gave for the agent. What is too large is left out: the answer itself
// counts.
func (k *desk) keepAnswers(j judged) (id string) {
	_ = k.Store.LockAgent(loop.LockWait, func() (err error) {
		snap := &j.Picture.Snapshot
		id, err = agenthook.KeepAnswers(k.Store, snap.Answers, snap.Record().Iteration)
		return err
	})
	return id
}

func cutDraft(text string) (draft string, cut bool) {
	if len(text) <= maxDraft {
		return text, false
	}
	return strings.ToValidUTF8(text[:maxDraft], "") + "[TRUNCATED]", true
}

// Create keeps a checkpoint.
type Create struct {
	OfTask
	Trigger        string          `json:"trigger,omitempty"`
	ExecutionPhase string          `json:"executionPhase,omitempty"`
	ExecutionStep  *int            `json:"executionStep,omitempty"`
	AgentContext   json.RawMessage `json:"agentContext,omitempty"`
	DraftContent   string          `json:"draftContent,omitempty"`
	DraftType      string          `json:"draftType,omitempty"`
	ExpiresIn      int             `json:"expiresIn,omitempty"` // minutes; 0: by the trigger
}

// Created is a checkpoint that was kept.
type Created struct {
	ID        string `json:"id"`
	TaskID    string `json:"taskId"`
	Sequence  int    `json:"sequence"`
	Trigger   string `json:"trigger"`
	CreatedAt string `json:"createdAt"`
	ExpiresAt string `json:"expiresAt,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
}

// create answers checkpoint_create.
func (k *desk) create(_ context.Context, in Create) (Created, error) {
	p, err := k.Look()
	if err != nil {
		return Created{}, err
	}
	one := agenthook.Checkpoint{
		Trigger: cmp.Or(in.Trigger, agenthook.Manual), Phase: plain.Line(in.ExecutionPhase, 200),
		Step: in.ExecutionStep, Context: in.AgentContext, DraftType: plain.Line(in.DraftType, 40),
	}
	if in.ExpiresIn > 0 {
		minutes := min(in.ExpiresIn, int(maxLife/time.Minute))
		one.Expires = time.Now().Add(time.Duration(minutes) * time.Minute).UTC()
	}
	draft, cut := cutDraft(in.DraftContent)
	one.Draft = draft
	one, err = k.keep(p, one, nil)
	if err != nil {
		return Created{}, err
	}
	return Created{
		ID: one.ID, TaskID: k.name(), Sequence: one.Sequence, Trigger: one.Trigger, CreatedAt: plain.Instant(one.Created),
		ExpiresAt: plain.Instant(one.Expires), Truncated: cut,
	}, nil
}

// List lists checkpoints.
type List struct {
	OfTask
	Limit           int   `json:"limit,omitempty"` // 0: usualList
	IterationNumber *int  `json:"iterationNumber,omitempty"`
	HasIteration    *bool `json:"hasIteration,omitempty"`
}

// usualList is how many checkpoints are listed if nobody says how many.
const usualList = 5

// Listed are the checkpoints of a loop, the newest first.
type Listed struct {
	TaskID      string `json:"taskId"`
	Checkpoints []Row  `json:"checkpoints"`
}

// Row is one checkpoint.
type Row struct {
	ID              string `json:"id"`
	Sequence        int    `json:"sequence"`
	Trigger         string `json:"trigger"`
	Phase           string `json:"phase,omitempty"`
	Step            *int   `json:"step,omitempty"`
	IterationNumber int    `json:"iterationNumber,omitempty"`
	HasDraft        bool   `json:"hasDraft"`
	CreatedAt       string `json:"createdAt"`
	ExpiresAt       string `json:"expiresAt,omitempty"`
}

// list answers checkpoint_list.
func (k *desk) list(_ context.Context, in List) (Listed, error) {
	kept, err := k.checkpoints()
	if err != nil {
		return Listed{}, err
	}
	l := Listed{TaskID: k.name(), Checkpoints: []Row{}}
	for _, p := range slices.Backward(kept.All) {
		other := in.IterationNumber != nil && p.Iteration != *in.IterationNumber ||
			in.HasIteration != nil && *in.HasIteration != (p.Iteration > 0)
		if !other && len(l.Checkpoints) < cmp.Or(in.Limit, usualList) {
			l.Checkpoints = append(l.Checkpoints, Row{
				ID: p.ID, Sequence: p.Sequence, Trigger: p.Trigger, Phase: p.Phase, Step: p.Step,
				IterationNumber: p.Iteration, HasDraft: p.Draft != "", CreatedAt: plain.Instant(p.Created),
				ExpiresAt: plain.Instant(p.Expires),
			})
		}
	}
	return l, nil
}
