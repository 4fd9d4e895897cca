package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agenthook"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Start begins work on a loop.
type Start struct {
	OfTask
	MaxIterations           int              `json:"maxIterations,omitempty"` // 0: as it is
	CompletionPromises      []string         `json:"completionPromises,omitempty"`
	ValidationRules         []agenthook.Rule `json:"validationRules,omitempty"`
	CircuitBreakerThreshold int              `json:"circuitBreakerThreshold,omitempty"` // 0: as it is
}

// Config is what holds for an iteration.
type Config struct {
	MaxIterations           int              `json:"maxIterations"`
	CompletionPromises      []string         `json:"completionPromises"`
	ValidationRules         []agenthook.Rule `json:"validationRules,omitempty"`
	CircuitBreakerThreshold int              `json:"circuitBreakerThreshold"` // 0: off
}

// Started is the iteration that works.
type Started struct {
	IterationID     string   `json:"iterationId"`
	TaskID          string   `json:"taskId"`
	IterationNumber int      `json:"iterationNumber"`
	MaxIterations   int      `json:"maxIterations"`
	Config          Config   `json:"config"`
	CreatedAt       string   `json:"createdAt"`
	Notes           []string `json:"notes,omitempty"`
}

// start answers iteration_start.
func (k *desk) start(_ context.Context, in Start) (Started, error) {
	p, err := k.Look()
	if err != nil {
		return Started{}, err
	}
	if err := p.Snapshot.ConfigErr; err != nil {
		return Started{}, err
	}
	isCheck := func(name string) bool {
		return slices.ContainsFunc(p.Snapshot.Checks, func(c decide.Check) bool { return c.Name == name })
	}
	for _, rule := range in.ValidationRules {
		if err := rule.Validate(isCheck); err != nil {
			return Started{}, err
		}
	}
	if k.owner == Nobody {
		if err := k.take(); err != nil {
			return Started{}, err
		}
	}
	notes, err := k.lower(in)
	if err != nil {
		return Started{}, err
	}
	for _, note := range notes {
		k.Store.Log(fmt.Sprintf("%s iteration_start %s", time.Now().UTC().Format("2006-01-02T15:04:05Z"), note), nil)
	}
	p, err = k.Look()
	if err != nil {
		return Started{}, err
	}
	state := p.Snapshot.Record()
	k.state = state
	return Started{
		IterationID: k.ID(), TaskID: k.name(), IterationNumber: state.Iteration,
		MaxIterations: state.Limit(p.Snapshot.Limits), Config: config(p), CreatedAt: plain.Instant(p.Agent.Started),
		Notes: notes,
	}, nil
}

// config returns what holds for the loop now.
func config(p *loop.Picture) Config {
	c := Config{
		MaxIterations: p.Snapshot.Record().Limit(p.Snapshot.Limits), ValidationRules: p.Agent.Rules,
		CircuitBreakerThreshold: p.Snapshot.Limits.CheckFailures,
	}
	for _, word := range p.Agent.Words() {
		c.CompletionPromises = append(c.CompletionPromises, decide.Claim{Word: word}.Tag())
	}
	return c
}

// take makes the client's session the owner of a loop that nobody works.
func (k *desk) take() error {
	clients := k.desk.Clients
	if len(clients) == 0 {
		return errors.New("the system does not tell which process the client is; paste the loop's prompt instead")
	}
	session := cmp.Or(k.call.Session, decide.ClientSession(clients[0].PID))
	if other, works := k.desk.ofClient(); works && other.Dir != k.At.Dir {
		if busy, err := k.desk.openAt(k.call, other); err == nil {
			defer busy.Close()
			if busy.owner == ThisSession {
				return ForPerson("this session works on the loop "+busy.name()+", which is not over",
					"ralph-stop-hook use "+plain.Arg(k.At.Name)+" --session ID")
			}
		}
	}
	next, err := k.Change("iteration_start", func(p *loop.Picture, next *decide.State) error {
		a := p.Attach(session)
		if err := say.Refused(p, a); err != nil {
			return err
		}
		*next = a.Next
		next.SessionPID, next.ClientStart = clients[0].PID, clients[0].Start
		next.Client = k.call.Client
		return k.Store.Bind(session)
	})
	if err != nil {
		return err
	}
	if k.desk.HostSession != "" { // so the client's hook finds the loop; it owns it by its process alone
		if err := k.Store.Bind(k.desk.HostSession); err != nil {
			return err
		}
	}
	k.state, k.owner = next, ThisSession
	k.Env.Client = next.Client
	return nil
}

// lower keeps what the agent asks for, and lowers the limits for its session. What it does not ask for stays as a
// person set it.
func (k *desk) lower(in Start) (notes []string, err error) {
	err = k.edit(func(p *loop.Picture, r *agenthook.Record) error {
		r.Rules = in.ValidationRules
		r.Promises = nil
		for _, promise := range in.CompletionPromises {
			r.Promises = append(r.Promises, decide.ClaimOf(promise).Word)
		}
		r.HandedOut = false
		if r.Started.IsZero() {
			r.Started = time.Now().UTC()
		}

		state := p.Snapshot.Record()
		limits := p.Limits()
		r.Lowered = agenthook.Lowered{Endings: state.Endings, PID: state.SessionPID, ClientStart: state.ClientStart}
		switch limit := limits.CheckFailures; {
		case limit > 0 && limit < in.CircuitBreakerThreshold:
			notes = append(notes, fmt.Sprintf("circuitBreakerThreshold is %d: limits are only lowered", limit))
		case in.CircuitBreakerThreshold != limit:
			r.Lowered.Failures = in.CircuitBreakerThreshold
		}
		switch limit := state.Limit(limits); {
		case limit < in.MaxIterations:
			notes = append(notes, fmt.Sprintf("maxIterations is %d, the limit in force; a person raises it: %s +%d", limit,
				k.Call("resume"), in.MaxIterations-limit))
		case in.MaxIterations != limit:
			r.Lowered.Iterations = in.MaxIterations
		}
		if lowered := r.Lowered.String(); lowered != "" {
			notes = append(notes, "lowered for this session: "+lowered)
		}
		return nil
	})
	return notes, err
}
