package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-stop-hook/ralph-stop-hook/internal/loopdir"
	"github.com/ralph-stop-hook/ralph-stop-hook/internal/settings"
)

// entryScopes are the places of an entry of ours, narrowest first. The host
// runs the entries of all of them, and one answers: the narrowest, since what
// somebody has said of this project, such as another program or --on-complete,
// is meant to win over what they have for all, and a plugin, which nobody edits,
// gives way to every entry that somebody has written.
var entryScopes = []string{"local", "project", "user", "plugin"}

// settingsFiles are the files that the host reads as the settings of a scope:
// for local ones also that of the main tree's root, wherever in the repository
// or its worktrees it was started. A plugin has none.
func settingsFiles(scope, project string) (files []string) {
	const local = "settings.local.json"
	switch scope {
	case "local":
		files = append(files, filepath.Join(project, ".claude", local))
		if main := loopdir.MainRoot(project); main != "" && main != project {
			files = append(files, filepath.Join(main, ".claude", local))
		}
	case "project":
		files = append(files, filepath.Join(project, ".claude", "settings.json"))
	case "user":
		user := os.Getenv("CLAUDE_CONFIG_DIR")
		if home, err := os.UserHomeDir(); err == nil && user == "" {
			user = filepath.Join(home, ".claude")
		}
		files = append(files, filepath.Join(user, "settings.json"))
	}
	return files
}

// outranked tells whether a narrower entry answers this event. The files are
// what counts and not what a rival process does: equal input is no sign of it.
// An entry that does not say where it stands, as older ones do not, gives way to
// none.
func (h *hook) outranked() bool {
	project := cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), h.event.Cwd)
	// In the home folder the project's settings are the person's.
	own := func(file string) bool {
		return slices.ContainsFunc(settingsFiles(h.entry, project), func(f string) bool { return sameFile(f, file) })
	}
	answers := func(scope, file string) bool {
		return slices.ContainsFunc(hookEntries(file, h.event.Name), func(e *settings.Hook) bool {
			said := e.Flag("--entry") // one that was copied from elsewhere gives way, perhaps to us
			return (said == "" || said == scope) && runs(e)
		})
	}
	for _, scope := range entryScopes[:max(0, slices.Index(entryScopes, h.entry))] {
		for _, file := range settingsFiles(scope, project) {
			if answers(scope, file) && !own(file) {
				return true
			}
		}
	}
	// Of two local files the nearer one wins.
	files := settingsFiles(h.entry, project)
	return len(files) > 1 && answers(h.entry, files[0]) && !h.calledBy(files[0]) && h.calledBy(files[1])
}

// calledBy tells whether a file has an entry of the very words that this process was
// called with, as the host passes on those that no shell reads.
func (h *hook) calledBy(file string) bool {
	return slices.ContainsFunc(hookEntries(file, h.event.Name), func(e *settings.Hook) bool {
		return e.Exec && program(e) == os.Args[0] && slices.Equal(e.Args, os.Args[1:])
	})
}

// program is what an entry calls.
func program(e *settings.Hook) string {
	return strings.ReplaceAll(e.Command, "${CLAUDE_PROJECT_DIR}", os.Getenv("CLAUDE_PROJECT_DIR"))
}

// runs tells whether the host finds an entry's program. A shared settings file
// may name one that this machine does not have. Of a line for a shell that is known
// only where it begins with a path that means nothing else to a shell.
func runs(e *settings.Hook) bool {
	name := program(e)
	if !e.Exec {
		name = cmp.Or(append(e.Args, "")...)
		if !filepath.IsAbs(name) || strings.ContainsFunc(name, func(r rune) bool { return r != filepath.Separator && special(r) }) {
			return true
		}
	}
	_, err := exec.LookPath(name)
	return err == nil
}

// hookEntries returns our entries for an event in a settings file. One that
// cannot be read has none that the host would see.
func hookEntries(path, event string) []*settings.Hook {
	text, err := readFile(path, settings.MaxBytes)
	if err != nil {
		return nil
	}
	file, err := settings.Read(text)
	if err != nil {
		return nil
	}
	return file.Ours(event)
}
