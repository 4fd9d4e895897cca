package client

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
)

// Install says where a client reads its settings for one project.
type Install struct {
	*Client
	Get     func(variable string) string
	Home    string // the user's home folder
	Project string
}

// Files returns the paths of the settings files of a scope. Claude Code reads local settings
// from the project and from the root of the repository's main tree, even if it was started
// in a worktree.
func (in Install) Files(scope string) (files []string) {
	const local = "settings.local.json"
	switch scope {
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

// Hooked reports whether a hook of ours answers the client's stops. A plugin need not be in the settings, but Claude
// Code sets a variable for its hooks.
func (in Install) Hooked() bool {
	ours := func(s Settings) bool { return len(s.Ours(in.Events[0])) > 0 }
	return in.any(ours) || in.Plugin(program) != "" || in.Name == Usual && in.Get(PluginRoot) != ""
}

// InSettings reports whether a settings file has an entry of ours for an event, and its program is there.
func (in Install) InSettings(event string) bool {
	return in.any(func(s Settings) bool {
		return slices.ContainsFunc(s.Ours(event), func(h *Hook) bool {
			_, missing, _ := in.Runs(s, h)
			return missing == ""
		})
	})
}

// Everywhere reports whether the client calls this program in all projects: the project's own settings have no entry.
func (in Install) Everywhere() bool {
	user := in.Files("user")[0]
	own := func(s Settings) bool { return len(s.Ours(in.Events[0])) > 0 && !loopdir.SameFile(s.Path, user) }
	return !slices.ContainsFunc(in.Settings("local", "project"), own) && in.Hooked()
}

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
