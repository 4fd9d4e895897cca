package agenthook

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// The names of an agent's files. They are no part of the record: nothing in them can complete a loop or raise a limit.
const (
	File            = "agent.json"       // its hooks and rules
	CheckpointsFile = "checkpoints.json" // its checkpoints
)

// Files has an agent's files of one loop. A file that there is not is nil. Whoever saves one holds the loop's lock.
type Files interface {
	Agent(name string) ([]byte, error)
	SaveAgent(name string, data []byte) error
}

// Checkpoint is what an agent kept of its work: its own words, which are data to whoever reads them.
type Checkpoint struct {
	ID        string          `json:"id"`
	Sequence  int             `json:"sequence"`
	Trigger   string          `json:"trigger"`
	Phase     string          `json:"phase,omitempty"`
	Step      *int            `json:"step,omitempty"`
	Iteration int             `json:"iteration"`
	Evaluated bool            `json:"evaluated,omitempty"` // an evaluator's answer asked for it
	Context   json.RawMessage `json:"context,omitempty"`
	Draft     string          `json:"draft,omitempty"`
	DraftType string          `json:"draftType,omitempty"`
	Created   time.Time       `json:"created"`
	Expires   time.Time       `json:"expires"`
}

// Checkpoints are those of a loop, the oldest first.
type Checkpoints struct {
	Last int          `json:"last"` // the sequence number of the newest, also if it is gone
	All  []Checkpoint `json:"all"`
}

// What makes a checkpoint, and the prefix of its id.
const (
	Manual           = "manual"      // the agent asked for it
	Auto             = "auto_status" // it goes with an answer
	CheckpointPrefix = "CP-"
)

// Bounds of checkpoints.
const (
	maxCheckpoints = 50
	maxContext     = 20 << 10 // bytes
	manualLife     = 7 * 24 * time.Hour
	otherLife      = 24 * time.Hour
)

// ReadCheckpoints reads the checkpoints that have not expired.
func ReadCheckpoints(files Files) (c Checkpoints, err error) {
	data, err := files.Agent(CheckpointsFile)
	if err == nil && data != nil {
		err = json.Unmarshal(data, &c)
	}
	now := time.Now()
	c.All = slices.DeleteFunc(c.All, func(p Checkpoint) bool { return !p.Expires.After(now) })
	return c, err
}

// Save writes the checkpoints.
func (c Checkpoints) Save(files Files) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return files.SaveAgent(CheckpointsFile, append(data, '\n'))
}

// Keep adds a checkpoint, and drops the oldest ones if there are too many. It returns the checkpoint as it is kept.
func (c *Checkpoints) Keep(one Checkpoint) (Checkpoint, error) {
	var err error
	one.Context, err = Compact(one.Context, maxContext, "agentContext")
	if err != nil {
		return one, err
	}
	c.Last++
	one.ID = CheckpointPrefix + rand.Text()[:16]
	one.Sequence = c.Last
	one.Created = time.Now().UTC()
	if one.Expires.IsZero() {
		life := otherLife
		if one.Trigger == Manual {
			life = manualLife
		}
		one.Expires = one.Created.Add(life)
	}
	c.All = append(c.All, one)
	c.All = c.All[max(0, len(c.All)-maxCheckpoints):]
	return one, nil
}

// KeepAnswers keeps what evaluators gave for the agent, in the place of what they gave earlier in the same iteration.
// It returns the id of the last one; "" if they gave nothing new. What is no object is left out.
func KeepAnswers(files Files, answers []decide.Answer, iteration int) (id string, err error) {
	answers = slices.DeleteFunc(slices.Clone(answers), func(a decide.Answer) bool {
		return !strings.HasPrefix(a.Checkpoint, "{")
	})
	if len(answers) == 0 {
		return "", nil
	}
	c, err := ReadCheckpoints(files)
	if err != nil {
		return "", err
	}
	var before, after []string
	c.All = slices.DeleteFunc(c.All, func(p Checkpoint) bool {
		earlier := p.Evaluated && p.Iteration == iteration
		if earlier {
			before = append(before, p.content())
		}
		return earlier
	})
	for _, a := range answers {
		one, err := c.Keep(requestedCheckpoint(a.Checkpoint, iteration))
		if err != nil {
			return "", err
		}
		id = one.ID
		after = append(after, one.content())
	}
	if slices.Equal(before, after) {
		return "", nil
	}
	return id, c.Save(files)
}

// requestedCheckpoint returns the checkpoint that an evaluator's answer asks for. The object may name a phase, a step
// and a context; one that names no context is the context.
func requestedCheckpoint(object string, iteration int) Checkpoint {
	var named struct {
		Phase   string          `json:"executionPhase"`
		Step    *int            `json:"executionStep"`
		Context json.RawMessage `json:"agentContext"`
	}
	one := Checkpoint{Trigger: Auto, Phase: "evaluated", Iteration: iteration, Evaluated: true}
	one.Context = json.RawMessage(object)
	if json.Unmarshal([]byte(object), &named) != nil {
		return one
	}
	one.Step = named.Step
	if named.Phase != "" {
		one.Phase = plain.Line(named.Phase, 200)
	}
	if len(named.Context) > 0 && named.Context[0] == '{' {
		one.Context = named.Context
	}
	return one
}

// content returns what the evaluator asked to be kept, to compare it with what is kept.
func (p Checkpoint) content() string {
	p.ID = ""
	p.Sequence = 0
	p.Created = time.Time{}
	p.Expires = time.Time{}
	text, _ := json.Marshal(p) // cannot fail: it was read from JSON
	return string(text)
}

// Compact returns a JSON object without spaces, of at most a number of bytes; nil for none.
func Compact(object json.RawMessage, limit int, name string) (json.RawMessage, error) {
	if len(object) == 0 || string(object) == "null" {
		return nil, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, object); err != nil {
		return nil, err
	}
	if b.Len() > limit {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are kept", name, b.Len(), limit)
	}
	return b.Bytes(), nil
}
