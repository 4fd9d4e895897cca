package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// serverName is the name of the server in the configuration of clients.
const serverName = "ralph"

// maxClientFile is the largest configuration of a client that is edited, in bytes. Claude Code's has its history, too.
const maxClientFile = 64 << 20

// mcpClient is a client that can be told of the server.
type mcpClient struct {
	name        string
	scopes      []string // the first is the usual one
	file        func(v verbs, project, scope string) string
	add, remove func(client.Server, string) (string, error)
}

// mcpClients lists the clients, as measured with Claude Code 2.1.329, Codex 0.169.0 and Gemini CLI 0.61.0.
var mcpClients = []mcpClient{
	{
		"claude", []string{"project", "user"},
		func(v verbs, project, scope string) string {
			if scope == "project" {
				return filepath.Join(project, ".mcp.json")
			}
			return filepath.Join(cmp.Or(v.Env.Get("CLAUDE_CONFIG_DIR"), v.Env.Home), ".claude.json")
		},
		client.Server.AddJSON, client.Server.RemoveJSON,
	},
	{
		"codex", []string{"user"},
		func(v verbs, _, _ string) string {
			return filepath.Join(cmp.Or(v.Env.Get("CODEX_HOME"), filepath.Join(v.Env.Home, ".codex")), "config.toml")
		},
		client.Server.AddTOML, client.Server.RemoveTOML,
	},
	{
		"gemini", []string{"project", "user"},
		func(v verbs, project, scope string) string {
			if scope == "project" {
				return filepath.Join(project, ".gemini", "settings.json")
			}
			return filepath.Join(v.Env.Home, ".gemini", "settings.json")
		},
		client.Server.AddJSON, client.Server.RemoveJSON,
	},
}

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
		Name: "mcp install", Args: "CLIENT", Short: "Add the server to the configuration of claude, codex or gemini",
		Long: `Adds the server to the configuration of a client: claude, codex or gemini. The rest of the
file stays as it is, byte for byte.`,
		Run: func(w io.Writer, words []string) error { return e.run(w, words, true) },
	}
	e.cmd.Flags.BoolVar(&e.dryRun, "dry-run", false, "show what would be written, and write nothing")
	return e.flags()
}

func (v verbs) mcpUninstall() *cli.Command {
	e := &mcpEdit{verbs: v}
	e.cmd = &cli.Command{
		Name: "mcp uninstall", Args: "CLIENT", Short: "Remove the server from the configuration of a client",
		Run: func(w io.Writer, words []string) error { return e.run(w, words, false) },
	}
	return e.flags()
}

func (e *mcpEdit) flags() *cli.Command {
	e.cmd.Flags.StringVar(&e.scope, "scope", "", "for this project or for all of yours: `SCOPE` is project or user")
	return e.cmd
}

func (e *mcpEdit) run(w io.Writer, words []string, add bool) error {
	if len(words) != 1 {
		return cli.Usagef("name one client: claude, codex or gemini")
	}
	i := slices.IndexFunc(mcpClients, func(c mcpClient) bool { return c.name == words[0] })
	if i < 0 {
		return cli.Usagef("no client %q; there are claude, codex and gemini", plain.Line(words[0], 80))
	}
	c := mcpClients[i]
	scope := cmp.Or(e.scope, c.scopes[0])
	if !slices.Contains(c.scopes, scope) {
		return cli.Usagef("--scope %q; %s has %q", plain.Line(scope, 80), c.name, c.scopes)
	}
	if err := e.PersonOnly(); err != nil {
		return err
	}
	project := e.Env.Cwd
	if root := loopdir.RepoRoot(project); root != "" {
		project = root
	}
	path := c.file(e.verbs, project, scope)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link, as dotfile managers make them, stays
	}
	if err := e.edit(w, c, path, add); err != nil || !add || c.name != "claude" {
		return err
	}
	in := client.Install{Vars: e.Env.Get, Home: e.Env.Home, Project: project}
	if plugin := in.Plugin("ralph-stop-hook"); plugin != "" {
		fmt.Fprintf(os.Stderr, "%s: warning: the plugin %s brings this server, too: Claude Code starts both, and shows "+
			"its tools twice; to remove this one: %s mcp uninstall claude\n", program, plain.Line(plugin, 200), program)
	}
	return nil
}

// edit changes one file.
func (e *mcpEdit) edit(w io.Writer, c mcpClient, path string, add bool) error {
	old, err := loopdir.ReadAny(path, maxClientFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	server, change := e.server(c.name), c.remove
	if add {
		change = c.add
	}
	text, err := change(server, string(old))
	shown := plain.Line(path, 400)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", shown, err)
	case text == string(old):
		fmt.Fprintf(w, "%s: nothing to do\n", shown)
		return nil
	case e.dryRun:
		fmt.Fprintf(w, "%s would become:\n%s", shown, plain.Text(text, len(text)))
		return nil
	}
	if text == "" {
		err = os.Remove(path)
	} else {
		err = loopdir.ReplaceIf(path, old, []byte(text))
	}
	if err != nil {
		return err
	}
	if !add {
		fmt.Fprintf(w, "%s: the server %s is removed\n", shown, serverName)
		return nil
	}
	fmt.Fprintf(w, "%s: %s starts the server %s in its next session\n", shown, c.name, serverName)
	return nil
}

// server returns the entry: the bare name if PATH finds this program. Codex passes on none of our variables.
func (e *mcpEdit) server(name string) client.Server {
	s := client.Server{Name: serverName, Command: e.Env.Self, Args: []string{"mcp"}}
	if found, err := proc.LookPath(program, e.Env.Get("PATH")); err == nil && client.SameFile(found, e.Env.Self) {
		s.Command = program
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
	return s
}
