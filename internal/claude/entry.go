package claude

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/claude/settings"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/plain"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/proc"
)

// Scopes are the places of a hook entry, narrowest first. Claude Code runs the
// entries of all of them, and ours settle that one answers: the narrowest. What
// somebody says of this project, such as another program or --on-complete, is meant
// to win over what they say for all projects. A plugin, which nobody edits, gives
// way to every entry that somebody wrote.
var Scopes = []string{"local", "project", "user", "plugin"}

// Install is where Claude Code reads its settings for one project.
type Install struct {
	Vars    Vars
	Home    string // the user's home folder
	Project string
}

// Files returns the settings files of a scope. Local settings are also read from the
// root of the main tree, wherever in the repository or its worktrees Claude Code was
// started. A plugin has no file.
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

// Entries returns our entries for an event in a settings file. A file that cannot be
// read has none: Claude Code leaves it out, too.
func Entries(path, event string) []*settings.Hook {
	text, err := loopdir.ReadAny(path, settings.MaxBytes)
	if err != nil {
		return nil
	}
	file, err := settings.Read(text)
	if err != nil {
		return nil
	}
	return file.Ours(event)
}

// Installed reports whether a settings file has an entry of ours for stops.
func Installed(path string) bool { return len(Entries(path, Stop)) > 0 }

// Outranked reports whether another entry answers this event, and not the one of
// scope that this process was called by with args. What the files say counts, not
// what another process does: equal input is no sign of it. An entry without
// --entry, as older ones are, gives way to none.
func (in Install) Outranked(scope, event string, args []string) bool {
	answers := func(scope, file string) bool {
		return slices.ContainsFunc(Entries(file, event), func(e *settings.Hook) bool {
			said := e.Flag("--entry") // an entry that was copied from another scope gives way
			return (said == "" || said == scope) && in.runs(e)
		})
	}
	files := in.Files(scope)
	for _, narrower := range Scopes[:max(0, slices.Index(Scopes, scope))] {
		for _, file := range in.Files(narrower) {
			// In the home folder the project's settings are the user's.
			same := func(f string) bool { return SameFile(f, file) }
			if answers(narrower, file) && !slices.ContainsFunc(files, same) {
				return true
			}
		}
	}
	// Of two local files the nearer one wins.
	return len(files) > 1 && answers(scope, files[0]) &&
		!in.calls(files[0], event, args) && in.calls(files[1], event, args)
}

// calls reports whether a file has an entry of exactly these words, as Claude Code
// passes on those of an entry that no shell reads.
func (in Install) calls(file, event string, args []string) bool {
	return slices.ContainsFunc(Entries(file, event), func(e *settings.Hook) bool {
		return e.Exec && in.program(e) == args[0] && slices.Equal(e.Args, args[1:])
	})
}

// program returns the program that an entry names.
func (in Install) program(e *settings.Hook) string {
	return strings.ReplaceAll(e.Command, "${CLAUDE_PROJECT_DIR}", in.Vars(ProjectDir))
}

// runs reports whether Claude Code finds an entry's program: a shared settings file
// may name one that this machine lacks. Of a line for a shell that is known only if
// the line begins with a path that has no meaning to a shell.
func (in Install) runs(e *settings.Hook) bool {
	name := in.program(e)
	if !e.Exec {
		name = cmp.Or(append(e.Args, "")...)
		means := func(r rune) bool { return r != filepath.Separator && plain.Special(r) }
		if !filepath.IsAbs(name) || strings.ContainsFunc(name, means) {
			return true
		}
	}
	_, err := proc.LookPath(name, in.Vars("PATH"))
	return err == nil
}

// SameFile reports whether two paths lead to one file that exists.
func SameFile(a, b string) bool {
	x, _ := os.Stat(a)
	y, _ := os.Stat(b)
	return os.SameFile(x, y) // false if either is nil
}
