package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/chain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/record"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// errorPlace returns the lines that show the place of an error in a chain; "" if err is no such error.
func errorPlace(err error) string {
	at, is := errors.AsType[*chain.Error](err)
	if !is {
		return ""
	}
	lines := strings.Split(at.Marked(ansi.StringWidth), "\n")
	return "  " + strings.Join(lines, "\n  ") + "\n"
}

// parseChain reads --chain: a definition, or the name of one in ralph.json. p is nil if there is no loop.
func (k *runner) parseChain(p *loop.Picture) (chain.Chain, error) {
	text := strings.TrimSpace(k.chain)
	if !chain.IsName(text) {
		c, err := chain.Parse(k.chain)
		if err != nil {
			return nil, cli.Usagef("--chain: %w", err)
		}
		return c, nil
	}
	var names []string
	if p != nil {
		if c, known := p.Config.Chains[text]; known {
			return c, nil
		}
		names = slices.Sorted(maps.Keys(p.Config.Chains))
	}
	what := fmt.Sprintf("--chain: ralph.json has no chain %s", plain.Arg(text))
	near := jsontext.Nearest(text, names)
	switch {
	case p != nil && (p.Config.Changed || p.Config.Untrusted > 0 || !p.Config.Trusted):
		return nil, cli.Usagef("%s that you have trusted; look at it, then run: %s", what, p.Loop.Call("trust"))
	case near != "":
		return nil, cli.Usagef("%s; did you mean %s?", what, near)
	case len(names) > 0:
		return nil, cli.Usagef("%s; there are %s", what, strings.Join(names, ", "))
	}
	return nil, cli.Usagef("%s; a chain is written like planner:10 -> builder:20", what)
}

// settleChain refuses what does not go with --chain.
func (k *runner) settleChain() error {
	if k.chain == "" {
		if k.cmd.Flags().Changed("chain") {
			_, err := chain.Parse(k.chain)
			return cli.Usagef("--chain: %w", err)
		}
		return nil
	}
	switch limited := k.cmd.Flags().Changed("max-iterations"); {
	case limited && k.chain == usualReview:
		return cli.Usagef("each agent of a review has its own limit; leave out --max-iterations, or say: --chain '%s'",
			usualReview)
	case k.resume:
		return cli.Usagef("--resume goes on with the chain as it is; leave out --chain")
	case limited:
		return cli.Usagef("each step of a chain has its own limit; leave out --max-iterations")
	}
	return nil
}

// steps makes the steps of the chain, with what the command line and the agents' rows say of their ends.
func (k *runner) steps(c chain.Chain, rows run.Rows, runs map[string]string, hasList bool) (*record.Chain, error) {
	checks := perAgent(c, &k.checks)
	signals := perAgent(c, &k.options.CompleteOn)
	for _, names := range append(slices.Collect(maps.Values(signals)), k.options.CompleteOn) {
		if err := record.CheckSignals(names); err != nil {
			return nil, cli.Usagef("%w", err)
		}
	}
	for _, lines := range append(slices.Collect(maps.Values(checks)), k.checks) {
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(line, "command:")
			if err := k.lookUp(lines[i]); err != nil {
				return nil, err
			}
		}
	}
	var steps []record.Step
	for _, step := range c {
		row := rows[step.Agent]
		steps = append(steps, record.Step{
			Step: step, Runs: runs[step.Agent], Checks: slices.Concat(row.Checks, checks[step.Agent]),
			CompleteOn: slices.Concat(row.CompleteOn, signals[step.Agent]), Prompt: row.Prompt != "",
		})
	}
	return record.NewChain(steps, hasList), nil
}

// needsList refuses a review where there is no list.
func needsList(c *record.Chain) error {
	if c != nil && slices.ContainsFunc(c.Steps, func(step record.Step) bool { return step.Reviews }) {
		return cli.Usagef("--chain: behind %s an agent opens features again, so the loop needs a list", chain.Both)
	}
	return nil
}

// perAgent takes AGENT:TEXT out of what a flag says, and returns the texts of each agent.
func perAgent(c chain.Chain, flag *[]string) map[string][]string {
	all := map[string][]string{}
	var others []string
	for _, text := range *flag {
		i := slices.IndexFunc(c, func(step chain.Step) bool { return strings.HasPrefix(text, step.Agent+":") })
		if i < 0 {
			others = append(others, text)
			continue
		}
		name := c[i].Agent
		all[name] = append(all[name], strings.TrimPrefix(text, name+":"))
	}
	*flag = others
	return all
}

// chainOf returns the steps of --chain, and the rows of all agents that may work; nil without --chain. p is nil if
// there is no loop yet.
func (k *runner) chainOf(agents *roster.Agents, p *loop.Picture, hasList bool) (*record.Chain, run.Rows, error) {
	if k.chain == "" {
		rows, err := k.rows(agents, []string{k.options.Agent}, nil)
		return nil, rows, err
	}
	c, err := k.parseChain(p)
	if err != nil {
		return nil, nil, err
	}
	agents.InChain = true
	var names []string
	runs := map[string]string{}
	for _, step := range c {
		names = append(names, step.Agent)
		if agents.IsRole(step.Agent) {
			runs[step.Agent] = k.options.Agent
		}
	}
	switch named := k.cmd.Flags().Changed("agent") && len(runs) == 0; {
	case named && k.chain == usualReview:
		return nil, nil, cli.Usagef("your configuration has its own %s and %s; leave out --agent, or name the agents: "+
			"--chain 'NAME:10 %s NAME:5'", say.Builder, say.Reviewer, chain.Both)
	case named:
		return nil, nil, cli.Usagef("--chain names its agents; leave out --agent")
	}
	rows, err := k.rows(agents, names, runs)
	if err != nil {
		return nil, nil, err
	}
	k.options.Agent = c[0].Agent
	steps, err := k.steps(c, rows, runs, hasList)
	return steps, rows, err
}

// rows finds agents by their names, and those that stand in for them. runs has the agents of roles that are
// not defined.
func (k *runner) rows(agents *roster.Agents, names []string, runs map[string]string) (run.Rows, error) {
	rows := run.Rows{}
	for i, name := range slices.Concat(names, k.options.Fallback) {
		if _, known := rows[name]; known {
			continue
		}
		row, err := agents.Find(cmp.Or(runs[name], name))
		if err != nil {
			return nil, cli.Usagef("%w", err)
		}
		asked := k.options.AgentOptions
		if i >= len(names) {
			asked = asked.StandIn()
		}
		if err := k.fits(row, asked); err != nil {
			return nil, err
		}
		rows[name] = row
	}
	return rows, nil
}
