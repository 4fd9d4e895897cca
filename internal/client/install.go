package client

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Scopes lists the places of a hook entry, the narrowest first. Claude Code runs the entries
// of all places at once. Ours agree that only the narrowest one answers: what a person sets
// for one project, such as --on-complete, wins over what they set for all projects. A
// plugin comes last, because nobody edits its entries.
var Scopes = []string{"local", "project", "user", "plugin"}

// Install says where Claude Code reads its settings for one project.
type Install struct {
	Vars    Vars
	Home    string // the user's home folder
	Project string
}

// Files returns the paths of the settings files of a scope. Claude Code reads local settings
// from the project and from the root of the repository's main tree, even if it was started
// in a worktree. A plugin has no settings file.
func (in Install) Files(scope string) (files []string) {
	const local = "settings.local.json"
	switch scope {
	case "local":
		files = append(files, filepath.Join(in.Project, ".claude", local))
		if main := loopdir.MainRoot(in.Project); main != "" && main != in.Project {
			files = append(files, filepath.Join(main, ".claude", local))
		}
	case "project":
		files = append(files, filepath.Join(in.Project, ".claude", "settings.json"))
	case "user":
		dir := in.Vars(configDir)
		if dir == "" && in.Home != "" {
			dir = filepath.Join(in.Home, ".claude")
		}
		files = append(files, filepath.Join(dir, "settings.json"))
	}
	return files
}

// Entries returns our entries for an event in a settings file. For a file that cannot be
// read it returns none, because Claude Code ignores that file too.
func Entries(path, event string) []*Hook {
	text, err := loopdir.ReadAny(path, MaxBytes)
	if err != nil {
		return nil
	}
	file, err := ReadSettings(text)
	if err != nil {
		return nil
	}
	return file.Ours(event)
}

// Installed reports whether a settings file has one of our entries for the Stop event.
func Installed(path string) bool { return len(Entries(path, Stop)) > 0 }

// Plugin returns the first enabled plugin of a name, as NAME@MARKETPLACE; "" if there is none.
func (in Install) Plugin(name string) string {
	for _, scope := range Scopes {
		for _, path := range in.Files(scope) {
			text, _ := loopdir.ReadAny(path, MaxBytes)
			file, _ := ReadSettings(text) // Claude Code ignores a file that cannot be read, too
			for _, plugin := range file.Plugins {
				if strings.HasPrefix(plugin, name+"@") {
					return plugin
				}
			}
		}
	}
	return ""
}

// Outranked reports whether another entry answers this event instead of the entry that
// started this process. scope is the scope of that entry, and args are the words of its
// call. Only the settings files decide: that another process got the same event does not
// mean that it answers. An entry without --entry, as older versions wrote it, is never
// outranked.
func (in Install) Outranked(scope, event string, args []string) bool {
	answers := func(scope, file string) bool {
		return slices.ContainsFunc(Entries(file, event), func(e *Hook) bool {
			named := e.Flag("--entry") // names another scope if the entry was copied from there
			return (named == "" || named == scope) && in.runs(e)
		})
	}
	files := in.Files(scope)
	for _, narrower := range Scopes[:max(0, slices.Index(Scopes, scope))] {
		for _, file := range in.Files(narrower) {
			// In the home folder, the project's settings file is also the user's.
			same := func(f string) bool { return SameFile(f, file) }
			if answers(narrower, file) && !slices.ContainsFunc(files, same) {
				return true
			}
		}
	}
	// There are two local files in a worktree. The entry in the worktree's own file wins.
	return len(files) > 1 && answers(scope, files[0]) &&
		!in.calls(files[0], event, args) && in.calls(files[1], event, args)
}

// calls reports whether a file has an entry whose program and arguments are args. Only
// entries that run without a shell can match, because Claude Code passes their words
// unchanged.
func (in Install) calls(file, event string, args []string) bool {
	return slices.ContainsFunc(Entries(file, event), func(e *Hook) bool {
		return e.Exec && in.program(e) == args[0] && slices.Equal(e.Args, args[1:])
	})
}

// program returns the program that an entry names, with CLAUDE_PROJECT_DIR expanded.
func (in Install) program(e *Hook) string {
	return strings.ReplaceAll(e.Command, "${CLAUDE_PROJECT_DIR}", in.Vars(ProjectDir))
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
	_, err := proc.LookPath(name, in.Vars("PATH"))
	return err == nil
}

// SameFile reports whether two paths lead to the same existing file.
func SameFile(a, b string) bool {
	x, _ := os.Stat(a)
	y, _ := os.Stat(b)
	return os.SameFile(x, y) // false if either is nil
}
