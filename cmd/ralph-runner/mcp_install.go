package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// serverName is the name of the server in the configuration of clients.
const serverName = "ralph"

// maxClientFile is the largest configuration of a client that is edited, in bytes. Claude Code's has its history, too.
const maxClientFile = 64 << 20

// mcpEdit adds the server to the configuration of a client, or removes it.
type mcpEdit struct {
	verbs
	cmd    *cli.Command
	scope  string
	dryRun bool
}

func (v verbs) mcpInstall() *cli.Command {
	e := &mcpEdit{verbs: v}
	e.cmd = &cli.Command{
		Name: "mcp install", Args: "CLIENT", Short: "Add the server to a client's configuration",
		Long: `Add the server to a client's configuration: ` + mcpClients() + `.`,
		Run:  func(w io.Writer, words []string) error { return e.run(w, words, true) },
	}
	e.cmd.Flags.BoolVar(&e.dryRun, "dry-run", false, "only show what would be written")
	return e.flags()
}

func (v verbs) mcpUninstall() *cli.Command {
	e := &mcpEdit{verbs: v}
	e.cmd = &cli.Command{
		Name: "mcp uninstall", Args: "CLIENT", Short: "Remove the server from a client's configuration",
		Run: func(w io.Writer, words []string) error { return e.run(w, words, false) },
	}
	return e.flags()
}

func (e *mcpEdit) flags() *cli.Command {
	e.cmd.Flags.StringVar(&e.scope, "scope", "", "choose `SCOPE`: project, or user for all of yours")
	return e.cmd
}

func (e *mcpEdit) run(w io.Writer, words []string, add bool) error {
	i := slices.IndexFunc(client.AllServers, func(c client.Servers) bool { return c.Client == words[0] })
	if i < 0 {
		return cli.Usagef("no client %q; there are %s", plain.Line(words[0], 80), mcpClients())
	}
	c := client.AllServers[i]
	scope := cmp.Or(e.scope, c.Scopes()[0])
	if !slices.Contains(c.Scopes(), scope) {
		return cli.Usagef("--scope %q; %s has %q", plain.Line(scope, 80), c.Client, c.Scopes())
	}
	if err := e.PersonOnly(); err != nil {
		return err
	}
	project := e.Env.Cwd
	if root := loopdir.RepoRoot(project); root != "" {
		project = root
	}
	path := c.File(scope, project, e.Env.Home, e.Env.Get)
	if err := e.edit(w, c, path, add); err != nil || !add || c.Client != client.Usual {
		return err
	}
	in := client.Install{Client: client.Find(client.Usual), Get: e.Env.Get, Home: e.Env.Home, Project: project}
	if plugin := in.Plugin("ralph-stop-hook"); plugin != "" {
		fmt.Fprintf(os.Stderr, "%s: warning: the plugin %s brings this server, too: Claude Code starts both, and shows "+
			"its tools twice; to remove this one: %s mcp uninstall claude\n", program, plain.Line(plugin, 200), program)
	}
	return nil
}

// mcpClients names the clients.
func mcpClients() string {
	var names []string
	for _, c := range client.AllServers {
		names = append(names, c.Client)
	}
	return strings.Join(names, ", ")
}

// edit changes one file.
func (e *mcpEdit) edit(w io.Writer, c client.Servers, path string, add bool) error {
	f, err := client.PlanChange(path, maxClientFile, func(text []byte) ([]byte, error) {
		server, err := e.server(c.Client)
		switch {
		case !add: // also if it cannot be seen what PATH finds
			return c.Remove(server, text)
		case err != nil:
			return nil, err
		}
		return c.Add(server, text)
	})
	shown := plain.Line(f.Path, 400)
	switch {
	case err != nil:
		return err
	case !f.Changed():
		fmt.Fprintf(w, "%s: nothing to do\n", shown)
		return nil
	case e.dryRun:
		fmt.Fprintf(w, "%s would become:\n%s", shown, plain.Text(string(f.Text), len(f.Text)))
		return nil
	}
	err = f.Make()
	if err != nil {
		return err
	}
	if !add {
		fmt.Fprintf(w, "%s: the server %s is removed\n", shown, serverName)
		return nil
	}
	fmt.Fprintf(w, "%s: %s starts the server %s in its next session\n", shown, c.Client, serverName)
	return nil
}

// server returns the entry: the bare name if PATH finds this program. Codex passes on none of our variables.
func (e *mcpEdit) server(name string) (client.Server, error) {
	s := client.Server{Name: serverName, Program: program, Args: []string{"mcp"}}
	var err error
	s.Command, err = client.EntryName(program, e.Env.Self, e.Env.Get("PATH"))
	if err != nil {
		return s, err
	}
	usual := func(variable string) string {
		if variable == "RALPH_STATE_DIR" || variable == "XDG_STATE_HOME" {
			return ""
		}
		return e.Env.Get(variable)
	}
	if dir, err := loopdir.StateDir(usual); name == "codex" && (err != nil || dir != e.Env.StateDir) {
		s.Env = map[string]string{"RALPH_STATE_DIR": e.Env.StateDir}
	}
	return s, nil
}
