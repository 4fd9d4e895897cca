// Package roster finds agents by their names.
package roster

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/config"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/say"
)

// Agents finds agents by name: in ralph.json, in the person's own configuration, among the built-in ones, and on PATH.
type Agents struct {
	env        loop.Env
	project    string
	picture    *loop.Picture // of the loop; nil: there is none
	userAgents []config.Agent
	prices     []agent.Price // the person's own

	InChain bool // whether a name may be that of a role
}

// New returns the agents that there are for a loop. p may be nil.
func New(env loop.Env, project string, p *loop.Picture) (*Agents, error) {
	a := &Agents{env: env, project: project, picture: p}
	text, path, err := loopdir.UserFile(env.ConfigDir, loopdir.UserConfigFile, config.MaxBytes)
	if err != nil || text == nil {
		return a, err
	}
	own, err := config.ParseUserConfig(text)
	a.userAgents = own.Agents
	for _, p := range own.Prices {
		a.prices = append(a.prices, agent.Price(p))
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return a, err
}

// maxExtends is how many agents may stand behind each other.
const maxExtends = 10

// Find returns the agent of a name.
func (a *Agents) Find(name string) (agent.Row, error) {
	row, err := a.find(name, maxExtends)
	row.Prices = a.prices
	return row, err
}

func (a *Agents) find(name string, left int) (agent.Row, error) {
	if left == 0 {
		return agent.Row{}, fmt.Errorf("the agent %q extends too many others, or itself", plain.Line(name, 80))
	}
	if c, is := named(a.inConfig(), name); is {
		if err := a.checkTrust(c); err != nil {
			return agent.Row{}, err
		}
		return a.row(c, left)
	}
	if c, is := named(a.userAgents, name); is {
		return a.row(c, left)
	}
	for _, row := range agent.BuiltIn() {
		if row.Name == name {
			return row, nil
		}
	}
	return a.program(name)
}

// IsRole reports whether a name is that of a role in a chain, and not of an agent that a configuration has.
func (a *Agents) IsRole(name string) bool {
	_, inConfig := named(a.inConfig(), name)
	_, own := named(a.userAgents, name)
	return say.RolePrompt(name) != "" && !inConfig && !own
}

func (a *Agents) inConfig() []config.Agent {
	if a.picture == nil {
		return nil
	}
	return a.picture.Config.Agents
}

func named(all []config.Agent, name string) (config.Agent, bool) {
	i := slices.IndexFunc(all, func(c config.Agent) bool { return c.Name == name })
	if i < 0 {
		return config.Agent{}, false
	}
	return all[i], true
}

// checkTrust refuses an agent of ralph.json that nobody has trusted.
func (a *Agents) checkTrust(c config.Agent) error {
	if c.Untrusted {
		return fmt.Errorf("nobody has trusted the agent %s of ralph.json; look at it, then run: %s", c.Name,
			a.picture.Loop.Call("trust"))
	}
	return nil
}

// row returns the agent that a configuration describes.
func (a *Agents) row(c config.Agent, left int) (agent.Row, error) {
	row := agent.Program(c.Name, c.Argv...)
	if c.Extends != "" {
		base, err := a.base(c, left)
		if err != nil {
			return agent.Row{}, err
		}
		row = base
		row.Name = c.Name
	} else if path := filepath.FromSlash(c.Argv[0]); strings.ContainsAny(c.Argv[0], `/\`) && !filepath.IsAbs(path) {
		row.Command[0] = filepath.Join(a.project, path)
	}
	row.Command = append(slices.Clone(row.Command), c.Args...)
	row.Model = cmp.Or(c.Model, row.Model)
	if c.Prompt != "" {
		row.Prompt = filepath.Join(a.project, filepath.FromSlash(c.Prompt))
	}
	if c.CompleteOn != nil {
		row.CompleteOn = c.CompleteOn
	}
	if c.Checks != nil {
		row.Checks = c.Checks
	}
	row.PromptBy = cmp.Or(c.PromptBy, row.PromptBy)
	if c.Output != "" {
		row = row.Reads(c.Output)
	}
	return row, nil
}

// base returns the agent that another one extends. An agent may have the name of the one that it extends.
func (a *Agents) base(c config.Agent, left int) (agent.Row, error) {
	if c.Extends != c.Name {
		return a.find(c.Extends, left-1)
	}
	for _, row := range agent.BuiltIn() {
		if row.Name == c.Name {
			return row, nil
		}
	}
	return agent.Row{}, fmt.Errorf("the agent %q extends itself", c.Name)
}

// program returns an agent that is only a program on PATH.
func (a *Agents) program(name string) (agent.Row, error) {
	if filepath.Base(name) != name || strings.Trim(name, ".") == "" || name[0] == '-' {
		return agent.Row{}, a.unknownError(name)
	}
	if _, err := os.Stat(filepath.Join(a.project, "bin", name)); err == nil {
		return agent.Row{}, fmt.Errorf("bin/%s is in the project, where an agent can change it; to use it, add "+
			`"agents": {%q: {"command": ["./bin/%s"]}} to ralph.json and trust that: %s trust`, name, name, name,
			a.env.Program)
	}
	path, _ := proc.PathOutside(a.env.Get("PATH"), a.project)
	found, err := proc.LookPath(name, path)
	if err != nil {
		return agent.Row{}, a.unknownError(name)
	}
	return agent.Program(name, found), nil
}

// Names returns the names of the agents that have a row.
func (a *Agents) Names() (names []string) {
	for _, c := range slices.Concat(a.inConfig(), a.userAgents) {
		names = append(names, c.Name)
	}
	for _, row := range agent.BuiltIn() {
		names = append(names, row.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (a *Agents) unknownError(name string) error {
	names := a.Names()
	text := fmt.Sprintf("there is no agent %q: ralph.json, your configuration and PATH have none of that name",
		plain.Line(name, 80))
	if a.picture != nil && a.picture.Config.Changed {
		return fmt.Errorf("%s; ralph.json differs from what was trusted; look at it, then run: %s", text,
			a.picture.Loop.Call("trust"))
	}
	if a.picture != nil && a.picture.Snapshot.ConfigErr != nil {
		return fmt.Errorf("%s; and %w", text, a.picture.Snapshot.ConfigErr)
	}
	if a.InChain {
		names = append(names, say.Roles()...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	if near := jsontext.Nearest(name, names); near != "" {
		return fmt.Errorf("%s; did you mean %s?", text, near)
	}
	return errors.New(text + "; there are " + strings.Join(names, ", ") + ", and any program on PATH")
}
