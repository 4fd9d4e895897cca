package record

import (
	"slices"
	"time"
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

// Team returns the run's own agent, and those that stand in for it, in their order.
func (o *Options) Team() []string {
	names := []string{o.Agent}
	for _, name := range o.Fallback {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// CoolingOf returns what is known of an agent whose limit is used up; nil if it is free.
func (r *Run) CoolingOf(name string, now time.Time) *Cooling {
	i := slices.IndexFunc(r.Cooling, func(c Cooling) bool { return c.Agent == name && c.Until.After(now) })
	if i < 0 {
		return nil
	}
	return &r.Cooling[i]
}

// The times to wait when a provider's limit says no time, one after the other. The last one repeats.
var ladder = []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour}

// CoolDown notes that an agent's limit is used up. until is zero if nobody said until when.
func (r *Run) CoolDown(name string, until time.Time, why string, now time.Time) {
	i := slices.IndexFunc(r.Cooling, func(c Cooling) bool { return c.Agent == name })
	if i < 0 {
		i = len(r.Cooling)
		r.Cooling = append(r.Cooling, Cooling{Agent: name})
	}
	c := &r.Cooling[i]
	c.Times++
	if until.IsZero() {
		until = now.Add(ladder[min(c.Times, len(ladder))-1])
	}
	c.Until, c.Why = until.UTC(), why
}

// Warm notes that an agent has worked.
func (r *Run) Warm(name string) {
	r.Cooling = slices.DeleteFunc(r.Cooling, func(c Cooling) bool { return c.Agent == name })
}

// Free returns the first agent that is free, and when one is. name is "" if none is free now.
func (r *Run) Free(now time.Time) (name string, at time.Time) {
	for _, name := range r.Options.Team() {
		c := r.CoolingOf(name, now)
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
func (r *Run) Working() string { return r.AgentOf(r.Current) }

// AgentOf returns the agent of a session, and for nil the one that the run is for.
func (r *Run) AgentOf(c *Current) string {
	if c != nil && c.Agent != "" {
		return c.Agent
	}
	return r.Options.Agent
}
