package tool

import (
	"crypto/rand"
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
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Checkpoint is what an agent kept of its work: its own words, which are data to whoever reads them.
type Checkpoint struct {
	ID        string          `json:"id"`
	Sequence  int             `json:"sequence"`
	Trigger   string          `json:"trigger"`
	Phase     string          `json:"phase,omitempty"`
	Step      *int            `json:"step,omitempty"`
	Iteration int             `json:"iteration"`
	Context   json.RawMessage `json:"context,omitempty"`
	Draft     string          `json:"draft,omitempty"`
	DraftType string          `json:"draftType,omitempty"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
}

// checkpoints are those of a loop, the oldest first.
type checkpoints struct {
	Last int          `json:"last"` // the sequence number of the newest, also if it is gone
	All  []Checkpoint `json:"all"`
}

// Bounds of checkpoints.
const (
	maxCheckpoints = 50
	maxContext     = 20 << 10 // bytes
	maxDraft       = 50 << 10 // bytes
	draftPreview   = 200      // characters

	checkpointPrefix = "CP-"
	manual           = "manual"
	manualLife       = 7 * 24 * time.Hour
	otherLife        = 24 * time.Hour
	maxLife          = 366 * 24 * time.Hour
)

// checkpoints reads the checkpoints that have not expired.
func (k *desk) checkpoints() (c checkpoints, err error) {
	data, err := k.Store.Agent(loopdir.CheckpointsFile)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("%s cannot be used: %w; move it away",
			filepath.Join(k.At.StatePath(), loopdir.CheckpointsFile), err)
	}
	now := time.Now()
	c.All = slices.DeleteFunc(c.All, func(p Checkpoint) bool { return !p.Expires.After(now) })
	return c, nil
}

// errKept means that there is such a checkpoint already.
var errKept = errors.New("there is such a checkpoint")

// keep adds a checkpoint, and drops the oldest ones if there are too many. unless, if it is not nil, keeps it from
// being added.
func (k *desk) keep(p *loop.Picture, one Checkpoint, unless func(Checkpoint) bool) (Checkpoint, error) {
	var err error
	if one.Context, err = compact(one.Context, maxContext, "agentContext"); err != nil {
		return one, err
	}
	now := time.Now().UTC()
	one.ID, one.Created, one.Iteration = checkpointPrefix+rand.Text()[:16], now, p.Snapshot.Record().Iteration
	if one.Expires.IsZero() {
		life := otherLife
		if one.Trigger == manual {
			life = manualLife
		}
		one.Expires = now.Add(life)
	}
	err = k.Store.Locked(loop.LockWait, func() error {
		c, err := k.checkpoints()
		if err != nil {
			return err
		}
		if unless != nil && slices.ContainsFunc(c.All, unless) {
			return errKept
		}
		c.Last++
		one.Sequence = c.Last
		c.All = append(c.All, one)
		c.All = c.All[max(0, len(c.All)-maxCheckpoints):]
		data, err := json.Marshal(c)
		if err != nil {
			return err
		}
		return k.Store.SaveAgent(loopdir.CheckpointsFile, append(data, '\n'))
	})
	return one, err
}

// keepBlocked keeps what the agent has, once in an iteration, if it told a hook of the type default that it is blocked.
func (k *desk) keepBlocked(j judged, in Evaluate) (id string, err error) {
	isDefault := func(h agenthook.Hook) bool { return !h.Off && h.Type == agenthook.Default }
	if j.said.Status != decide.Blocked || in.AgentOutput == "" && in.DraftContent == "" ||
		!slices.ContainsFunc(j.Picture.Agent.Hooks, isDefault) {
		return "", nil
	}
	context, _ := json.Marshal(map[string]string{"summary": plain.Text(in.AgentOutput, 2000)}) // cannot fail
	one := Checkpoint{Trigger: "auto_status", Phase: "blocked", Context: context, DraftType: in.DraftType}
	one.Draft, _ = cutDraft(in.DraftContent)
	iteration := j.Picture.Snapshot.Record().Iteration
	kept, err := k.keep(j.Picture, one, func(p Checkpoint) bool {
		return p.Phase == one.Phase && p.Iteration == iteration
	})
	if errors.Is(err, errKept) {
		return "", nil
	}
	return kept.ID, err
}

// evaluated is the phase of a checkpoint that an evaluator's answer asked for.
const evaluated = "evaluated"

// keepAnswers keeps what the evaluators' commands gave for the agent, once in an iteration. What cannot be kept, since
// it is no object or too large, is left out: the answer itself counts.
func (k *desk) keepAnswers(j judged) (id string) {
	iteration := j.Picture.Snapshot.Record().Iteration
	for _, a := range j.Picture.Snapshot.Answers {
		if !strings.HasPrefix(a.Checkpoint, "{") {
			continue
		}
		one := Checkpoint{Trigger: "auto_status", Phase: evaluated, Context: json.RawMessage(a.Checkpoint)}
		kept, err := k.keep(j.Picture, one, func(p Checkpoint) bool {
			return p.Phase == evaluated && p.Iteration == iteration
		})
		if err == nil {
			id = kept.ID
		}
	}
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
	TaskID         string          `json:"taskId,omitempty"`
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

// Create answers checkpoint_create.
func (d *Desk) Create(call Call, in Create) (Created, error) {
	k, err := d.open(call, in.TaskID)
	if err != nil {
		return Created{}, err
	}
	defer k.Close()
	if err := k.moves(); err != nil {
		return Created{}, err
	}
	p, err := k.Look()
	if err != nil {
		return Created{}, err
	}
	one := Checkpoint{
		Trigger: in.Trigger, Phase: plain.Line(in.ExecutionPhase, 200), Step: in.ExecutionStep, Context: in.AgentContext,
		DraftType: in.DraftType,
	}
	if one.Trigger == "" {
		one.Trigger = manual
	}
	if in.ExpiresIn > 0 {
		minutes := min(in.ExpiresIn, int(maxLife/time.Minute))
		one.Expires = time.Now().Add(time.Duration(minutes) * time.Minute).UTC()
	}
	draft, cut := cutDraft(in.DraftContent)
	one.Draft = draft
	if one, err = k.keep(p, one, nil); err != nil {
		return Created{}, err
	}
	return Created{
		ID: one.ID, TaskID: k.name(), Sequence: one.Sequence, Trigger: one.Trigger, CreatedAt: loop.Instant(one.Created),
		ExpiresAt: loop.Instant(one.Expires), Truncated: cut,
	}, nil
}

// List lists checkpoints.
type List struct {
	TaskID          string `json:"taskId,omitempty"`
	Limit           int    `json:"limit,omitempty"` // 0: usualList
	IterationNumber *int   `json:"iterationNumber,omitempty"`
	HasIteration    *bool  `json:"hasIteration,omitempty"`
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

// List answers checkpoint_list.
func (d *Desk) List(call Call, in List) (Listed, error) {
	k, err := d.open(call, in.TaskID)
	if err != nil {
		return Listed{}, err
	}
	defer k.Close()
	kept, err := k.checkpoints()
	if err != nil {
		return Listed{}, err
	}
	if in.Limit == 0 {
		in.Limit = usualList
	}
	l := Listed{TaskID: k.name(), Checkpoints: []Row{}}
	for _, p := range slices.Backward(kept.All) {
		other := in.IterationNumber != nil && p.Iteration != *in.IterationNumber ||
			in.HasIteration != nil && *in.HasIteration != (p.Iteration > 0)
		if !other && len(l.Checkpoints) < in.Limit {
			l.Checkpoints = append(l.Checkpoints, Row{
				ID: p.ID, Sequence: p.Sequence, Trigger: p.Trigger, Phase: p.Phase, Step: p.Step,
				IterationNumber: p.Iteration, HasDraft: p.Draft != "", CreatedAt: loop.Instant(p.Created),
				ExpiresAt: loop.Instant(p.Expires),
			})
		}
	}
	return l, nil
}
