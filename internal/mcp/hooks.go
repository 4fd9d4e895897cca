package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Register registers a hook.
type Register struct {
	OfTask
	HookType string          `json:"hookType"`
	HookID   string          `json:"hookId,omitempty"`
	Enabled  *bool           `json:"enabled,omitempty"` // nil: it is
	When     string          `json:"when,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Registered is a hook that was registered.
type Registered struct {
	HookID   string          `json:"hookId"`
	TaskID   string          `json:"taskId"`
	HookType string          `json:"hookType"`
	Enabled  bool            `json:"enabled"`
	When     string          `json:"when,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Notes    []string        `json:"notes,omitempty"`
}

// HookList lists the hooks of a loop.
type HookList struct {
	TaskID    string `json:"taskId"`
	HookCount int    `json:"hookCount"`
	Hooks     []Hook `json:"hooks"`
}

// Hook is a hook of a loop: one that a person wrote, or one that an agent registered.
type Hook struct {
	ID       string           `json:"id"`
	HookType string           `json:"hookType,omitempty"`
	Origin   string           `json:"origin"` // person or agent
	Enabled  bool             `json:"enabled"`
	When     string           `json:"when,omitempty"`
	Decided  *agenthook.Tally `json:"decided,omitempty"`
	Metadata json.RawMessage  `json:"metadata,omitempty"`
}

// Cleared says how many hooks were removed.
type Cleared struct {
	TaskID       string `json:"taskId"`
	HooksCleared int    `json:"hooksCleared"`
}

// edit changes what the agent asks of the loop, under the lock.
func (k *desk) edit(change func(p *loop.Picture, r *agenthook.Record) error) error {
	return k.Store.LockAgent(loop.LockWait, func() error {
		p, err := k.Look()
		if err != nil {
			return err
		}
		r := p.Agent
		r.Hooks = slices.Clone(r.Hooks)
		if err := change(p, &r); err != nil {
			return err
		}
		data, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return k.Store.SaveAgent(agenthook.File, append(data, '\n'))
	})
}

// register answers hook_register.
func (k *desk) register(_ context.Context, in Register) (Registered, error) {
	metadata, err := agenthook.Compact(in.Metadata, agenthook.MaxMetadata, "metadata")
	if err != nil {
		return Registered{}, err
	}
	h := agenthook.Hook{ID: in.HookID, Type: in.HookType, Off: in.Enabled != nil && !*in.Enabled, Metadata: metadata}
	if in.When != "always" {
		h.When = in.When
	}
	if h.ID == "" {
		h.ID = "HOOK-" + rand.Text()[:16]
	}
	err = k.edit(func(p *loop.Picture, r *agenthook.Record) error {
		isPersons := func(other Hook) bool { return other.ID == h.ID && other.Origin == ofPerson }
		if h.ID == ownHook || slices.ContainsFunc(k.hooks(p), isPersons) {
			return ForPerson(fmt.Sprintf("the hook %s is a person's", plain.Line(h.ID, 80)),
				"ralph-stop-hook status "+plain.Arg(k.At.Name))
		}
		if h.Type == decide.EvaluatePromise && len(p.Snapshot.Checks) > 0 {
			return ForPerson("a promise does not go with checks, which say more; evaluators stand in ralph.json",
				"ralph-stop-hook trust "+plain.Arg(k.At.Name))
		}
		return r.Put(h)
	})
	if err != nil {
		return Registered{}, err
	}
	return Registered{
		HookID: h.ID, TaskID: k.name(), HookType: h.Type, Enabled: !h.Off, When: h.When, Metadata: h.Metadata,
		Notes: []string{"It can hold the loop back or ask for a person; only the loop's own evaluators complete it."},
	}, nil
}

// ofPerson is the origin of hooks that a person wrote.
const ofPerson = "person"

// hooks returns the hooks of the loop: those of a person, then those of the agent.
func (k *desk) hooks(p *loop.Picture) []Hook {
	all := []Hook{}
	for _, e := range p.Config.Evaluators {
		all = append(all, Hook{
			ID: plain.Line(e.Name, 100), HookType: cmp.Or(e.Preset, "command"), Origin: ofPerson, Enabled: true,
		})
	}
	for _, h := range p.Agent.Hooks {
		all = append(all, Hook{
			ID: h.ID, HookType: h.Type, Origin: "agent", Enabled: !h.Off, When: h.When, Decided: &h.Decided,
			Metadata: h.Metadata,
		})
	}
	return all
}

// listHooks answers hook_list.
func (k *desk) listHooks(_ context.Context, _ OfTask) (HookList, error) {
	p, err := k.Look()
	if err != nil {
		return HookList{}, err
	}
	all := k.hooks(p)
	return HookList{TaskID: k.name(), HookCount: len(all), Hooks: all}, nil
}

// clear answers hook_clear.
func (k *desk) clear(_ context.Context, _ OfTask) (c Cleared, err error) {
	c.TaskID = k.name()
	err = k.edit(func(_ *loop.Picture, r *agenthook.Record) error {
		c.HooksCleared, r.Hooks = len(r.Hooks), nil
		return nil
	})
	return c, err
}

// askHooks returns the answer of the agent's hooks that counts, nil if they have nothing to say, and counts what they
// have decided. A stop asks them only about a loop that is complete otherwise.
func (k *desk) askHooks(j judged) *decide.Answer {
	answers := j.Picture.Snapshot.HookAnswers
	if answers == nil {
		answers = j.Picture.AskHooks(j.Decision, j.message, false)
	}
	if len(answers) == 0 {
		return nil
	}
	_ = k.edit(func(_ *loop.Picture, r *agenthook.Record) error { // if that fails, only the count is wrong
		for _, a := range answers {
			for i := range r.Hooks {
				if r.Hooks[i].ID == a.By {
					r.Hooks[i].Decided.Count(a.Action)
				}
			}
		}
		return nil
	})
	return decide.Decisive(answers)
}

// Evaluate asks what the hooks say.
type Evaluate struct {
	OfIteration
	AgentOutput   string   `json:"agentOutput,omitempty"`
	FilesModified []string `json:"filesModified,omitempty"` // the agent's word; the loop's evaluators get what git says
	DraftContent  string   `json:"draftContent,omitempty"`
	DraftType     string   `json:"draftType,omitempty"`
}

// Evaluated is what the hooks say.
type Evaluated struct {
	HookID            string          `json:"hookId"`
	TaskID            string          `json:"taskId"`
	Iteration         int             `json:"iteration"`
	Action            string          `json:"action"`
	Reason            string          `json:"reason"`
	NextPrompt        string          `json:"nextPrompt,omitempty"`
	CheckpointCreated bool            `json:"checkpointCreated,omitempty"`
	CheckpointID      string          `json:"checkpointId,omitempty"`
	Metadata          json.RawMessage `json:"metadata,omitempty"`
}

// ownHook is the name of the loop's own evaluators.
const ownHook = "default"

// evaluate answers hook_evaluate.
func (k *desk) evaluate(ctx context.Context, in Evaluate) (Evaluated, error) {
	draft := agenthook.Draft{Content: plain.Text(in.DraftContent, maxDraft), Type: plain.Line(in.DraftType, 40)}
	for _, name := range in.FilesModified {
		draft.Files = append(draft.Files, plain.Line(name, 4096))
	}
	j, err := k.judge(ctx, "hook_evaluate", in.AgentOutput, draft, never)
	if err != nil {
		return Evaluated{}, err
	}
	e := Evaluated{
		HookID: ownHook, TaskID: k.name(), Iteration: j.Picture.Snapshot.Record().Iteration, Action: j.action(),
		Reason: j.reason(),
	}
	evaluator, hook := j.answer(), k.askHooks(j)
	if evaluator != nil {
		e.say(evaluator)
	}
	if hook != nil && (e.Action != decide.AnswerEscalate || hook.Action == e.Action) {
		e.say(hook)
		switch {
		case hook.Action != decide.AnswerComplete:
			e.Action = hook.Action
		case e.Action != decide.AnswerComplete:
			e.Reason += "; that is a claim: " + j.reason()
		}
	}
	if e.Action == decide.AnswerContinue && evaluator == nil && hook == nil {
		e.NextPrompt = j.prompt()
	}
	e.CheckpointID, err = k.keepBlocked(j, in)
	if err != nil {
		return Evaluated{}, err
	}
	if e.CheckpointID == "" {
		e.CheckpointID = k.keepAnswers(j)
	}
	e.CheckpointCreated = e.CheckpointID != ""
	return e, nil
}

// say takes over what an evaluator says.
func (e *Evaluated) say(a *decide.Answer) {
	e.HookID = plain.Line(a.By, 80)
	e.Reason = cmp.Or(a.Reason, e.Reason)
	e.NextPrompt = a.Prompt
	e.Metadata = clean(json.RawMessage(a.Metadata))
}

// answer returns the answer of an evaluator that decides; nil if none of them was asked.
func (j judged) answer() *decide.Answer {
	answers := j.Picture.Snapshot.Answers
	i := slices.IndexFunc(answers, func(a decide.Answer) bool { return a.Action == j.action() })
	if j.Decision.Answer != nil || i < 0 {
		return j.Decision.Answer
	}
	return &answers[i]
}

// action is the decision of the loop's own evaluators.
func (j judged) action() string {
	switch j.signal() {
	case signalComplete:
		return decide.AnswerComplete
	case signalContinue:
		return decide.AnswerContinue
	}
	return decide.AnswerEscalate
}

// reason says why, in one line.
func (j judged) reason() string {
	if missing := j.missing(0); j.Decision.Verdict == decide.Continue && len(missing) > 0 {
		return plain.Line(missing[0], 500)
	}
	return plain.Line(j.summary(), 500)
}
