package client

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/jsontext"
)

// Server is how a client starts the server of the Model Context Protocol. An entry that was added to a configuration
// and is removed again leaves the text as it was, byte for byte.
type Server struct {
	Name    string            `json:"-"` // letters, digits, "-" and "_"
	Program string            `json:"-"` // its usual name: an entry that runs it from any folder is its own, too
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// ErrHas means that the configuration has another entry of that name.
var ErrHas = errors.New("it has another entry of that name, which stays until you remove it")

// Servers is where a client keeps the servers that it starts. Measured with Claude Code 2.1.329, Codex 0.169.0, Gemini
// CLI 0.61.0, and the newest Copilot CLI, opencode and Qwen Code of 2026-11; Cursor and VS Code as they document it.
type Servers struct {
	Client  string   // its name
	Project []string // its file below the project; nil: it has none
	User    []string // its file below the home folder; nil: it has none
	HomeVar string   // the variable that names the folder of the user's file
	Key     string   // of the object with the servers; "": the file is TOML

	entry func(s Server) any // an entry in that object; nil: the server itself
}

// AllServers are the clients that mcp install knows.
var AllServers = []Servers{
	{
		Client: "claude", Project: []string{".mcp.json"}, User: []string{".claude.json"}, HomeVar: "CLAUDE_CONFIG_DIR",
		Key: usualKey,
	},
	{Client: "codex", User: []string{".codex", "config.toml"}, HomeVar: "CODEX_HOME"},
	{Client: "copilot", User: []string{".copilot", "mcp-config.json"}, Key: usualKey, entry: copilotEntry},
	{Client: "cursor", Project: []string{".cursor", "mcp.json"}, User: []string{".cursor", "mcp.json"}, Key: usualKey},
	{
		Client: "gemini", Project: []string{".gemini", "settings.json"}, User: []string{".gemini", "settings.json"},
		Key: usualKey,
	},
	{
		Client: "opencode", Project: []string{"opencode.json"}, User: []string{".config", "opencode", "opencode.json"},
		Key: "mcp", entry: opencodeEntry,
	},
	{Client: "qwen", Project: []string{".qwen", "settings.json"}, User: []string{".qwen", "settings.json"}, Key: usualKey},
	{Client: "vscode", Project: []string{".vscode", "mcp.json"}, Key: "servers", entry: vscodeEntry},
}

const usualKey = "mcpServers"

func copilotEntry(s Server) any {
	return struct {
		Type string `json:"type"`
		Server
		Tools []string `json:"tools"`
	}{"local", s, []string{"*"}}
}

func opencodeEntry(s Server) any {
	return struct {
		Type    string            `json:"type"`
		Command []string          `json:"command"`
		Env     map[string]string `json:"environment,omitempty"`
		Enabled bool              `json:"enabled"`
	}{"local", append([]string{s.Command}, s.Args...), s.Env, true}
}

func vscodeEntry(s Server) any {
	return struct {
		Type string `json:"type"`
		Server
	}{"stdio", s}
}

// Scopes returns the scopes that the client has, the usual one first.
func (c Servers) Scopes() (scopes []string) {
	if c.Project != nil {
		scopes = append(scopes, "project")
	}
	if c.User != nil {
		scopes = append(scopes, "user")
	}
	return scopes
}

// File returns the client's file of a scope.
func (c Servers) File(scope, project, home string, get func(name string) string) string {
	if scope == "project" {
		return filepath.Join(append([]string{project}, c.Project...)...)
	}
	if c.HomeVar != "" && get(c.HomeVar) != "" {
		return filepath.Join(get(c.HomeVar), c.User[len(c.User)-1])
	}
	return filepath.Join(append([]string{home}, c.User...)...)
}

// Add adds an entry to the text of a client's file. Without text it makes a file. The result is the text itself if it
// has this entry.
func (c Servers) Add(s Server, text []byte) ([]byte, error) {
	if c.Key == "" {
		return s.addTOML(text)
	}
	entry := quote(s)
	if c.entry != nil {
		entry = quote(c.entry(s))
	}
	return edit(text, func(text []byte) ([]byte, error) {
		_, have, err := follow(text, c.Key, s.Name)
		switch {
		case err != nil:
			return nil, err
		case have.Exists() && !reflect.DeepEqual(have.Value(), gjson.Parse(entry).Value()):
			return nil, ErrHas
		case have.Exists():
			return text, nil
		}
		return add(text, []string{c.Key}, s.Name, entry)
	})
}

// starts reports whether a command starts the server.
func (s Server) starts(command string) bool {
	return command != "" && (command == s.Command || runs(command, s.Program))
}

// Remove removes the entry of a server. The result is nil if Add made the file.
func (c Servers) Remove(s Server, text []byte) ([]byte, error) {
	if c.Key == "" {
		return s.removeTOML(text)
	}
	if bare := bytes.TrimPrefix(text, jsontext.BOM); jsontext.Space(bare) == len(bare) {
		return text, nil
	}
	return cut(text, func(text []byte) ([]level, error) {
		levels, have, err := follow(text, c.Key, s.Name)
		if err != nil || !have.Exists() {
			return nil, err
		}
		command := have.Get("command")
		if command.IsArray() {
			command = command.Get("0")
		}
		if !s.starts(command.String()) {
			return nil, ErrHas
		}
		return levels, nil
	})
}

// quote returns a value as JSON in one line.
func quote(v any) string {
	line, _ := jsontext.Line(v) // cannot fail: texts and numbers only
	return strings.TrimSpace(string(line))
}

// JSON returns a configuration with this server alone, in one line.
func (s Server) JSON() string { return fmt.Sprintf("{%q: {%q: %s}}", usualKey, s.Name, quote(s)) }
