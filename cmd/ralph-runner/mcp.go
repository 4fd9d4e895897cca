package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/boot"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/cli"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/client"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loop"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/mcp"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// mcp serves agents that ask.
func (v verbs) mcp() *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve the loops to an agent, as an MCP server on stdin and stdout",
		RunE: cli.Run(v.serveMCP),
	}
}

func (v verbs) serveMCP(w io.Writer, _ []string) error {
	env := v.Env
	env.ByAgent = true // whatever the environment says: only agents speak this protocol
	var clients []proc.Process
	for _, pid := range proc.Ancestors() {
		clients = append(clients, proc.Find(pid))
	}
	desk := &mcp.Desk{
		Env: env, Init: "ralph-stop-hook init", HostSession: env.Get(client.SessionID), Clients: clients,
		ClientName: client.OfMCP, Hooked: func(project string) bool { return hooked(env, project) },
	}
	server, err := mcp.New(desk, cli.VersionText(version), os.Stderr)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	ctx, stop := boot.Catch(context.Background())
	defer stop()
	err = server.Run(ctx, os.Stdin, w)
	desk.Leave(context.Background())
	return err
}

// hooked reports whether a hook of ours answers the stops of the client that has started this server.
func hooked(env loop.Env, project string) bool {
	clients := client.All[:1]
	if env.Get(client.SessionID) == "" { // it is not Claude Code
		clients = client.All[1:]
	} else if env.Get("CLAUDE_PLUGIN_ROOT") != "" { // the plugin that starts the server brings the hook, too
		return true
	}
	return slices.ContainsFunc(clients, func(c client.Client) bool {
		return client.Install{Client: &c, Get: env.Get, Home: env.Home, Project: project}.Hooked()
	})
}
