package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Cooling is an agent whose provider's limit is used up.
type Cooling struct {
	Agent string    `json:"agent"`
	Until time.Time `json:"until"`
	Times int       `json:"times"` // how often in a row
	Why   string    `json:"why"`   // what the agent said
}

// Switch is a change of the agent or of the model between two sessions.
type Switch struct {
	Session int    `json:"session"` // the first one with them
	Feature string `json:"feature"`
	Agent   string `json:"agent"`
	Model   string `json:"model"` // that was asked for; "": the agent's own choice
	Why     string `json:"why"`
}

// maxSwitches is how many changes a record keeps: the last ones.
const maxSwitches = 100

// team returns the run's own agent, and those that stand in for it, in their order.
func (o *Options) team() []string {
	names := []string{o.Agent}
	for _, name := range o.Fallback {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// cooling returns what is known of an agent whose limit is used up; nil if it is free.
func (r *Record) cooling(name string, now time.Time) *Cooling {
	i := slices.IndexFunc(r.Cooling, func(c Cooling) bool { return c.Agent == name && c.Until.After(now) })
	if i < 0 {
		return nil
	}
	return &r.Cooling[i]
}

// cool notes that an agent's limit is used up. until is zero if nobody said until when.
func (r *Record) cool(name string, until time.Time, why string, now time.Time) {
	i := slices.IndexFunc(r.Cooling, func(c Cooling) bool { return c.Agent == name })
	if i < 0 {
		i = len(r.Cooling)
		r.Cooling = append(r.Cooling, Cooling{Agent: name})
	}
	c := &r.Cooling[i]
	if c.Times++; until.IsZero() {
		until = now.Add(step(ladder, c.Times-1))
	}
	c.Until, c.Why = until.UTC(), why
}

// warm notes that an agent has worked.
func (r *Record) warm(name string) {
	r.Cooling = slices.DeleteFunc(r.Cooling, func(c Cooling) bool { return c.Agent == name })
}

// free returns the first agent that is free, and when one is. name is "" if none is free now.
func (r *Record) free(now time.Time) (name string, at time.Time) {
	for _, name := range r.Options.team() {
		c := r.cooling(name, now)
		if c == nil {
			return name, now
		}
		if at.IsZero() || c.Until.Before(at) {
			at = c.Until
		}
	}
	return "", at
}

// Working returns the agent of the session that runs, or else the one that the run is for.
func (r *Record) Working() string {
	if c := r.Current; c != nil && c.Agent != "" {
		return c.Agent
	}
	return r.Options.Agent
}

// Row returns the agent that works now. One that stands in for another has that one's prompt, if it has none itself.
func (r *Run) Row() agent.Row {
	row := r.Rows[r.Record.Working()]
	row.Prompt = cmp.Or(row.Prompt, r.Rows[r.Record.Options.Agent].Prompt)
	return row
}

// needsLogin says what a person does when a provider does not know an agent's key, or wants money.
func needsLogin(row agent.Row, said string) string {
	login := "see to its login, key or credit"
	if row.Login != "" {
		login = "see to its key or credit, or log in: " + row.Login
	}
	return strings.TrimRight(plain.Line(said, 80), ".") + "; " + login
}

// pick decides which agent and which model the session gets, and why, if they are not the usual ones.
func (r *Run) pick(c *Current, feature features.Item) agent.Asked {
	asked, now := r.Record.Options.Asked, time.Now()
	c.Agent, _ = r.Record.free(now)
	c.Agent = cmp.Or(c.Agent, r.Record.Options.Agent)
	own := r.Record.cooling(r.Record.Options.Agent, now)
	switch {
	case c.Agent != r.Record.Options.Agent:
		asked = asked.StandIn()
		c.Why = fmt.Sprintf("%s waits for its limit until %s", plain.Line(own.Agent, 80), say.Clock(own.Until))
	case asked.Model == "" && r.Row().ModelFlag != "":
		asked.Model, c.Why = r.model(c, feature)
	}
	c.Model = asked.Model
	r.switched(c)
	return asked
}

// model returns the model for a feature: its own one, else the one for this attempt at it.
func (r *Run) model(c *Current, feature features.Item) (model, why string) {
	if model = r.listed(feature); model != "" {
		return model, "the feature asks for it"
	}
	steps := r.Record.Options.Escalate
	if len(steps) == 0 || feature.ID == "" {
		return "", ""
	}
	attempt := r.Record.work(c.Feature).Attempts
	return steps[min(attempt, len(steps)-1)], fmt.Sprintf("attempt %d", attempt+1)
}

// switched notes a change of agent or model for the summary.
func (r *Run) switched(c *Current) {
	last := Switch{Agent: r.Record.Options.Agent, Model: r.Record.Options.Asked.Model}
	if n := len(r.Record.Switches); n > 0 {
		last = r.Record.Switches[n-1]
	}
	if last.Agent == c.Agent && last.Model == c.Model {
		return
	}
	if leg := r.Record.Leg(); leg != nil && c.Why == "" && leg.Sessions == 1 {
		c.Why = fmt.Sprintf("leg %d", r.Record.Chain.At+1)
	}
	c.Why = cmp.Or(c.Why, "the usual one again")
	r.Record.Switches = append(r.Record.Switches, Switch{c.Session, c.Feature, c.Agent, c.Model, c.Why})
	r.Record.Switches = r.Record.Switches[max(0, len(r.Record.Switches)-maxSwitches):]
}

// listed returns the model that the list asks for. It becomes a word of a command line, and an agent can write the
// list, so it must be a name.
func (r *Run) listed(feature features.Item) string {
	model := feature.Model()
	if model == "" || agent.IsModel(model) {
		return model
	}
	r.Screen.Warn(fmt.Sprintf("the list asks for the model %q for %s, which is no name of a model; it is left out",
		plain.Line(model, 80), plain.Line(feature.ID, 80)))
	return ""
}
