package run

import (
	"slices"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
)

// A run with a chain has several legs, each with an agent and a limit of its own. All of them work the loop as the one
// session that owns it, so what happens between two legs is no ending: nobody is told. A leg is over when
//
//   - it has a job: a session of it claims that this is done, and its own checks pass. The loop's list and checks are
//     not looked at.
//   - it works the loop: the loop is complete, and its own checks pass.
//   - it comes after that leg: all of that holds.

// Chain is the part of a run's record that is about its legs.
type Chain struct {
	Definition string `json:"definition"`
	At         int    `json:"at"` // the index of the leg that works; the number of legs: all are over
	Legs       []Leg  `json:"legs"`
}

// Leg is one leg of a run.
type Leg struct {
	chain.Leg
	Ends
	Job  bool `json:"job"`  // it is not held to the loop's list and checks
	Loop bool `json:"loop"` // it works the loop, as a run without a chain does

	Status     decide.Status `json:"status,omitempty"` // "": it has not begun
	Iterations int           `json:"iterations"`
	Sessions   int           `json:"sessions"`
	Spent      Sum           `json:"spent"`
	StartedAt  time.Time     `json:"startedAt,omitzero"`
	EndedAt    time.Time     `json:"endedAt,omitzero"`
	Message    string        `json:"message,omitempty"` // its last answer, cleaned, at most maxLeft bytes
	Failed     string        `json:"failed,omitempty"`  // what its own check said after its last session; "": none failed
}

// Ends is what a person says of the end of an agent's leg.
type Ends struct {
	Checks     []string          `json:"checks,omitempty"`     // lines for the shell
	CompleteOn []string          `json:"completeOn,omitempty"` // signals; none: the marker; with checks, the exit status
	Held       map[string]string `json:"held,omitempty"`       // what the checks rest on, and its hash when the run began
	Prompt     bool              `json:"prompt"`               // the agent has a prompt of its own
}

// NewChain returns the legs of a definition. ends returns what is said of an agent's leg. With a list, the leg that
// works the loop is the last one whose agent has neither a signal nor a prompt of its own, else the last one without a
// signal, else the last one. Without a list it is the last one.
func NewChain(c chain.Chain, hasList bool, ends func(agent string) Ends) *Chain {
	all := &Chain{Definition: c.String()}
	noSignal, noPrompt := -1, -1
	for i, leg := range c {
		all.Legs = append(all.Legs, Leg{Leg: leg, Ends: ends(leg.Agent)})
		if own := &all.Legs[i]; len(own.CompleteOn) == 0 {
			if noSignal = i; !own.Prompt {
				noPrompt = i
			}
		}
	}
	judged := len(c) - 1 // the first leg that is held to the loop
	if hasList && noSignal >= 0 {
		if judged = noSignal; noPrompt >= 0 {
			judged = noPrompt
		}
	}
	for i := range judged {
		all.Legs[i].Job = true
	}
	all.Legs[judged].Loop = len(all.Legs[judged].CompleteOn) == 0
	return all
}

// Limits returns how many iterations all legs may have together.
func (c *Chain) Limits() (sum int) {
	for _, leg := range c.Legs {
		sum += leg.Limit
	}
	return sum
}

// Agents returns the agents of the legs that are not over.
func (c *Chain) Agents() (names []string) {
	for _, leg := range c.Legs[min(c.At, len(c.Legs)):] {
		if !slices.Contains(names, leg.Agent) {
			names = append(names, leg.Agent)
		}
	}
	return names
}

// Leg returns the leg that works; nil if the run has no chain, or all legs are over.
func (r *Record) Leg() *Leg {
	if r.Chain == nil || r.Chain.At >= len(r.Chain.Legs) {
		return nil
	}
	return &r.Chain.Legs[r.Chain.At]
}

// isJob reports whether the leg has a job of its own. l may be nil.
func (l *Leg) isJob() bool { return l != nil && l.Job }

// Before returns the leg before the one that works; nil if there is none.
func (r *Record) Before() *Leg {
	if r.Leg() == nil || r.Chain.At == 0 {
		return nil
	}
	return &r.Chain.Legs[r.Chain.At-1]
}

// last reports whether no leg follows.
func (c *Chain) last() bool { return c.At == len(c.Legs)-1 }

// Own is what became of a leg with a session, as far as its own job and checks say.
type Own struct {
	Done   bool        `json:"done"`
	Claims bool        `json:"claims"` // it claims that the loop is complete
	Checks []lineCheck `json:"checks,omitempty"`
	Failed string      `json:"failed,omitempty"` // the end of what a check said that failed; "": none did
}

// forLoop returns what the loop is told of the leg. own is what became of the leg's own part.
func (r *Run) forLoop(own *Own) decide.Leg {
	leg := r.Record.Leg()
	done := own != nil && own.Done
	switch {
	case leg == nil:
		return decide.Leg{}
	case leg.Job:
		return decide.Leg{Job: true, Done: done}
	case r.Record.Chain.last():
		return decide.Leg{Hold: !done}
	}
	return decide.Leg{Hold: true, Done: done}
}

// over reports whether a leg is over with a session that the loop has counted. state is that of the loop.
func (r *Run) over(own *Own, state decide.State) bool {
	told := r.forLoop(own)
	switch {
	case r.Record.Leg() == nil:
		return false
	case told.Job:
		return told.Done
	case r.Record.Chain.last():
		return state.Status == decide.Complete
	}
	return told.Done && state.Complete
}

// legBegins notes that the leg begins, and shows it.
func (r *Run) legBegins() {
	leg := r.Record.Leg()
	if leg == nil {
		return
	}
	r.Record.Options.Agent = leg.Agent
	if leg.StartedAt.IsZero() {
		leg.StartedAt = time.Now().UTC()
	}
	leg.Status, leg.EndedAt = decide.InProgress, time.Time{}
	r.Screen.Leg(r.Record)
}

// legCounted counts a session of the leg, and goes on to the next leg if this one is over.
func (r *Run) legCounted(c *Current, state decide.State) (over bool) {
	leg := r.Record.Leg()
	if leg == nil {
		return false
	}
	leg.Iterations++
	leg.Failed = ""
	if own := c.Ended.Own; own != nil {
		leg.Failed = own.Failed
	}
	leg.Message = left(c.Ended.Message)
	if over = r.over(c.Ended.Own, state); over {
		leg.Status, leg.EndedAt = decide.Complete, time.Now().UTC()
		r.Record.Chain.At++
		if next := r.Record.Leg(); next != nil {
			r.Record.Options.Agent = next.Agent
		}
	}
	return over
}

// legStops notes how the run ended in a leg that is not over.
func (r *Run) legStops(state decide.State) {
	if leg := r.Record.Leg(); leg != nil && leg.Status != "" {
		leg.Status, leg.EndedAt = state.Status, r.Record.EndedAt
	}
}
