package client

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Claude Code runs the entries of all places at once. Ours agree that only the narrowest one answers: what a person
// sets for one project, such as --on-complete, wins over what they set for all projects. What an administrator sets
// wins over all of that. A plugin comes last, because nobody edits its entries.

// Managed is the scope of the settings that an administrator writes.
const Managed = "managed"

// ManagedDir is where they are.
var ManagedDir = map[string]string{
	"darwin":  "/Library/Application Support/ClaudeCode",
	"linux":   "/etc/claude-code",
	"windows": `C:\Program Files\ClaudeCode`,
}[runtime.GOOS]

// Install says where a client reads its settings for one project.
type Install struct {
	*Client
	Get     func(variable string) string
	Home    string // the user's home folder
	Project string
}

// Files returns the paths of the settings files of a scope. Claude Code reads local settings
// from the project and from the root of the repository's main tree, even if it was started
// in a worktree. A plugin has no settings file.
func (in Install) Files(scope string) (files []string) {
	const local = "settings.local.json"
	switch scope {
	case Managed:
		files, _ = filepath.Glob(filepath.Join(ManagedDir, "managed-settings.d", "*.json"))
		files = append(files, filepath.Join(ManagedDir, "managed-settings.json"))
	case "local":
		files = append(files, filepath.Join(in.Project, in.Folder, local))
		if main := loopdir.MainRoot(in.Project); main != "" && main != in.Project {
			files = append(files, filepath.Join(main, in.Folder, local))
		}
	case "project":
		files = append(files, filepath.Join(in.Project, in.Folder, in.File))
	case "user":
		dir := ""
		if in.HomeVar != "" {
			dir = in.Get(in.HomeVar)
		}
		if dir == "" && in.Home != "" {
			dir = filepath.Join(in.Home, in.Folder)
		}
		files = append(files, filepath.Join(dir, in.File))
	}
	return files
}

// InProject returns the settings files of all clients that may be in a project, with slashes.
func InProject() (files []string) {
	for _, c := range All {
		for _, scope := range []string{"project", "local"} {
			if slices.Contains(c.Scopes, scope) {
				files = append(files, filepath.ToSlash(Install{Client: &c}.Files(scope)[0]))
			}
		}
	}
	return files
}

// Entries returns our entries for an event in a settings file, or for all events if event is empty.
func (c *Client) Entries(path, event string) []*Hook {
	text, _ := loopdir.ReadAny(path, MaxBytes)
	file, _ := c.ReadSettings(text) // what the client cannot read is empty for it, too
	return file.Ours(event)
}

// Installed reports whether a settings file has one of our entries for the event of a stop.
func (c *Client) Installed(path string) bool { return len(c.Entries(path, c.Events[0])) > 0 }

// OthersStop reports whether the settings have a Stop hook that is not ours.
func (in Install) OthersStop() bool {
	others := func(h *Hook) bool { return h.Event == in.Events[0] && !h.Ours }
	return in.any(func(s Settings) bool { return slices.ContainsFunc(s.Hooks, others) })
}

// any reports whether one of the settings files is so.
func (in Install) any(is func(Settings) bool) bool {
	return slices.ContainsFunc(in.Settings(in.Scopes...), is)
}

// Ignored says which of the settings files the client leaves out, and what a person does about it; "": none.
func (in Install) Ignored(files ...Settings) (why, fix string) {
	for _, s := range files {
		if s.Err != nil {
			shown := plain.Path(in.Project, s.Path)
			why = fmt.Sprintf("%s: %v; the client ignores the whole file, and says nothing", shown, s.Err)
			return why, "fix " + shown
		}
	}
	return "", ""
}

// Hooked reports whether a hook of ours answers the client's stops.
func (in Install) Hooked() bool {
	return in.any(in.answers) || in.Plugin(program) != ""
}

// Everywhere reports whether the client calls this program in all projects. scope is that of the entry that called it;
// without one, an entry in the project's own settings calls it for this project only.
func (in Install) Everywhere(scope string) bool {
	if scope != "" {
		return scope == "user" || scope == "plugin"
	}
	user := in.Files("user")[0]
	own := func(s Settings) bool { return in.answers(s) && !loopdir.SameFile(s.Path, user) }
	return !slices.ContainsFunc(in.Settings("local", "project"), own) && in.Hooked()
}

// answers reports whether settings have our entry for the event of a stop.
func (c *Client) answers(s Settings) bool { return len(s.Ours(c.Events[0])) > 0 }

// Settings is a settings file. One that the client leaves out is empty.
type Settings struct {
	Scope, Path string
	File
	Err error // why the client leaves it out
}

// Settings returns the settings files that there are of some scopes.
func (in Install) Settings(scopes ...string) (all []Settings) {
	for _, scope := range scopes {
		for _, path := range in.Files(scope) {
			text, err := loopdir.ReadAny(path, MaxBytes)
			if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(text)) == 0 {
				continue
			}
			s := Settings{Scope: scope, Path: path, Err: err}
			if err == nil {
				s.File, s.Err = in.ReadSettings(text)
			}
			all = append(all, s)
		}
	}
	return all
}

// Plugin returns the first enabled plugin of a name, as NAME@MARKETPLACE; "" if there is none.
func (in Install) Plugin(name string) string {
	for _, file := range in.Settings(in.Scopes...) {
		for _, plugin := range file.Plugins {
			if strings.HasPrefix(plugin, name+"@") {
				return plugin
			}
		}
	}
	return ""
}

// Outranked reports whether another entry answers this event instead of the entry that
// started this process. scope is the scope of that entry, and args are the words of its
// call. event has Claude Code's name. Only the settings files decide: that another process got the same event does not
// mean that it answers. An entry without --entry is never outranked.
func (in Install) Outranked(scope, event string, args []string) bool {
	answers := func(scope, file string) bool {
		return slices.ContainsFunc(in.Entries(file, in.own(event)), func(e *Hook) bool {
			named := e.Flag("--entry") // names another scope if the entry was copied from there
			return (named == "" || named == scope) && in.runs(e)
		})
	}
	files := in.Files(scope)
	for _, narrower := range in.Scopes[:max(0, slices.Index(in.Scopes, scope))] {
		if narrower != Managed && in.managedOnly() {
			break // the client runs no entry of any other scope
		}
		for _, file := range in.Files(narrower) {
			// In the home folder, the project's settings file is also the user's.
			same := func(f string) bool { return loopdir.SameFile(f, file) }
			if answers(narrower, file) && !slices.ContainsFunc(files, same) {
				return true
			}
		}
	}
	// There are two local files in a worktree. The entry in the worktree's own file wins.
	return len(files) > 1 && answers(scope, files[0]) &&
		!in.calls(files[0], event, args) && in.calls(files[1], event, args)
}

// managedOnly reports whether an administrator has switched off all hooks but their own.
func (in Install) managedOnly() bool {
	return slices.ContainsFunc(in.Settings(Managed), func(s Settings) bool { return s.ManagedOnly })
}

// calls reports whether a file has an entry whose program and arguments are args. Only
// entries that run without a shell can match, because Claude Code passes their words
// unchanged.
func (in Install) calls(file, event string, args []string) bool {
	return slices.ContainsFunc(in.Entries(file, in.own(event)), func(e *Hook) bool {
		return e.Exec && in.program(e) == args[0] && slices.Equal(e.Args, args[1:])
	})
}

// program returns the program that an entry names, with CLAUDE_PROJECT_DIR expanded.
func (in Install) program(e *Hook) string {
	return strings.ReplaceAll(e.Command, "${CLAUDE_PROJECT_DIR}", in.Client.Project(in.Get))
}

// runs reports whether Claude Code finds an entry's program. A shared settings file may name
// a program that this machine does not have. For a line that a shell runs, this is known
// only if the line begins with an absolute path without special characters; runs returns
// true for any other line.
func (in Install) runs(e *Hook) bool {
	name := in.program(e)
	if !e.Exec {
		name = cmp.Or(append(e.Args, "")...)
		special := func(r rune) bool { return r != filepath.Separator && plain.Special(r) }
		if !filepath.IsAbs(name) || strings.ContainsFunc(name, special) {
			return true
		}
	}
	_, err := proc.LookPath(name, in.Get("PATH"))
	return err == nil
}
