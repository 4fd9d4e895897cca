// Package client knows the programs that call the hook when their agent wants to stop: the names and fields of their
// events, the answers that they accept, transcripts, variables, and settings files with our entries. Claude Code made
// the contract; what differs between clients is in the rows of the table All. An edit of settings changes our own
// entries and no other byte.
package client

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Client is a client.
type Client struct {
	Name   string   // as --client names it; also its program
	Title  string   // as people know it
	Events []string // of its settings that get an entry, that of a stop first
	Short  []string // those of Events at which the client gives a hook little time, and reads no answer

	// Words are its names of events and fields that have another name in Claude Code.
	Words map[string]string

	Scopes  []string      // the places of an entry, the narrowest first
	Folder  string        // of its settings, below the project and below the home folder
	File    string        // its settings with hooks, in Folder
	HomeVar string        // the variable that names the user's Folder; "": there is none
	Unit    time.Duration // of an entry's "timeout"
	Exec    bool          // it runs an entry's program without a shell
	Strict  bool          // it ignores a whole settings file in which one value is wrong
	Trust   string        // what a person does before the client runs the hook; "": nothing

	ToolVar    string   // a variable that only the agent's own commands have, or its hooks with ProjectVar
	SessionVar string   // the variable with the session's id, in the agent's commands
	ProjectVar string   // the variable with the project's folder, in hooks; "": the client does not say
	PIDVar     string   // the variable with its process id; "": it is the parent of its hooks
	Vars       []string // patterns of the names of its variables
	Secrets    []string // patterns of the names of variables with its keys, which no check gets

	// Known reports whether its transcripts, its cap on blocks and its answers as context are known.
	Known bool

	Ask    []string // the words before a prompt, to start a session
	Resume []string // the words before a session's id, to resume it
}

// Usual is the name of Claude Code, the client that is meant if nobody says --client.
const Usual = "claude"

// Find returns the client of that name, Claude Code if there is none.
func Find(name string) *Client {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return &All[0]
}

// Of returns the client that --client names.
func Of(name string) (*Client, error) {
	c := Find(name)
	if c.Name == name {
		return c, nil
	}
	var names []string
	for _, other := range All {
		names = append(names, other.Name)
	}
	last := len(names) - 1
	return c, fmt.Errorf("--client %q; want %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// OfMCP returns the name of a client that calls itself so where it starts an MCP server: "" for Claude Code, that of a
// other row, or else its own word. Measured: claude-code, codex-mcp-client, gemini-cli-mcp-client.
func OfMCP(name string) string {
	if strings.HasPrefix(name, Usual) {
		return ""
	}
	for _, other := range All {
		if strings.HasPrefix(name, other.Name) {
			return other.Name
		}
	}
	return plain.Line(name, 40)
}

// ByAgent reports whether the agent of one of the clients called this program by a command of its own. get returns a
// variable of the environment. Calls of Claude Code's hooks have ToolVar, too, and its project besides.
func ByAgent(get func(name string) string) bool {
	for i := range All {
		if get(All[i].ToolVar) != "" {
			return true
		}
	}
	return false
}

// Caller returns the session whose agent called this program, "" if no agent of a client did.
func Caller(get func(name string) string) string {
	for _, c := range All {
		if get(c.ToolVar) != "" {
			return get(c.SessionVar)
		}
	}
	return ""
}

// IsVar reports whether a variable is one that the client reads, or sets in its sessions.
func (c *Client) IsVar(name string) bool { return matches(c.Vars, name) }

// IsSecret reports whether a variable is a key or a token of the client.
func (c *Client) IsSecret(name string) bool { return matches(c.Secrets, name) }

func matches(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if is, _ := path.Match(pattern, name); is || proc.SameName(pattern, name) {
			return true
		}
	}
	return false
}

// Project returns the project's folder, as the client tells its hooks; "" if it does not.
func (c *Client) Project(get func(name string) string) string {
	if c.ProjectVar == "" {
		return ""
	}
	return get(c.ProjectVar)
}

// PID returns the process id of the client that called this program as a hook, 0 if it is not known. One that does not
// say it has a shell run the entry, which this program replaces there, so it is the parent.
func (c *Client) PID(get func(name string) string) int {
	switch {
	case c.PIDVar != "":
		pid, err := strconv.Atoi(get(c.PIDVar))
		if err != nil || pid < 0 {
			return 0
		}
		return pid
	case runtime.GOOS == "windows":
		return 0
	}
	return os.Getppid()
}
