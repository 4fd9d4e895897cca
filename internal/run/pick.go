package run

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/features"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// maxSwitches is how many changes a record keeps: the last ones.
const maxSwitches = 100

// rowOf returns the agent of a session; nil: of the next one. One that stands in for another has that one's prompt, if
// it has none itself.
func (r *Run) rowOf(c *record.Current) agent.Row {
	row := r.Rows[r.Record.AgentOf(c)]
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
func (r *Run) pick(c *record.Current, feature features.Item) agent.Options {
	asked, now := r.Record.Options.AgentOptions, time.Now()
	c.Agent, _ = r.Record.Free(now)
	c.Agent = cmp.Or(c.Agent, r.Record.Options.Agent)
	own := r.Record.CoolingOf(r.Record.Options.Agent, now)
	switch {
	case c.Agent != r.Record.Options.Agent:
		asked = asked.StandIn()
		c.Why = fmt.Sprintf("%s waits for its limit until %s", plain.Line(own.Agent, 80), say.Clock(own.Until))
	case asked.Model == "" && r.rowOf(c).ModelFlag != "":
		asked.Model, c.Why = r.model(c, feature)
	}
	c.Model = asked.Model
	r.noteSwitch(c)
	return asked
}

// model returns the model for a feature: its own one, else the one for this attempt at it.
func (r *Run) model(c *record.Current, feature features.Item) (model, why string) {
	model = r.listModel(feature)
	if model != "" {
		return model, "the feature asks for it"
	}
	steps := r.Record.Options.Escalate
	if len(steps) == 0 || feature.ID == "" {
		return "", ""
	}
	attempt := r.Record.WorkOn(c.Feature).Attempts
	return steps[min(attempt, len(steps)-1)], fmt.Sprintf("attempt %d", attempt+1)
}

// noteSwitch notes a change of agent or model for the summary.
func (r *Run) noteSwitch(c *record.Current) {
	last := record.Switch{Agent: r.Record.Options.Agent, Model: r.Record.Options.AgentOptions.Model}
	if n := len(r.Record.Switches); n > 0 {
		last = r.Record.Switches[n-1]
	}
	if last.Agent == c.Agent && last.Model == c.Model {
		return
	}
	step := r.Record.Step()
	before, _ := r.Record.PreviousStep()
	if step != nil && c.Why == "" && (step.Sessions == 1 || before != nil && before.Agent == last.Agent) {
		c.Why = fmt.Sprintf("step %d", r.Record.Chain.At+1)
	}
	c.Why = cmp.Or(c.Why, "the usual one again")
	r.Record.Switches = append(r.Record.Switches, record.Switch{
		Session: c.Number, Feature: c.Feature, Agent: c.Agent, Model: c.Model, Why: c.Why,
	})
	r.Record.Switches = r.Record.Switches[max(0, len(r.Record.Switches)-maxSwitches):]
}

// listModel returns the model that the list asks for. It becomes a word of a command line, and an agent can write the
// list, so it must be a name.
func (r *Run) listModel(feature features.Item) string {
	model := feature.Model()
	if model == "" || agent.IsModel(model) {
		return model
	}
	r.Screen.Warn(fmt.Sprintf("the list asks for the model %q for %s, which is no name of a model; it is left out",
		plain.Line(model, 80), plain.Line(feature.ID, 80)))
	return ""
}
