package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// mcpCommand is a client: "mcp FILE" starts the server, makes the calls of a file, one a line ("TOOL {…}"), and prints
// what a model would see, one answer a line. "error: " precedes an error. A line "!COMMAND" runs a line of the shell
// between two calls, "kill" ends the server as nobody should, and starts it again.
func mcpCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mcp FILE")
	}
	program, err := exec.LookPath(filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "ralph-runner"))
	if err != nil {
		program = "ralph-runner"
		for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
			if found, err := exec.LookPath(filepath.Join(dir, "ralph-runner")); err == nil {
				program = found
				break
			}
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	c := &mcpClientOf{ts: ts, ctx: ctx, program: program}
	c.start()
	defer c.end()
	for _, line := range strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n") {
		c.do(line)
	}
}

// mcpClientOf is the client of one script.
type mcpClientOf struct {
	ts      *testscript.TestScript
	ctx     context.Context
	program string
	cmd     *exec.Cmd
	session *mcp.ClientSession
}

func (c *mcpClientOf) start() {
	c.cmd = exec.Command(c.program, "mcp")
	c.cmd.Dir, c.cmd.Stderr = c.ts.MkAbs("."), os.Stderr
	for _, name := range []string{
		"PATH", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_STATE_HOME", "TMPDIR", "SYSTEMROOT", "CLAUDECODE",
		"CLAUDE_CODE_SESSION_ID", "RALPH_LOOP_DIR", "ANTHROPIC_API_KEY", "GIT_CONFIG_GLOBAL",
		"GIT_CONFIG_NOSYSTEM",
	} {
		if value := c.ts.Getenv(name); value != "" {
			c.cmd.Env = append(c.cmd.Env, name+"="+value)
		}
	}
	var err error
	client := mcp.NewClient(&mcp.Implementation{Name: "script", Version: "1"}, nil)
	c.session, err = client.Connect(c.ctx, &mcp.CommandTransport{Command: c.cmd}, nil)
	c.ts.Check(err)
}

func (c *mcpClientOf) end() { _ = c.session.Close() } // it may have been killed

func (c *mcpClientOf) do(line string) {
	if shell, is := strings.CutPrefix(line, "!"); is {
		run := exec.Command("/bin/sh", "-c", shell)
		run.Dir = c.ts.MkAbs(".")
		run.Env = c.cmd.Env
		out, err := run.CombinedOutput()
		fmt.Fprintf(c.ts.Stdout(), "%s", out)
		c.ts.Check(err)
		return
	}
	if line == "kill" {
		c.ts.Check(c.cmd.Process.Kill())
		c.end()
		c.start()
		return
	}
	name, arguments, _ := strings.Cut(line, " ")
	r, err := c.session.CallTool(c.ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		fmt.Fprintf(c.ts.Stdout(), "error: %v\n", err)
		return
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		text = "error: " + text
	}
	fmt.Fprintln(c.ts.Stdout(), text)
}
