package main

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/agent"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/roster"
)

// agents lists the agents that have a name.
func (v verbs) agents() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "agents [NAME]", Short: "List the agents that --agent knows, and what each can do",
		Long: `List the agents of ralph.json and of your own configuration, and the built-in ones. Any other
program on PATH works as an agent, too: it gets the prompt on standard input.`,
		RunE: cli.Run(func(w io.Writer, words []string) error {
			all, err := v.agentInfos(words)
			switch {
			case err != nil:
				return err
			case asJSON:
				return cli.JSON(w, all)
			}
			screen := cli.NewScreen(w, v.Env.Get)
			for _, one := range all {
				screen.Row(one.Name, one.text())
			}
			screen.Row("prices", "of "+agent.PricesOf)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// agentInfo is what is known of an agent.
type agentInfo struct {
	Name      string   `json:"name"`
	Problem   string   `json:"problem,omitempty"` // why it cannot start; "": none
	Command   []string `json:"command,omitempty"` // without the prompt
	Installed bool     `json:"installed"`
	Version   string   `json:"version,omitempty"`  // for a built-in agent; "": not known
	Measured  string   `json:"measured,omitempty"` // the measured version
	Tells     []string `json:"tells"`              // "tokens", "cost"
	// the month of the prices used for the estimate; "": it reports its cost, or no tokens
	PricesOf string `json:"pricesOf,omitempty"`
}

// text says it in a few words.
func (a agentInfo) text() string {
	if a.Problem != "" {
		return a.Problem
	}
	parts := []string{plain.Line(plain.CommandLine(a.Command), 200)}
	switch {
	case !a.Installed:
		parts = append(parts, "not installed")
	case a.Version != "":
		parts = append(parts, "version "+a.Version)
	}
	if a.Measured != "" && a.Measured != a.Version {
		parts = append(parts, "measured with "+a.Measured)
	}
	if len(a.Tells) > 0 {
		parts = append(parts, "reports "+strings.Join(a.Tells, ", "))
	}
	return strings.Join(parts, " · ")
}

// agentInfos looks at all agents that have a name.
func (v verbs) agentInfos(words []string) ([]agentInfo, error) {
	agents, project, err := v.agentsOf(words)
	if err != nil {
		return nil, err
	}
	names := agents.Names()
	all := make([]agentInfo, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		row, err := agents.Find(name)
		if err != nil {
			all[i] = agentInfo{Name: name, Problem: plain.Line(err.Error(), 500), Tells: []string{}}
			continue
		}
		all[i] = describe(row)
		if row.TellsTokens && !row.TellsCost {
			all[i].PricesOf = agent.PricesOf
		}
		wait.Go(func() { v.lookAt(&all[i], row, project) }) // a version takes up to some seconds
	}
	wait.Wait()
	return all, nil
}

// agentsOf returns the agents for a loop or this folder, and its project.
func (v verbs) agentsOf(words []string) (*roster.Agents, string, error) {
	project := v.Env.Cwd
	var p *loop.Picture
	at, err := v.Find(words)
	switch {
	case err == nil:
		l, err := loop.Open(v.Env, at)
		if err != nil {
			return nil, "", err
		}
		defer l.Close()
		p, err = l.Look()
		if err != nil {
			return nil, "", err
		}
		project = at.Project
	case len(words) > 0:
		return nil, "", err
	}
	agents, err := roster.New(v.Env, project, p)
	return agents, project, err
}

func describe(row agent.Row) agentInfo {
	a := agentInfo{Name: row.Name, Command: row.Line(agent.Options{}), Measured: row.Driven, Tells: []string{}}
	if row.TellsTokens {
		a.Tells = append(a.Tells, "tokens")
	}
	if row.TellsCost {
		a.Tells = append(a.Tells, "cost")
	}
	return a
}

// versionTime is how long a program may take to say its version. Those in JavaScript take up to some seconds.
const versionTime = 15 * time.Second

// lookAt finds the agent's program, and asks a built-in one for its version. A program in the project is not started.
func (v verbs) lookAt(a *agentInfo, row agent.Row, project string) {
	if _, err := row.Find(v.Env.Get("PATH")); err != nil {
		return
	}
	a.Installed = true
	path, _ := proc.PathOutside(v.Env.Get("PATH"), project)
	program, err := row.Find(path)
	if !row.BuiltIn || err != nil {
		return
	}
	r := proc.Run(context.Background(), proc.Cmd{
		Argv: []string{program, "--version"}, Dir: os.TempDir(), Env: agent.Environ(v.Env.Vars), Stdin: []byte{},
		Timeout: versionTime, Output: 4 << 10,
	})
	if r.Err == nil {
		a.Version = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+-]*[0-9A-Za-z]`).FindString(string(r.Output))
	}
}
