package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/run"
)

// agents lists the agents that have a name.
func (v verbs) agents() *cli.Command {
	return &cli.Command{
		Name: "agents", Args: "[NAME]", Short: "List the agents that --agent knows, and what each can do",
		Long: `Lists the agents of ralph.json, of your own configuration, and the built-in ones, for a
loop or for this folder. Any other program on PATH is an agent, too: it gets the prompt
on standard input, and its output is text.`,
		Run: v.listAgents,
	}
}

func (v verbs) listAgents(w io.Writer, words []string) error {
	project, p := v.Env.Cwd, (*loop.Picture)(nil)
	at, err := v.Find(words)
	switch {
	case err == nil:
		l, err := loop.Open(v.Env, at)
		if err != nil {
			return err
		}
		defer l.Close()
		if p, err = l.Look(); err != nil {
			return err
		}
		project = at.Project
	case len(words) > 0:
		return err
	}
	agents, err := run.NewAgents(v.Env, project, p)
	if err != nil {
		return err
	}
	screen := cli.NewScreen(w, v.Env.Get)
	for _, name := range agents.Names() {
		row, err := agents.Find(name)
		if err != nil {
			screen.Row(name, plain.Line(err.Error(), 500))
			continue
		}
		text := plain.Line(plain.Typed(row.Command), 200)
		if _, err := row.Find(v.Env.Get("PATH")); err != nil {
			text += " · not installed"
		}
		var tells []string
		if row.TellsTokens {
			tells = append(tells, "tokens")
		}
		if row.TellsCost {
			tells = append(tells, "cost")
		}
		if len(tells) > 0 {
			text += fmt.Sprintf(" · reports %s", strings.Join(tells, " and "))
		}
		screen.Row(name, text)
	}
	return nil
}
