// Package client knows the programs that call the hook when their agent wants to stop: the names and fields of their
// events, the answers that they accept, transcripts, variables, and settings files with our entries. Claude Code made
// the contract; what differs in the other clients is in a row of the table Others. An edit of settings changes our own
// entries and no other byte.
package client

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Client is a client.
type Client struct {
	Name   string   // as --client names it; also its program
	Title  string   // as people know it
	Events []string // of its settings that get an entry, that of a stop first
	Short  []string // those of Events at which the client gives a hook little time, and reads no answer

	// Words are its names of events and fields that have another name in Claude Code.
	Words map[string]string

	Folder  string        // of its settings, below the project and below the home folder
	File    string        // its settings with hooks, in Folder
	HomeVar string        // the variable that names the user's Folder; "": there is none
	Unit    time.Duration // of an entry's "timeout"
	Trust   string        // what a person does before the client runs the hook; "": nothing

	ToolVar    string   // a variable that only the agent's own commands have
	SessionVar string   // the variable with the session's id, in the agent's commands
	ProjectVar string   // the variable with the project's folder, in hooks; "": the client does not say
	Prefixes   []string // of the names of its variables
	Secrets    []string // variables with its keys, which no check gets

	Ask    []string // the words before a prompt, to start a session
	Resume []string // the words before a session's id, to resume it
}

// Usual is the name of Claude Code, the client that is meant if nobody says --client.
const Usual = "claude"

// Find returns the client of that name, nil if there is none.
func Find(name string) *Client {
	for i := range Others {
		if Others[i].Name == name {
			return &Others[i]
		}
	}
	return nil
}

// Of returns the client that --client names, and nil for Claude Code.
func Of(name string) (*Client, error) {
	c := Find(name)
	if c != nil || name == Usual {
		return c, nil
	}
	names := []string{Usual}
	for _, other := range Others {
		names = append(names, other.Name)
	}
	last := len(names) - 1
	return nil, fmt.Errorf("--client %q; want %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// ByAgent reports whether the agent of one of the clients called this program by a command of its own. get returns a
// variable of the environment.
func ByAgent(get func(name string) string) bool {
	return slices.ContainsFunc(Others, func(h Client) bool { return get(h.ToolVar) != "" })
}

// Caller returns the session whose agent called this program, "" if no agent of a client did.
func Caller(get func(name string) string) string {
	for _, h := range Others {
		if get(h.ToolVar) != "" {
			return get(h.SessionVar)
		}
	}
	return ""
}

// IsVar reports whether a variable is the client's.
func (c *Client) IsVar(name string) bool {
	return slices.ContainsFunc(c.Prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// IsSecret reports whether a variable is a key of the client.
func (c *Client) IsSecret(name string) bool { return slices.Contains(c.Secrets, name) }

// Project returns the project's folder, as the client tells its hooks; "" if it does not.
func (c *Client) Project(get func(name string) string) string {
	if c.ProjectVar == "" {
		return ""
	}
	return get(c.ProjectVar)
}

// PID returns the process id of the client that called this program as a hook, 0 if it is not known. The client has a
// shell run the entry, which this program replaces there, so it is the parent.
func (c *Client) PID() int {
	if runtime.GOOS == "windows" {
		return 0
	}
	return os.Getppid()
}

// OtherScopes are the places of an entry of such a client, the narrower one first.
var OtherScopes = []string{"project", "user"}

// Path returns the settings file of a scope.
func (c *Client) Path(scope, project, home string, get func(name string) string) string {
	if scope == "project" {
		return filepath.Join(project, c.Folder, c.File)
	}
	if c.HomeVar != "" && get(c.HomeVar) != "" {
		return filepath.Join(get(c.HomeVar), c.File)
	}
	return filepath.Join(home, c.Folder, c.File)
}
