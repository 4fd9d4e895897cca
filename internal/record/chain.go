package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/decide"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Chain is the part of a run's record that is about its steps.
type Chain struct {
	Definition string `json:"definition"`
	At         int    `json:"at"` // the index of the step that works; the number of steps: all are over
	Steps      []Step `json:"steps"`
}

// Step is one step of a run.
type Step struct {
	chain.Step
	Runs       string   `json:"runs,omitempty"`       // the agent of a role that is not defined; "": that of its name
	Checks     []string `json:"checks,omitempty"`     // lines for the shell
	CompleteOn []string `json:"completeOn,omitempty"` // signals; none: the marker; with checks, the exit status
	Prompt     bool     `json:"prompt"`               // the agent has a prompt of its own

	Job  bool   `json:"job"`            // it is not held to the loop's list and checks
	Loop bool   `json:"loop"`           // it works on the loop, as a run without a chain does
	Role string `json:"role,omitempty"` // whose built-in prompt it gets, if its agent has none; "": none

	Status     decide.Status `json:"status,omitempty"` // "": it has not started
	Iterations int           `json:"iterations"`
	Sessions   int           `json:"sessions"`
	Spent      Sum           `json:"spent"`
	Took       time.Duration `json:"took"` // of its sessions, as others work and a person pauses in between
	StartedAt  time.Time     `json:"startedAt,omitzero"`
	EndedAt    time.Time     `json:"endedAt,omitzero"`
	Message    string        `json:"message,omitempty"` // its last answer, cleaned, bounded
	Failed     string        `json:"failed,omitempty"`  // what its own check said after its last session; "": none failed

	Unfinished bool `json:"unfinished,omitempty"` // its last session did not say that its part is done
}

// NewChain returns a chain of these steps. Those before the one that works on the loop have a job.
func NewChain(steps []Step, hasList bool) *Chain {
	c := &Chain{Steps: steps}
	var all chain.Chain
	works := working(steps, hasList)
	for i := range steps {
		step := &steps[i]
		all = append(all, step.Step)
		step.Job = i < works
		step.Loop = i == works && len(step.CompleteOn) == 0
		step.Role = role(*step, i == works)
	}
	c.Definition = all.String()
	return c
}

// working returns the index of the step that works on the loop: the one that another reviews, else a builder, else with
// a list the first one that has neither a role nor a prompt or an end of its own, else the last one.
func working(steps []Step, hasList bool) int {
	reviewer := slices.IndexFunc(steps, func(step Step) bool { return step.Reviews })
	builder := slices.IndexFunc(steps, func(step Step) bool { return step.Agent == say.Builder })
	other := slices.IndexFunc(steps, func(step Step) bool {
		return !step.Prompt && len(step.CompleteOn) == 0 && say.RolePrompt(step.Agent) == ""
	})
	switch {
	case reviewer > 0:
		return reviewer - 1
	case builder >= 0:
		return builder
	case hasList && other >= 0:
		return other
	}
	return len(steps) - 1
}

// role returns the role of a step by its name and its place; "": it has none. works: it works on the loop.
func role(step Step, works bool) string {
	switch {
	case step.Prompt || say.RolePrompt(step.Agent) == "":
		return ""
	case works:
		return say.Builder
	case step.Reviews && step.Agent != say.Tester:
		return say.Reviewer
	case step.Job != (step.Agent == say.Planner): // a planner is of use only before the work, and the others after it
		return ""
	}
	return step.Agent
}

// Limits returns how many iterations all steps may have together.
func (c *Chain) Limits() (sum int) {
	for _, step := range c.Steps {
		sum += step.Limit
	}
	return sum
}

// Agents returns the names of the agents whose steps are not over, or may work again, and which agents these run.
func (c *Chain) Agents() (names []string, runs map[string]string) {
	runs = map[string]string{}
	first := min(c.At, len(c.Steps))
	if first < len(c.Steps) && c.Steps[first].Reviews {
		first--
	}
	for _, step := range c.Steps[first:] {
		if !slices.Contains(names, step.Agent) {
			names = append(names, step.Agent)
			runs[step.Agent] = step.Runs
		}
	}
	return names, runs
}

// Step returns the step that works; nil if the run has no chain, or all steps are over.
func (r *Run) Step() *Step {
	if r.Chain == nil || r.Chain.At >= len(r.Chain.Steps) {
		return nil
	}
	return &r.Chain.Steps[r.Chain.At]
}

// LastStep returns the last step of the chain; nil if the run has no chain.
func (r *Run) LastStep() *Step {
	if r.Chain == nil {
		return nil
	}
	return &r.Chain.Steps[len(r.Chain.Steps)-1]
}

// IsJob reports whether the step has a job of its own. There may be no step.
func (s *Step) IsJob() bool { return s != nil && s.Job }

// IsReview reports whether the step reviews the work of the one before it. There may be no step.
func (s *Step) IsReview() bool { return s != nil && s.Reviews }

// Reviewer returns the step that reviews the one that works; nil if none does.
func (r *Run) Reviewer() *Step {
	if r.Step() == nil || r.Chain.Last() || !r.Chain.Steps[r.Chain.At+1].Reviews {
		return nil
	}
	return &r.Chain.Steps[r.Chain.At+1]
}

// PreviousStep returns the step that has worked before the one that works, and its number, the first one 1; nil if
// there is none. A step that works again comes after its reviewer.
func (r *Run) PreviousStep() (step *Step, number int) {
	switch reviewer := r.Reviewer(); {
	case reviewer != nil && reviewer.Iterations > 0:
		return reviewer, r.Chain.At + 2
	case r.Step() == nil || r.Chain.At == 0:
		return nil, 0
	case r.Chain.Steps[r.Chain.At-1].Status == "": // the run began with a review
		return nil, 0
	}
	return &r.Chain.Steps[r.Chain.At-1], r.Chain.At
}

// UsedUp returns the first step whose iterations are used up when the one that works has counted so many more, and
// which has to work again; nil if there is none. back: a review leaves features open.
func (r *Run) UsedUp(more int, back bool) *Step {
	step, reviewer := r.Step(), r.Reviewer()
	switch {
	case step == nil:
		return nil
	case step.Iterations+more >= step.Limit:
		return step
	case reviewer != nil && reviewer.Iterations >= reviewer.Limit:
		return reviewer
	case step.Reviews && back:
		builder := &r.Chain.Steps[r.Chain.At-1]
		if builder.Iterations >= builder.Limit {
			return builder
		}
	}
	return nil
}

// Last reports whether no step follows.
func (c *Chain) Last() bool { return c.At == len(c.Steps)-1 }

// Part is what became of the step's part with a session, as far as its own job and checks say.
type Part struct {
	Done   bool    `json:"done"`
	Claims bool    `json:"claims"` // it claims that the loop is complete
	Checks []Check `json:"checks,omitempty"`
	Failed string  `json:"failed,omitempty"` // the end of what a check said that failed; "": none did
}

// TakeOver changes the record as a person asked for when the run was resumed. asked is the record as it was read then.
func (r *Run) TakeOver(asked Run) {
	r.Options = asked.Options
	is, was := r.Step(), asked.Step()
	if is != nil && was != nil && r.Chain.At == asked.Chain.At {
		is.Limit, is.Agent, is.Runs = was.Limit, was.Agent, was.Runs
		if reviewer := r.Reviewer(); reviewer != nil {
			reviewer.Limit = asked.Reviewer().Limit
		}
	}
	if is != nil {
		r.Options.Agent = is.Agent
	}
}

// chainFile is the file chain-ID.json.
type chainFile struct {
	ID         string        `json:"id"`
	Loop       string        `json:"loop"`
	Agent      string        `json:"agent"` // that works now, or worked last
	Definition string        `json:"definition"`
	Status     decide.Status `json:"status"`
	ExitReason string        `json:"exitReason"`
	Iterations int           `json:"iterations"`
	StartedAt  time.Time     `json:"startedAt"`
	EndedAt    *time.Time    `json:"endedAt"`     // null: it is not over
	Completed  *time.Time    `json:"completedAt"` // null: the loop is not complete
	Step       int           `json:"currentStep"` // the step that works now, or worked last; the first one is 1
	used
	Steps []stepLine `json:"steps"`
}

type stepLine struct {
	Agent      string     `json:"agent"`
	Limit      int        `json:"limit"`
	Status     string     `json:"status"` // of the step; NOT_BEGUN
	Iterations int        `json:"iterations"`
	Sessions   int        `json:"sessions"`
	StartedAt  *time.Time `json:"startedAt"`
	EndedAt    *time.Time `json:"endedAt"`
	used
}

type used struct {
	Tokens    LineTokens `json:"tokens"`
	Total     int64      `json:"totalTokens"`
	CostUSD   *float64   `json:"costUsd"`                 // null: unknown
	Estimated bool       `json:"costEstimated,omitempty"` // a part of it is reckoned from prices
	Unknown   int        `json:"costUnknown"`
}

func usedBy(s Sum) used {
	u := used{Tokens: TokensOf(s.Usage), Total: s.Usage.Tokens(), Unknown: s.Unknown}
	if s.CostKnown {
		u.CostUSD, u.Estimated = &s.CostUSD, s.Estimated
	}
	return u
}

// ChainFile returns what chain-ID.json has of a run with a chain.
func (r *Run) ChainFile() any {
	when := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	f := chainFile{
		ID: r.ID, Loop: r.Name, Agent: r.Options.Agent, Definition: r.Chain.Definition, Status: r.Status,
		ExitReason: r.ExitReason, Iterations: r.Iterations, StartedAt: r.StartedAt, EndedAt: when(r.EndedAt),
		used: usedBy(r.Spent), Step: min(r.Chain.At+1, len(r.Chain.Steps)),
	}
	if r.Status == decide.Complete {
		f.Completed = f.EndedAt
	}
	for _, step := range r.Chain.Steps {
		line := stepLine{
			Agent: step.Agent, Limit: step.Limit, Status: "NOT_BEGUN", Iterations: step.Iterations, Sessions: step.Sessions,
			StartedAt: when(step.StartedAt), EndedAt: when(step.EndedAt), used: usedBy(step.Spent),
		}
		if step.Status != "" {
			line.Status = string(step.Status)
		}
		f.Steps = append(f.Steps, line)
	}
	return f
}

// Ended says in a word or two how the step ended.
func (s *Step) Ended() string {
	if s.Status == "" {
		return "not started"
	}
	return plain.Line(string(s.Status), 40)
}

// Tests reports whether the step comes after the work, and tests or reviews it without a step that would fix what it
// finds: it fixes that itself.
func (s *Step) Tests() bool {
	return !s.Job && !s.Loop && !s.Reviews && (s.Role == say.Tester || s.Role == say.Reviewer)
}

// Until says in words when a step is over.
func (s *Step) Until() string {
	text := "until it says that its part is done"
	switch {
	case s.Loop:
		text = "until the loop is complete"
	case len(s.CompleteOn) > 0:
		text += " (" + plain.Line(strings.Join(s.CompleteOn, ", "), 200) + ")"
	}
	if len(s.Checks) > 0 {
		text += ", and " + plain.Line(strings.Join(s.Checks, ", "), 300) + " passes"
	}
	switch {
	case s.Reviews:
		text += "; if it leaves features open, the step before works again"
	case !s.Job && !s.Loop:
		text += ", and the loop is complete"
	}
	return text
}

// Text says in words which steps there are, and what those with a role are told.
func (c *Chain) Text() string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	for i, step := range c.Steps {
		fmt.Fprintf(&b, "step %d    %s, %s, %s\n", i+1, plain.Line(step.Agent, 80), plain.Count(step.Limit, "iteration"),
			step.Until())
		for line := range strings.Lines(say.RolePrompt(step.Role)) {
			b.WriteString("          " + line)
		}
	}
	return b.String()
}
