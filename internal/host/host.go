// Package host describes clients other than Claude Code that call a hook when the agent wants to stop. Each of them has
// a package of its own, which says what was measured. They speak Claude Code's contract: the same events and answers,
// as package claude reads and writes them. What differs is in a Host.
package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Host is a client.
type Host struct {
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

// Find returns the host of that name, nil if there is none.
func Find(all []Host, name string) *Host {
	if i := slices.IndexFunc(all, func(h Host) bool { return h.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Of returns the host of a name, and nil for usual, which is Claude Code's.
func Of(all []Host, name, usual string) (*Host, error) {
	h := Find(all, name)
	if h != nil || name == usual {
		return h, nil
	}
	names := usual
	for i, other := range all {
		if i == len(all)-1 {
			names += " or " + other.Name
		} else {
			names += ", " + other.Name
		}
	}
	return nil, fmt.Errorf("--client %q; want %s", name, names)
}

// ByAgent reports whether the agent of one of the hosts called this program by a command of its own. get returns a
// variable of the environment.
func ByAgent(all []Host, get func(name string) string) bool {
	return slices.ContainsFunc(all, func(h Host) bool { return get(h.ToolVar) != "" })
}

// Caller returns the session whose agent called this program, "" if no agent of a host did.
func Caller(all []Host, get func(name string) string) string {
	for _, h := range all {
		if get(h.ToolVar) != "" {
			return get(h.SessionVar)
		}
	}
	return ""
}

// IsVar reports whether a variable is the client's.
func (h *Host) IsVar(name string) bool {
	return slices.ContainsFunc(h.Prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// IsSecret reports whether a variable is a key of the client.
func (h *Host) IsSecret(name string) bool { return slices.Contains(h.Secrets, name) }

// Project returns the project's folder, as the client tells its hooks; "" if it does not.
func (h *Host) Project(get func(name string) string) string {
	if h.ProjectVar == "" {
		return ""
	}
	return get(h.ProjectVar)
}

// PID returns the process id of the client that called this program as a hook, 0 if it is not known. The client has a
// shell run the entry, which this program replaces there, so it is the parent.
func (h *Host) PID() int {
	if runtime.GOOS == "windows" {
		return 0
	}
	return os.Getppid()
}

// Scopes are the places of an entry, the narrower one first.
var Scopes = []string{"project", "user"}

// Path returns the settings file of a scope.
func (h *Host) Path(scope, project, home string, get func(name string) string) string {
	if scope == "project" {
		return filepath.Join(project, h.Folder, h.File)
	}
	if h.HomeVar != "" && get(h.HomeVar) != "" {
		return filepath.Join(get(h.HomeVar), h.File)
	}
	return filepath.Join(home, h.Folder, h.File)
}
